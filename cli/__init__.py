"""The command line: one function per command, nothing computed here."""
