"""The report of a mechanism: one self-contained page, or a LaTeX document, for a class or a colleague."""
