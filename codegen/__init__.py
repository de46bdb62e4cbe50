"""Turns the specification of a structural group into the text of a Numba module that solves it."""
