"""Mechanism file (TOML, format 1) -> Model, validated: every mistake named with file, table, key and remedy.

The way: text -> parts (bodies as written) -> rigid bodies (welds) -> joints -> drivers and loads -> Model. Where the
format leaves a choice: the centre of a body without `centre` is the mean of its points that are `at` a joint; a
driver's `table` may also stand as `angle = { table = ".." }`, a cam's profile as `{ table = ".." }` or a path that
ends in .csv; a point that a guide and the body it guides both list is the guided body's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ..common.errors import InputError
from ..common.files import read_text
from . import formulas, geometry
from .bodies import Part, read_bodies, read_mass, read_points
from .copies import expanded
from .drivers import DriverReader
from .file_values import Source, shown
from .force_table import read_loads
from .joints import JointBuilder, declare
from .model import (
    FRAME,
    LOOPS,
    Array,
    AugmentedLagrangian,
    Body,
    Driver,
    Joint,
    Load,
    Mass,
    Model,
    PointForce,
    Simulation,
    ends_of,
)  # fmt: skip
from .named_groups import read_groups
from .numbers import arithmetic
from .rigid import Assembly, Declared, assemble, check_sharing, total_mass
from .toml_remedies import twice, unquoted
from .vectors_of_interest import add_centres, read_vectors

Settings = Mapping[str, float | str]  # numbers, or formulas in quotes as in the file
MAX_BYTES = 8_000_000
MAX_TIMES = 50_000_000
MAX_ITERATIONS = 1000
TABLES = (
    *("parameters", "points", "bodies", "joints", "drivers", "simulation"),
    *("forces", "initial", "actuators", "assembly", "vectors", "copies", "groups", "synthesis"),
)
TOP = ("format", "name", "space", "gravity", *TABLES)


def load(path: Path | str, settings: Settings | None = None, simulation: Settings | None = None) -> Model:
    """Return the mechanism of a file; `settings` override its parameters, `simulation` entries of that table."""
    path = Path(path)
    return loads(read_text(path, MAX_BYTES), path, settings, simulation=simulation)


def loads(
    text: str,
    origin: Path | str,
    settings: Settings | None = None,
    folder: Path | None = None,
    simulation: Settings | None = None,
) -> Model:
    """Return the mechanism of a text. `origin` is its path, or a name for messages.

    Tables are looked up in `folder`; without it beside a path, and nowhere for a mere name.
    """
    if len(text) > MAX_BYTES:
        raise InputError(f"{origin}: has more than {MAX_BYTES} bytes - a mechanism file is smaller")
    try:
        # TOML asks for line feeds; files from elsewhere have carriage returns, too
        data = tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:  # also thousands of digits, or as many nested brackets
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1 if "end of document" in str(error) else 1
        said = twice(str(error), text, line) or unquoted(text, line) or error
        raise InputError(f"{origin}:{line}: not valid TOML: {said}") from error
    if simulation and isinstance(data.get("simulation", {}), dict):
        data["simulation"] = {**data.get("simulation", {}), **simulation}
    path = origin if isinstance(origin, Path) else None
    if folder is None and path is not None:
        folder = path.parent
    return from_data(data, str(origin), settings, folder, text, path)


def from_data(
    data: Mapping[str, Any],
    origin: str,
    settings: Settings | None = None,
    folder: Path | None = None,
    text: str = "",
    path: Path | None = None,
) -> Model:
    """Return the mechanism of the values of a file."""
    data = expanded(data, origin, settings or {})
    source = Source(data, text, origin, folder)
    _top(source)
    _parameters(source, settings or {})
    parts, places = read_bodies(source, read_points(source))
    declared = declare(source, parts)
    welds = [joint for joint in declared if joint.kind == "weld"]
    assembly = assemble(source, parts, places, welds)
    tied = [joint for joint in declared if joint.kind != "weld"]
    builder = JointBuilder(source, assembly, tied)
    joints = {joint.name: builder.build(joint) for joint in tied}
    masses = _masses(source, assembly, tied)
    check_sharing(source, assembly, tied, joints)
    add_centres(source, assembly, places, masses, tied)
    coordinates = DriverReader(source, assembly, {joint.name: joint for joint in declared}, joints)
    drivers = coordinates.drivers()
    name = source.data.get("name", path.stem if path else "")
    bodies, loads = _bodies(source, assembly, joints, drivers, masses), read_loads(source, coordinates)
    _on_rods(source, bodies, joints, loads)
    return Model(
        name=source.string(("name",), name),
        space="planar" if source.dimension == 2 else "spatial",
        points=places,
        bodies=bodies,
        joints=joints,
        drivers=drivers,
        parameters=source.parameters,
        simulation=_simulation(source, joints),
        gravity=source.vector(("gravity",), data["gravity"]) if "gravity" in data else np.zeros(source.dimension),
        loads=loads,
        initial=coordinates.initial(),
        orientations=coordinates.orientations(),
        actuators=coordinates.actuators(),
        assembly=_modes(source),
        welds={weld.name: (weld.first, weld.second) for weld in welds},
        vectors=read_vectors(source, assembly),
        groups=read_groups(source),
        origin=path,
    )


def _top(source: Source) -> None:
    data = source.data
    if type(data.get("format")) is not int or data["format"] != 1:
        found = shown(data["format"]) + " is not known" if "format" in data else "is missing"
        source.fail(("format",), f"{found} - a mechanism file begins with format = 1")
    source.keys((), data, TOP)
    for key in TABLES:
        if key in data and not isinstance(data[key], dict):
            source.fail((key,), f"is a table: write [{key}]")
    if "space" not in data:
        source.fail(("space",), 'is missing - write space = "planar" or space = "spatial"')
    if data["space"] not in ("planar", "spatial"):
        source.fail(("space",), f'{shown(data["space"])} is not known - write "planar" or "spatial"')
    source.dimension = 2 if data["space"] == "planar" else 3


def _parameters(source: Source, settings: Settings) -> None:
    table = source.table(("parameters",), source.data.get("parameters", {}))
    for name in settings:
        if name not in table:
            source.unknown(("parameters",), "parameter", name, table)
    for name, value in table.items():
        where = ("parameters", name)
        if name in formulas.RESERVED:
            source.fail(where, f"'{name}' has a meaning of its own in formulas - rename it, for example '{name}_1'")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,99}", name):
            source.fail(where, "the name of a parameter has letters, digits and _, and begins with a letter")
        source.parameters[name] = source.number(where, settings.get(name, value))


SIMULATION_KEYS = ("start", "stop", "step", "tolerance", "cut", "change", "loops", "baumgarte", "dca")


def _simulation(source: Source, joints: Mapping[str, Joint]) -> Simulation:
    table = source.table(("simulation",), source.data.get("simulation", {}))
    source.keys(("simulation",), table, (*SIMULATION_KEYS, "centres"))
    default = Simulation()
    start = source.number(("simulation", "start"), table.get("start", default.start))
    stop = source.number(("simulation", "stop"), table.get("stop", default.stop))
    step = source.positive(("simulation", "step"), table.get("step", default.step))
    tolerance = source.positive(("simulation", "tolerance"), table.get("tolerance", default.tolerance))
    if stop < start:
        source.fail(("simulation", "stop"), f"is {stop:.12g}, before start = {start:.12g} - a run goes forward in time")
    count = (stop - start) / step
    if not arithmetic.finite(count) or count > MAX_TIMES:
        source.fail(("simulation", "step"), f"makes {count:.3g} steps; {MAX_TIMES} are allowed - enlarge the step")
    cut = source.names(("simulation", "cut"), table.get("cut", []))
    for name in cut:
        if name not in joints:
            source.unknown(("simulation", "cut"), "joint", name, joints)
    if len(set(cut)) < len(cut):
        source.fail(("simulation", "cut"), "names a joint twice - once is enough")
    change = source.number(("simulation", "change"), table["change"]) if "change" in table else None
    if change is not None and change < 1:
        source.fail(("simulation", "change"), f"is {change:.12g} and must be at least 1: how many times better")
    loops = source.string(("simulation", "loops"), table.get("loops", default.loops))
    if loops not in LOOPS:
        source.unknown(("simulation", "loops"), "way of closing loops", loops, LOOPS)
    a, b = source.vector(("simulation", "baumgarte"), table.get("baumgarte", list(default.baumgarte)), 2).tolist()
    if a < 0 or b < 0:
        source.fail(("simulation", "baumgarte"), "are damping and frequency, which must not be negative")
    dca = _augmented(source, table.get("dca", {}))
    return Simulation(start, stop, step, tolerance, tuple(cut), change, loops, (a, b), dca)


def _augmented(source: Source, given: object) -> AugmentedLagrangian:
    where, default = ("simulation", "dca"), AugmentedLagrangian()
    table = source.table(where, given)
    names = tuple(f.name for f in fields(AugmentedLagrangian))
    source.keys(where, table, names)
    found = {name: getattr(default, name) for name in names}
    for name in table:
        if name == "iterations":
            count = table[name]
            if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_ITERATIONS:
                source.fail((*where, name), f"is a whole number from 1 to {MAX_ITERATIONS}, not {shown(count)}")
            found[name] = count
        elif name in ("frequency", "damping"):
            found[name] = source.number((*where, name), table[name])
            if found[name] < 0:
                source.fail((*where, name), f"is {found[name]:.12g}; constraints are held by zero or more")
        else:
            found[name] = source.positive((*where, name), table[name])
    return AugmentedLagrangian(**found)


def _modes(source: Source) -> dict[str, int]:
    found = {}
    for name, value in source.table(("assembly",), source.data.get("assembly", {})).items():
        if isinstance(value, bool) or not isinstance(value, int):
            source.fail(("assembly", name), f"is the whole number of an assembly mode, not {shown(value)}")
        found[name] = value
    return found


def _masses(source: Source, assembly: Assembly, joints: list[Declared]) -> dict[str, Mass]:
    """Return the mass of every part that has one, in its own axes."""
    jointed: dict[str, dict[str, Array]] = {}
    for joint in joints:
        if joint.at is not None:
            for name in (joint.first, joint.second):
                points = assembly.parts[name].points
                if joint.at in points:
                    jointed.setdefault(name, {})[joint.at] = points[joint.at]
    found = {}
    for name, part in assembly.parts.items():
        mass = read_mass(source, part, list(jointed.get(name, {}).values()))
        if mass is not None:
            found[name] = mass
    return found


def _bodies(
    source: Source,
    assembly: Assembly,
    joints: Mapping[str, Joint],
    drivers: Mapping[str, Driver],
    masses: Mapping[str, Mass],
) -> dict[str, Body]:
    """Return the rigid bodies with their masses, the frame first."""
    rods = _rods(source, assembly, joints, drivers) if source.dimension == 3 else set()
    found = {}
    for rigid in assembly.bodies.values():
        own = {name: masses[name] for name in rigid.members if name in masses}
        found[rigid.name] = Body(
            rigid.name,
            rigid.points,
            rigid.pose.origin,
            rigid.pose.rotation,
            rigid.name in rods,
            assembly.members(rigid),
            total_mass(own, rigid),
        )
    return found


def _rods(source: Source, assembly: Assembly, joints: Mapping[str, Joint], drivers: Mapping[str, Driver]) -> set[str]:
    """Return the bodies with two spherical joints and nothing else, whose spin is of no account."""
    ends: dict[str, list[tuple[str, Array]]] = {}
    for joint in joints.values():
        ends.setdefault(joint.first, []).append((joint.kind, joint.a))
        ends.setdefault(joint.second, []).append((joint.kind, joint.b))
        if joint.carrier is not None:
            ends.setdefault(joint.carrier, []).append((joint.kind, joint.a))
    held: dict[str, list[Array]] = {}
    for driver in drivers.values():
        for body, end in zip(driver.bodies, driver.ends or (), strict=False):
            held.setdefault(body, []).append(end)
    found = set()
    for name, rigid in assembly.bodies.items():
        mine = ends.get(name, [])
        told = next((assembly.parts[part] for part in rigid.members if assembly.parts[part].rod), None)
        plain = len(mine) == 2 and all(kind == "S" for kind, _ in mine)
        if plain and name != FRAME:
            first, second = mine[0][1], mine[1][1]
            plain = not arithmetic.vanishes(first - second) and all(
                geometry.on_line(end, first, second) for end in held.get(name, [])
            )
            if plain:
                found.add(name)
        if told is not None:
            _check_rod(source, told, plain and name != FRAME, len(rigid.members), [kind for kind, _ in mine])
    return found


def _on_rods(source: Source, bodies: Mapping[str, Body], joints: Mapping[str, Joint], loads: tuple[Load, ...]) -> None:
    """Refuse points and forces beside the line of a rod: it may spin there, and nothing says where they are."""
    for rod in (body for body in bodies.values() if body.rod):
        first, second = ends_of(joints, rod.name)
        asked = [(("bodies", rod.name), f"point '{name}'", place) for name, place in rod.points.items()]
        asked += [
            (("forces", load.name), f"its point on body '{rod.name}'", load.point)
            for load in loads if isinstance(load, PointForce) and load.body == rod.name
        ]  # fmt: skip
        for where, what, place in asked:
            if not geometry.on_line(place, first, second):
                source.fail(
                    where, f"{what} lies beside the line of the two spherical joints, about which the body can spin "
                    "freely, so that nothing says where the point is - replace one S of the body by U, or put the "
                    "point on the line"
                )  # fmt: skip


def _check_rod(source: Source, part: Part, plain: bool, members: int, kinds: list[str]) -> None:
    where = (*part.where, "kind")
    if members > 1:
        source.fail(where, "a rod is not welded to anything - remove `kind`, or the weld")
    if not plain:
        has = ", ".join(sorted(kinds)) or "none"
        source.fail(where, f"a rod has a spherical joint at each of its two ends and nothing else; it has: {has}")
