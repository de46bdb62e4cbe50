"""What files of sweeps call their variables, dimensions and columns."""

from __future__ import annotations

from ..motion.datasets import QUANTITIES

ENDINGS = (".nc", ".zarr", ".parquet", ".csv")
DIMENSIONS = {variable: (dimension, unit) for _, dimension, _, variable, unit in QUANTITIES}
_SUFFIXES = {
    "position": ("x", "y", "z"), "velocity": ("vx", "vy", "vz"), "acceleration": ("ax", "ay", "az"),
    "angle": ("angle",), "angular_velocity": ("omega",), "angular_acceleration": ("alpha",),
    "driver_value": ("value",), "driver_effort": ("effort",), "actuator_effort": ("effort",),
}  # fmt: skip


def dimensions(name: str, ndim: int) -> tuple[str, ...]:
    """Return the dimensions of a variable of a sweep."""
    if ndim < 3:
        return ("design", "time")[:ndim]
    dimension = DIMENSIONS[name][0]
    tail = ("row", "column") if name == "rotation" else ("axis",) * (ndim - 3)
    return ("design", "time", dimension, *tail)


def column(variable: str, label: str, component: int, width: int) -> str:
    """Return the name of a column as result files have it: P.x, rod.omega, joint.C, theta.effort."""
    if variable in ("joint_angle", "joint_displacement"):
        return f"joint.{label}" + ("" if variable == "joint_angle" else ".displacement")
    suffixes = _SUFFIXES.get(variable, (variable.removeprefix("joint_"),))
    prefix = "joint." if variable.startswith("joint_") else ""
    if width > len(suffixes) or width == 9:
        return f"{prefix}{label}.{suffixes[0]}{component}"
    return f"{prefix}{label}.{suffixes[component]}"
