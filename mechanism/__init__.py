"""What the user wrote: the mechanism file, the model read from it, and its structure."""
