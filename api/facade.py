"""The class that users call: a mechanism that is built or loaded, and all that can be asked of it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assurgent.builder import Builder, plain
from assurgent.common.errors import InputError
from assurgent.mechanism.arguments import shown
from assurgent.mechanism.model import Array, Model
from assurgent.mechanism.reader import TOP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from assurgent.designs.compiled_mechanism import CompiledMechanism
    from assurgent.designs.reuse import Reuse
    from assurgent.designs.synthesis import Synthesis
    from assurgent.dynamics.equilibrium import Equilibrium
    from assurgent.mechanism.structure import Structure
    from assurgent.motion.results import Results
    from assurgent.notebook import NotebookFilm
    from assurgent.verification.comparison import Comparison
    from assurgent.verification.verify_mechanism import MechanismVerification


class Mechanism(Builder):
    """A mechanism under construction.

    >>> m = Mechanism("four-bar", omega=34.96)
    >>> m.point("A", [0, 0])
    >>> m.body("crank", ["A", "B"], length=2)
    >>> m.joint("A", "R", ["frame", "crank"], at="A")
    >>> m.driver("theta", joint="A", angle="pi/2 + omega*t")
    >>> m.simulation["stop"] = 120
    >>> model = m.model()

    Names, fields and formulas are those of the file. `simulation`, `initial`, `actuators` and `assembly` are the
    tables of the file as dictionaries, `gravity` is a list or None. Tables of drivers are looked up in `folder`.
    """

    _kept: Reuse | None = None  # what the last run read and planned
    _given: Sequence[Any] = ()  # from these values

    def structure(self, **settings: float | str) -> Structure:
        """Return the structural groups, with the parameters given here instead of their own values."""
        from assurgent.mechanism.plans.planning import study

        return study(self.model(**settings))

    def run(
        self,
        times: Sequence[float] | None = None,
        method: str = "td",
        jerk: bool = False,
        threads: int = 1,
        through: bool = False,
        **settings: float | str,
    ) -> Results:
        """Return the motion at the given times, or at those of `simulation`; with the jerks of points if asked.

        Where the mechanism loses its assembly or meets a dead point, AssemblyError says so; its attribute `results`
        holds all that was solved before. `through` passes dead points at which the driver turns back, led by another
        coordinate meanwhile.
        """
        from assurgent.motion.outcome import raise_stop

        if through:
            from assurgent.motion.through import run_through

            outcome = run_through(self.model(**settings), _asked(times), method, jerk=jerk, threads=threads)
        else:
            outcome = self._reused().run(self._numbers(settings), _asked(times), method, jerk, threads)
        if outcome.stop is not None:
            raise_stop(outcome.stop, outcome.results)
        return outcome.results

    def verify(
        self, times: Sequence[float] | None = None, bound: float = 1e-11, **settings: float | str
    ) -> MechanismVerification:
        """Return every group three ways at some instants, and the whole against absolute coordinates."""
        from assurgent.verification.verify_mechanism import verify_mechanism

        return verify_mechanism(self.model(**settings), _asked(times), bound)

    def compare(
        self,
        methods: Sequence[str] = ("td", "3ot", "global", "global-sparse"),
        times: Sequence[float] | None = None,
        **settings: float | str,
    ) -> Comparison:
        """Return methods of run, or of simulate, side by side; the first is the reference."""
        from assurgent.verification.comparison import compare

        return compare(self.model(**settings), methods, _asked(times))

    def _numbers(self, settings: Mapping[str, float | str]) -> dict[str, Any]:
        """Return settings as numbers: a formula, such as "18 deg", has the value that it has in the file."""
        if not any(isinstance(value, str) for value in settings.values()):
            return dict(settings)
        found = self.model(**settings).parameters
        return {name: found[name] for name in settings}

    def _reused(self) -> Reuse:
        """Return what was read and planned of these values before, or what will be."""
        from assurgent.designs.reuse import Reuse

        given = [*(getattr(self, key) for key in TOP if key != "format"), self.folder]
        if self._kept is None or not _same(given, self._given):
            data, origin = self.data(), self.origin
            if self._kept is None or not self._kept.fits(data, origin, self.folder):
                self._kept = Reuse(copy.deepcopy(data), origin, self.folder)
            self._given = copy.deepcopy(given)
        return self._kept

    def compile(
        self,
        times: Sequence[float] | Array | None = None,
        points: Sequence[str] | None = None,
        bodies: Sequence[str] | None = None,
        joints: Sequence[str] | None = None,
        parameters: Sequence[str] | None = None,
    ) -> CompiledMechanism:
        """Return the mechanism compiled once, to be run for many designs; all series unless some are named.

        Designs change the `parameters` that are named, by default all that are numbers; a formula that is named
        becomes a number.

        >>> c = Mechanism.load("four-bar.toml").compile(points=["P"])
        >>> c(a=2.1).points["P"].position, c.batch({"a": [2.0, 2.1, 2.2]}).points["P"].position
        """
        from assurgent.designs.compiled_mechanism import CompiledMechanism

        origin = self.origin
        return CompiledMechanism(self.data(), origin, self.folder, times, points, bodies, joints, parameters)

    def synthesise(self, report: Callable[[str], None] | None = None, cma: bool = False, **table: Any) -> Synthesis:
        """Return the designs, best first, that `synthesis` asks for; what is given here goes before that table.

        >>> m = Mechanism.load("four-bar.toml")
        >>> found = m.synthesise(kind="path", point="P", targets=[[3, 3], [2, 4]], variables={"a": [1, 5]})
        >>> found.designs[0].objective, found.designs[0].parameters["a"], found.designs[0].save("best.toml")

        AssemblyError where no design within the bounds keeps what is required. `cma` adds a global start (CMA-ES).
        """
        from assurgent.designs.synthesis import synthesise

        data = {**self.data(), "synthesis": plain({**self.synthesis, **table})}
        return synthesise(data, self.origin, self.folder, report or (lambda _: None), cma)

    def inverse(self, times: Sequence[float] | None = None, method: str = "direct", **settings: float | str) -> Results:
        """Return efforts, reactions and energies along the motion that the drivers prescribe.

        >>> found = Mechanism.load("my.toml").inverse()
        >>> found.drivers["theta"].effort, found.reactions["B"].force, found.energy.total

        `method` is the scheme of the reactions: direct, tangent or inverse. AssemblyError as of `run`.
        """
        from assurgent.dynamics.computed import check_scheme, inverse_dynamics

        check_scheme(method)
        prepared = self._reused().prepared(self._numbers(settings))
        return inverse_dynamics(prepared[1].model, _asked(times), method, prepared=prepared).finished()

    def simulate(
        self,
        times: Sequence[float] | None = None,
        method: str | None = None,
        stop_at_bifurcation: bool = False,
        fixed_step: float | None = None,
        threads: int = 1,
        scheme: str = "direct",
        candidates: bool = False,
        **settings: float | str,
    ) -> Results:
        """Return the motion under the loads from `initial` (or from rest at the sketch) on, with its forces.

        >>> m = Mechanism.load("my.toml")
        >>> m.drivers.clear()
        >>> m.initial["theta"] = {"joint": "A", "angle": 1.0, "rate": 0}
        >>> m.simulate(times=[0, 0.5, 1]).points["C"].position

        `fixed_step` takes equal steps of at most that length; `threads` share the tree of dca. `scheme` is that of the
        reactions: direct, tangent or inverse; `candidates` (partition) judges all joint coordinates. A motion that
        cannot go on raises AssemblyError; its attribute `results` holds all that was found before.
        """
        from assurgent.dynamics.computed import simulation
        from assurgent.runtime import parallel

        begun, through = self._reused().begun(self._numbers(settings)), not stop_at_bifurcation
        model = begun.model if begun else self.model(**settings)
        with parallel.threads(threads):
            found = simulation(
                model, _asked(times), method, through=through, fixed_step=fixed_step, begun=begun, scheme=scheme,
                candidates=candidates,
            )  # fmt: skip
        if begun:
            begun.learn()
        return found.finished()

    def equilibrium(self, **settings: float | str) -> Equilibrium:
        """Return the position of rest nearest to the sketch or to `initial`, and the small vibrations about it.

        >>> found = Mechanism.load("my.toml").equilibrium()
        >>> found.stable, found.coordinates["A"], [mode.frequency for mode in found.modes]
        """
        from assurgent.dynamics.computed import rest

        return rest(self.model(**settings))

    def plot(
        self,
        results: Results,
        names: Sequence[str] | None = None,
        reactions: bool | Sequence[str] = False,
        energy: bool = False,
        over: str | None = None,
        unit: str | None = None,
        magnitude: bool = False,
    ) -> Figure:
        """Return a Matplotlib figure: paths over the linkage, and time histories.

        `over` names what stands on the horizontal axis instead of time, `unit` units such as "mm,deg".
        `reactions` (True, or names of joints) and `energy` show what `inverse` and `simulate` found.
        """
        model = self._model_of(results)
        if reactions or energy:
            from assurgent.pictures.dynamics_plot import dynamics_figure

            return dynamics_figure(results, model, reactions, energy, names)
        from assurgent.pictures.plot import plot

        return plot(results, model, names, over=over, unit=unit, magnitude=magnitude)

    def draw(
        self,
        results: Results,
        trace: Sequence[str] | None = None,
        instant: float | None = None,
        vectors: Sequence[str] = (),
        forces: bool = False,
        centres: bool = False,
    ) -> Figure:
        """Return the mechanism at the instant of its results that is nearest (default: the first), with paths."""
        from assurgent.pictures.plot import paths
        from assurgent.pictures.still import step_at

        model = self._model_of(results)
        return paths(results, model, trace, step_at(results, instant), vectors, forces, centres)

    def animate(self, results: Results, path: Path | str | None = None, **options: Any) -> Path | NotebookFilm:
        """Write an animation (.gif .mp4 .html .svg); options are those of `pictures.animate.animate`.

        Without a path, return the film for a notebook to show.
        """
        from assurgent.notebook import film
        from assurgent.pictures.animate import animate

        model = self._model_of(results)
        return film(model, results, **options) if path is None else animate(model, results, path, **options)

    def _repr_html_(self) -> str:
        from assurgent.notebook import shown as drawn

        return drawn(self)

    def to_html(self, results: Results | None = None) -> str:
        """Return a page with the moving mechanism that stands alone: play, time line, zoom; nothing is loaded."""
        from assurgent.studio.viewer import page

        found = self.run() if results is None else results
        return page(self._model_of(found), found, self.data())

    def widget(self, results: Results | None = None, height: int = 420) -> Any:
        """Return the moving mechanism as a widget for notebooks (extra `notebook`); its `time` is what is shown."""
        try:
            from assurgent.studio.viewer import widget

            found = self.run() if results is None else results
            return widget(self._model_of(found), found, self.data(), height)
        except ModuleNotFoundError as error:
            raise InputError(
                f"the widget needs the package {error.name} - install it with: pip install 'assurgent[notebook]'"
            ) from None

    def report(self, path: Path | str, verification: bool = True, **settings: float) -> Path:
        """Write one page on the mechanism (.html, or .tex with its figures beside it) and return its path.

        Where the motion ends early, the page is written as far as it came, and AssemblyError raised.
        """
        from assurgent.report.document import write_report

        write_report(self.model(**settings), path, verification).motion.finished()
        return Path(path)

    def _model_of(self, results: object) -> Model:
        """Return the design that results were computed for; results of another mechanism are refused."""
        from assurgent.motion.results import Results, check_origin

        if not isinstance(results, Results):
            raise InputError(f"{self.origin}: results are what run, inverse or simulate return, not {shown(results)}")
        if not results.parameters.keys() <= self.parameters.keys():
            check_origin(self.model(), results)
        model = self.model(**{name: value for name, value in results.parameters.items() if name in self.parameters})
        check_origin(model, results)
        return model


def _same(given: Sequence[Any], before: Sequence[Any]) -> bool:
    """Return whether values are those of before; False where arrays among them cannot be told."""
    try:
        return given == before
    except ValueError:
        return False


def _asked(times: Any) -> Array | None:
    """Return times as they are: they are checked where the start of the simulation is known."""
    found: Array | None = times
    return found
