"""A mechanism checked: every group three ways, the whole against absolute coordinates, methods side by side."""
