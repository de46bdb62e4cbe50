"""Status codes of compiled code and the one table of their messages."""

from __future__ import annotations

OK, NOT_CONVERGED, NO_ASSEMBLY, SINGULAR, OTHER_MOTION = 0, 1, 2, 3, 4

MESSAGES = {
    OK: "solved",
    NOT_CONVERGED: "Newton-Raphson did not converge - start nearer to the wanted assembly, or take smaller steps",
    NO_ASSEMBLY: "the group cannot be closed with these lengths in this position - "
    "change a length, or the position of what it hangs on",
    SINGULAR: "the group is at a dead point: its Jacobian is singular, so its rates are not determined - "
    "choose another driver, or avoid this position",
    OTHER_MOTION: "the type of [groups] moves it otherwise than its joints do",
}
