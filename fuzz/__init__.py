"""The campaign: random mechanisms, an independent solution in absolute coordinates, and what the two say of each other.

Not part of the wheel. `make fuzz N=...` or `python -m fuzz`.
"""
