"""What `Mechanism.run` keeps from one call to the next: structure, program, and how numbers follow from parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..common.errors import AssurgentError, InputError
from ..mechanism.numbers.traced import Traced
from ..mechanism.numbers.tracing import free_parameters
from ..mechanism.plans.plan import Array
from ..mechanism.reader import from_data
from ..mechanism.structure import Structure
from ..motion.kinematics import asked_times, prepare, run_program
from ..motion.outcome import Outcome
from ..runtime.parallel import threads as using_threads
from ..runtime.program import Program
from ..runtime.time_functions import check_times
from .traceable import Traceable

if TYPE_CHECKING:
    from ..dynamics.repeated_simulation import Again, Begun

Settings = Mapping[str, float]


class Reuse:
    """A mechanism's values, read and planned when they are first run; other designs reuse that where they can."""

    def __init__(self, data: Mapping[str, Any], origin: str, folder: Path | None) -> None:
        self.data, self.origin, self.folder = data, origin, folder
        self._last: tuple[dict[str, float], Structure, Program] | None = None
        self._traceable: dict[frozenset[str], Traceable | None] = {}
        self._again: dict[frozenset[str], Again | None] = {}
        self._begun: tuple[dict[str, float], Begun] | None = None  # a design that is read on its own

    def fits(self, data: Mapping[str, Any], origin: str, folder: Path | None) -> bool:
        """Return whether these are the values that were read."""
        return (self.origin, self.folder) == (origin, folder) and self.data == data

    def prepared(self, settings: Settings) -> tuple[Structure, Program]:
        """Return structure and program of a design, read and planned unless they were last."""
        last = self._last  # another thread may put its own there
        if last is None or last[0] != dict(settings):
            model = from_data(self.data, self.origin, settings, self.folder)
            self._last = last = dict(settings), *prepare(model)
        return last[1:]

    def begun(self, settings: Settings) -> Begun | None:
        """Return a design at the start of its simulation; None the first time, and where it cannot be simulated."""
        from ..dynamics.repeated_simulation import Again, Begun

        free = free_parameters(self.data)
        formulas = frozenset(settings) - set(free)
        if formulas not in self._again:
            self._again[formulas] = None
            return None
        if self._again[formulas] is None:
            try:
                self._again[formulas] = Again(self.data, self.origin, self.folder, (*free, *sorted(formulas)))
            except AssurgentError:  # the nominal design cannot be simulated, or a name is none: the reader says so
                del self._again[formulas]
                return None
        again = self._again[formulas]
        begun = again.at(settings) if again is not None and again.usable else None
        if begun is not None:
            return begun
        if self._begun is None or self._begun[0] != dict(settings):
            self._begun = dict(settings), Begun(from_data(self.data, self.origin, settings, self.folder))
        return self._begun[1]

    def run(self, settings: Settings, times: Array | None, method: str, jerk: bool, threads: int) -> Outcome:
        """Return the motion of a design."""
        with using_threads(threads):
            return self._run(dict(settings), times, method, jerk)

    def _run(self, settings: dict[str, float], times: Array | None, method: str, jerk: bool) -> Outcome:
        last = self._last  # another thread may put its own there
        if last is not None and last[0] == settings:
            _, structure, program = last
            asked = asked_times(program.model, times, method)
            check_times(program.model, asked)
            return run_program(structure, program, asked, method, jerk=jerk)
        if last is not None:
            found = self._design(settings, times, method, jerk)
            if found is not None:
                return found
        model = from_data(self.data, self.origin, settings, self.folder)
        asked = asked_times(model, times, method)
        check_times(model, asked)
        structure, program = prepare(model)
        self._last = settings, structure, program
        return run_program(structure, program, asked, method, jerk=jerk)

    def _design(self, settings: dict[str, float], times: Array | None, method: str, jerk: bool) -> Outcome | None:
        """Return the motion of another design of the traced program; None where it must be read on its own."""
        traceable = self._traced(settings)
        if traceable is None:
            return None
        simulation = traceable.traced.model.simulation
        if any(isinstance(x, Traced) for x in (simulation.start, simulation.stop, simulation.step)):
            return None
        try:
            numbers, kept = traceable.at(settings)
        except InputError:  # a value that is no number: the reader says so
            return None
        if not kept:
            return None
        asked = asked_times(traceable.nominal, times, method)
        found = run_program(traceable.structure, traceable.program, asked, method, numbers, jerk)
        return replace(found, results=replace(found.results, parameters=traceable.parameters(settings)))

    def _traced(self, settings: Settings) -> Traceable | None:
        """Return the traced mechanism in which the settings are free; formulas that they override are numbers there."""
        free = free_parameters(self.data)
        formulas = frozenset(settings) - set(free)
        if formulas not in self._traceable:
            self._traceable[formulas] = None
            try:
                found = Traceable(self.data, self.origin, self.folder, (*free, *sorted(formulas)))
            except AssurgentError:  # the nominal design cannot be run, or a name is none: the reader says so
                return None
            if found.repeatable:
                self._traceable[formulas] = found
        return self._traceable[formulas]
