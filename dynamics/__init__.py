"""Dynamics on the structural groups: efforts, reactions, forward motion, equilibrium and small vibrations."""
