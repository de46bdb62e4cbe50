"""The errors of the product, by whose fault they are, with the exit code each one means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# Likeness (0 to 1) from which a name is offered: one wrong letter of three ('sim' for 'sin', 0.67) passes, two common
# letters of short names ('fast' and 'abs', 0.57) do not.
ALIKE = 0.65


class AssurgentError(Exception):
    """Base of all errors with a message for the user; `exit_code` is what the command line returns."""

    exit_code = 1


class InputError(AssurgentError):
    """What the user wrote is wrong; the message says where, what, and what would be right."""

    exit_code = 2


class AssemblyError(AssurgentError):
    """The mechanism (or group) cannot be assembled, or loses its assembly; `results` are what was solved before."""

    exit_code = 3

    def __init__(self, message: str, results: object = None) -> None:
        super().__init__(message)
        self.results = results


class GenerationError(AssurgentError):
    """A group type cannot be derived, emitted or verified."""

    exit_code = 2


class InternalError(AssurgentError):
    """A bug of this program; the message says what to report."""

    exit_code = 1


def nearest(name: object, known: Iterable[str]) -> str:
    """Return ` - did you mean 'x'?` for the known name that is most like `name`, or an empty string."""
    if not isinstance(name, str):
        return ""
    candidates = sorted(known)
    found = [c for c in candidates if sorted(c) == sorted(name)]  # letters in another order: L_EB for L_BE
    found = found or difflib.get_close_matches(name, candidates, n=1, cutoff=ALIKE)
    if not found:
        lowered = {c.lower(): c for c in candidates}
        found = [lowered[name.lower()]] if name.lower() in lowered else []
    return f" - did you mean '{found[0]}'?" if found else ""
