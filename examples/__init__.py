"""Example mechanisms; the studio offers them as templates."""
