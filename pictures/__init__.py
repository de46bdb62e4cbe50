"""Plots, animations and diagrams."""
