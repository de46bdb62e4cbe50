"""Assurgent: structural groups of mechanisms as compiled solvers."""
