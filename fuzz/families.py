"""All families by name, with their shares of the campaign: (family, seed) -> case."""

from __future__ import annotations

import zlib

from .case import Case
from .draw import Drawing
from .hard_families import HARD, scaled
from .load_families import LOADED
from .planar_families import FAMILIES
from .spatial_families import SPATIAL

PLANAR = {**FAMILIES, **HARD}
TASKS = {f.__name__: (task, f) for task, pair in LOADED.items() for f in pair}
NAMES = (*PLANAR, "scales", "far_instants", "global_method", *SPATIAL, *TASKS)


def drawn(family: str, seed: int) -> Case:
    """Return the case of a family and a seed, always the same one."""
    number = zlib.crc32(family.encode()) * 1_000_003 + seed
    if family in SPATIAL:
        d = Drawing(number, planar=False)
        SPATIAL[family](d)
        return d.case(family, seed)
    if family in TASKS:
        task, draw = TASKS[family]
        d = Drawing(number, planar=family.endswith("planar"))
        draw(d)
        return d.case(family, seed, task)
    d = Drawing(number)
    if family in PLANAR:
        PLANAR[family](d)
        return d.case(family, seed)
    kinds = ["dyads", "triads", "welds", "cylinders", "floating", "shared", "slots"]
    if family == "global_method":  # other branches must be near for its steps to lead there
        kinds += ["near_singular"] * 7
    elif family == "far_instants":  # groups by Newton-Raphson, of which the way decides
        kinds += ["triads", "cylinders"] * 3
    PLANAR[d.pick(kinds)](d)
    case = d.case(family, seed)
    if family == "scales":
        return scaled(case, d)
    if family == "far_instants":  # few times, far from the start and from each other
        case.at = sorted(d.start + d.between(0.3, 1.0) * 15 * (d.stop - d.start) for _ in range(3))
        return case
    case.method = d.pick(("global", "3ot", "global-sparse"))  # of methods: at coarse steps
    case.data["simulation"]["step"] = (d.stop - d.start) / d.pick((3, 8, 20))
    return case


# Parts of the campaign by family: for 20 planar cases of kinematics about 2 spatial, 2 inverse, one half forward.
SHARES = dict.fromkeys((*PLANAR, "scales", "far_instants", "global_method"), 1.0)
SHARES |= dict.fromkeys(SPATIAL, 0.5)
SHARES |= {"inverse_planar": 1.6, "inverse_spatial": 0.4, "forward_planar": 0.35, "forward_spatial": 0.15}
SHARES |= {"forward_blows_planar": 0.15}
# Of these few are hard ones; so that 200 cases show the faults of motion and inverse dynamics that were repaired.
SHARES |= dict.fromkeys(("change_points", "gears", "global_method", "racks", "spatial_platforms"), 2.0)
