"""A mechanism compiled once and run for many designs, with exact derivatives by its parameters."""
