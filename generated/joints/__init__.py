"""The emitted joints in absolute coordinates: one module per space."""
