"""Units that may follow a number: exact factors to SI, and the units that results can be shown in."""

from __future__ import annotations

from decimal import Context, Decimal

# angles and their rates: how many of the unit make half a turn (or half a turn in a second)
HALF_TURN = {"deg": "180", "turn": "0.5", "rpm": "30"}
LENGTHS = {"m": "1", "mm": "0.001", "cm": "0.01", "km": "1000", "in": "0.0254", "ft": "0.3048"}
TIMES = {"s": "1", "ms": "0.001", "min": "60"}
MASSES = {"kg": "1", "g": "0.001", "t": "1000", "lb": "0.45359237"}
FORCES = {"N": "1", "kN": "1000", "lbf": "4.4482216152605"}
_FACTORS = {"rad": "1", **LENGTHS, **TIMES, **MASSES, **FORCES}
NAMES = ("rad", *HALF_TURN, *(name for name in _FACTORS if name != "rad"))
_EXACT = Context(prec=200)  # a number has at most 100 characters


def in_si(number: str, unit: str) -> str:
    """Return a number of some unit, not one of turning, in SI: exact, as text."""
    return str(_EXACT.multiply(Decimal(number), Decimal(_FACTORS[unit])))
