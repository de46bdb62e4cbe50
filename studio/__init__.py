"""The studio: a local server and one page in which a mechanism is built, watched and understood."""
