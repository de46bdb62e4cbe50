"""Reads models, binds each group to its solver, runs them and writes results; the command line."""
