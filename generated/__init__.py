"""The emitted library: one module per group type, listed in manifest.json."""
