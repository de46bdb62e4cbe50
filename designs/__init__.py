"""Designs: one mechanism with many sets of parameters - sweeps, gradients, synthesis, populations, tolerances."""
