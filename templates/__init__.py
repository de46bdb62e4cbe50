"""The Jinja templates of the emitted modules."""
