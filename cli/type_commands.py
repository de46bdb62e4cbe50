"""The commands on group types: types, generate, verify, show, bench; the generator is imported where it is needed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from ..bench.command import add_arguments as bench_arguments
from ..common.errors import AssurgentError, InputError
from . import verify_commands as cli_verify
from .console import err, literal, out

if TYPE_CHECKING:
    from ..codegen.verification_errors import Verification

DEFAULT_CONFIGURATIONS = 100


def _report(line: str) -> None:
    err.print(literal(line), highlight=False, soft_wrap=True)


def command_types(options: argparse.Namespace) -> int:
    from ..runtime.library import manifest, own_types

    own = own_types()
    for line in own.damaged:
        _report(line)
    listed = [(t, False) for t in manifest()] + [(t, True) for t in own.types]
    if options.json:
        rows = [
            {"name": t.name, "aliases": t.aliases, "space": t.space, "title": t.title, "own": is_own}
            for t, is_own in listed
        ]
        print(json.dumps(rows, ensure_ascii=False))
        return 0
    table = Table(title="group types")
    for column in ("type", "also", "space", "what it is"):
        table.add_column(column, overflow="fold")
    for t, is_own in listed:
        title = f"{t.title} (your own)" if t.title else "your own"
        table.add_row(literal(t.name), literal(", ".join(t.aliases)), t.space, literal(title if is_own else t.title))
    out.print(table)
    return 0


def _usable(chosen: Sequence[str]) -> tuple[list[str], bool]:
    """Return the types asked for, or all that load, and whether all did; one line for each that does not."""
    from ..runtime.library import load, names, own_types

    if chosen:
        return list(chosen), True
    damaged = own_types().damaged
    for line in damaged:
        _report(line)
    found, whole = [], not damaged
    for name in names():
        try:
            found.append(load(name, _report).name)
        except AssurgentError as error:
            _report(f"{name} is left out: {error}")
            whole = False
    return found, whole


def command_generate(options: argparse.Namespace) -> int:
    from ..runtime.library_build import generate

    path = Path(options.spec)

    def progress(stage: str, seconds: float, outcome: str) -> None:
        mark = "[yellow]…[/]" if stage == "waiting" else "[green]✓[/]"
        line = f"{mark} {stage:<10s} {seconds:6.2f} s  {literal(outcome)}"
        err.print(line, highlight=False, soft_wrap=True)

    err.print(f"generating the group type of {literal(str(path))}", highlight=False, soft_wrap=True)
    made = generate(path, progress=progress)
    if made.verification is None:
        out.print(
            f"{literal(made.stored.name)} is in your library already: {made.stored.source}",
            soft_wrap=True,
            highlight=False,
        )
    else:
        out.print(f"{literal(made.stored.name)} is ready: {made.stored.source}", soft_wrap=True, highlight=False)
    out.print(f'use it: assurgent.load("{literal(made.stored.name)}")', highlight=False, soft_wrap=True)
    return 0


def command_verify(options: argparse.Namespace) -> int:
    if any(name.endswith(".toml") for name in options.types):
        return cli_verify.verify_file(options)
    cli_verify.refuse_file_options(options)
    from rich.progress import Progress

    from ..codegen.derive import derive
    from ..codegen.verification_errors import BOUND
    from ..codegen.verify import verify_module
    from ..runtime.library import load
    from ..runtime.library_build import find_specification

    results, bound, count = [], options.bound or BOUND, options.configurations or DEFAULT_CONFIGURATIONS
    joints = not options.types or cli_verify.JOINTS in options.types
    types = [name for name in options.types if name != cli_verify.JOINTS]
    chosen, whole = ([], True) if joints and not types and options.types else _usable(types)
    specs = [find_specification(n, _report) for n in chosen]
    with Progress(console=err, transient=True, disable=options.json or not err.is_terminal) as bar:
        for spec in specs:
            task = bar.add_task(literal(spec.name), total=count)
            group = load(spec.name, _report)
            advance = partial(bar.advance, task)
            result = verify_module(derive(spec), group, count, bound, advance=advance)
            results.append(result)
            bar.remove_task(task)
            if not options.json:
                verdict = "[green]passed[/]" if result.passed else "[red]FAILED[/]"
                line = f"{literal(spec.name):<10s} {verdict}  {result.headline}, {result.seconds:.1f} s"
                err.print(line, highlight=False, soft_wrap=True)
    if joints:
        results += cli_verify.verify_all_joints(count, bound)
    if options.json:
        print(json.dumps([_as_json(r) for r in results]))
    else:
        _verification_table(results)
    return 0 if whole and all(r.passed for r in results) else 1


def _as_json(result: Verification) -> dict[str, Any]:
    errors = {q: {"symbolic": e.symbolic, "independent": e.independent} for q, e in result.errors.items()}
    return {
        "type": result.name,
        "configurations": result.configurations,
        "seconds": result.seconds,
        "bound": result.bound,
        "passed": result.passed,
        "errors": errors,
    }


def _verification_table(results: Sequence[Verification]) -> None:
    table = Table(
        title="largest relative error: compiled against symbolic (90 digits) | against differences of the solved motion"
    )
    table.add_column("quantity")
    for r in results:
        table.add_column(literal(r.name), justify="right", no_wrap=True)
    width = max(1, (out.width - 24) // 20)
    quantities = list(dict.fromkeys(q for r in results for q in r.errors))
    if len(results) <= width:
        for q in quantities:
            table.add_row(q, *(_cell(r, q) for r in results))
        out.print(table)
        return
    narrow = Table(title=table.title)  # one line per type where the terminal is too narrow for one column each
    for column in ("type", "quantity", "symbolic", "independent", "bound"):
        narrow.add_column(column, justify="right" if column not in ("type", "quantity") else "left", no_wrap=True)
    for r in results:
        for i, (q, e) in enumerate(r.errors.items()):
            narrow.add_row(
                literal(r.name) if i == 0 else "",
                q,
                _number(e.symbolic, r.bound),
                _number(e.independent, r.bound),
                f"{r.bound:.0e}",
            )
        narrow.add_section()
    out.print(narrow)


def _cell(result: Verification, quantity: str) -> str:
    e = result.errors.get(quantity)
    return "" if e is None else f"{_number(e.symbolic, result.bound)} | {_number(e.independent, result.bound)}"


def _number(value: float | None, bound: float) -> str:
    if value is None:
        return "-"
    return f"{value:.1e}" if value <= bound else f"[bold red]{value:.1e}[/]"


def command_show(options: argparse.Namespace) -> int:
    from ..codegen.derive import derive
    from ..codegen.show import described, document
    from ..runtime.library_build import find_specification

    style = "latex" if options.latex else "text" if _has_greek() else "ascii"
    if options.type.endswith(".toml"):
        if options.source:
            raise InputError("show FILE --source: the source is that of a type - write `assurgent show TYPE --source`")
        if options.semirecursive:
            print(document([_shown_tree(options.type, style)], style))
        else:
            print(document(_shown_groups(options, style), style))
        return 0
    if options.semirecursive:
        raise InputError(f"show {options.type} --semirecursive: a spanning tree is one of a mechanism file")
    if options.group is not None:
        raise InputError(f"show {options.type} {options.group}: a group is one of a mechanism file - give FILE.toml")
    spec = find_specification(options.type, _report)
    if options.source:
        from ..runtime.library import load

        print(Path(str(load(spec.name, _report).module.__file__)).read_text("utf-8"), end="")
        return 0
    print(document([described(derive(spec), style, options.expand)], style))
    return 0


def _shown_tree(path: str, style: str) -> str:
    """Return the matrices of the semi-recursive methods for a mechanism's spanning tree."""
    from ..dynamics.semirecursive_symbols import shown
    from ..mechanism.reader import load as load_mechanism

    return shown(load_mechanism(Path(path), {}), style)


def _shown_groups(options: argparse.Namespace, style: str) -> list[str]:
    """Return the equations of groups of a mechanism, in its own names and numbers."""
    from ..codegen.derive import derive
    from ..codegen.show import Naming, described
    from ..mechanism.reader import load as load_mechanism
    from ..motion.kinematics import prepare
    from ..runtime.group_names import group_names, steps_of
    from ..runtime.library_build import find_specification

    model = load_mechanism(Path(options.type), {})
    structure, program = prepare(model, _report)
    found = []
    for step in steps_of(structure, program, options.group):
        head = [f"group {step.plan.name}: bodies {', '.join(step.plan.bodies)}"]
        names = group_names(model, step)
        head += [f"    {line}" for line in names.legend]
        spec = find_specification(step.solver.group.name, _report)
        found.append(described(derive(spec), style, options.expand, Naming(names.names, names.numbers), head))
    return found


def _has_greek() -> bool:
    """Return whether the standard output can show a Φ."""
    try:
        "Φ".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def command_bench(options: argparse.Namespace) -> int:
    from ..bench.command import run

    whole = True
    if not options.names and (options.types or options.case == "types"):
        options.names, whole = _usable(())  # a damaged type is named, and the others are timed
    return run(options, out) or (0 if whole else 1)


def _positive(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 to 1000000")
    return int(text)


def _bound(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number below 1")
    return value


def add_commands(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands on types to the parser."""
    types = add("types", help="list the group types")
    types.add_argument("--json", action="store_true", help="as JSON")
    generate = add("generate", help="derive, emit, compile and verify one new group type")
    generate.add_argument("spec", metavar="SPEC", help="specification file (see docs/new-group.md)")
    verify = add("verify", help="check every quantity of types, or of a mechanism, three ways")
    verify.add_argument("types", metavar="TYPE|FILE", nargs="*", help="types or joints (default: all), or a file")
    verify.add_argument(
        "-n",
        "--configurations",
        type=_positive,
        help=f"TYPE: random configurations per type (default {DEFAULT_CONFIGURATIONS})",
    )
    verify.add_argument("--json", action="store_true", help="as JSON")
    verify.add_argument(
        "--bound", type=_bound, help="largest relative error that passes (default 1e-12; of a mechanism 1e-11)"
    )
    cli_verify.add_file_options(verify)
    show = add("show", help="print the derived equations of a type, or of a mechanism's groups")
    show.add_argument("type", metavar="TYPE|FILE", help="a type, or a mechanism file (.toml)")
    show.add_argument("group", metavar="GROUP", nargs="?", help="a group of the mechanism (default: all)")
    show.add_argument("--latex", action="store_true", help="equations as LaTeX")
    show.add_argument("--expand", action="store_true", help="inverse and L written out for larger types, too")
    show.add_argument("--semirecursive", action="store_true", help="of a file: tree, C_q, H, V and T R_d in symbols")
    show.add_argument("--source", action="store_true", help="the emitted module")
    bench = add("bench", help="measure speed: the published case studies, types, start-up")
    bench_arguments(bench)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "types": command_types,
    "generate": command_generate,
    "verify": command_verify,
    "show": command_show,
    "bench": command_bench,
}
