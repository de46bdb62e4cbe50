"""A scene on matplotlib axes: drawn once, then moved from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..mechanism.model import FRAME, Array
from .arrows import UNITS, Arrows, room
from .collected import Bodies, Names
from .labels import offsets
from .shapes import GROUND, INK, Dot, Scene, Shape, trace_colours

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

FONT = 9.0
HALO = 2.4
SHAFT = 2.0  # width of an arrow in points
BOX = np.array([0.8, 0.9])  # of the width and of the height of axes in space, at most
TIP = 5.0  # length of its head, in widths; a shorter arrow is left out


class Drawing:
    """The artists of a scene on axes; `update` moves them to another step. `shown` are the steps that paths show."""

    def __init__(
        self,
        ax: Axes,
        scene: Scene,
        k: int = 0,
        names: Sequence[str] | None = None,
        traces: Sequence[str] = (),
        vectors: Sequence[Arrows] = (),
        label_steps: Sequence[int] | None = None,
        shown: slice = slice(None),
    ) -> None:
        self.ax, self.scene = ax, scene
        self._moves: list[Callable[[int], object]] = []
        self.moving: list[Artist] = []  # what a film draws anew for every frame
        low, high = room(scene, vectors)
        flat = scene.dimension == 2
        if flat:
            _plane(ax, low, high, legends=len(vectors))
        else:
            _space(ax, low, high)
        for name, colour in trace_colours(traces).items():
            path = scene.path(name)[shown]
            path = np.where(np.abs(path) > np.abs(scene.high) + 10 * scene.span, np.nan, path)  # a pole far away
            ax.plot(*path.T, color=colour, linewidth=1.3, alpha=0.75, zorder=1.5, solid_capstyle="round")
        for tie in scene.ties:
            self._tie(scene.tie(tie))
        if flat:
            marks: list[Shape | Dot] = [*scene.shapes, *scene.dots]
            ground = [mark for mark in marks if mark.body == FRAME and mark.layer == 0]
            Bodies(ax, scene, ground)
            bodies = Bodies(ax, scene, [mark for mark in marks if mark not in ground])
            self._movable([bodies.artist], bodies.move)
        else:
            for shape in scene.shapes:
                self._shape3(shape)
            for dot in scene.dots:
                self._dot3(dot)
        for drawn in vectors:
            (self._arrows if flat else self._arrows3)(drawn)
        self._legend(vectors, low, high)
        marked = [*traces, *(n for n in scene.marked if n not in traces)] if names is None else list(names)
        seen = [scene.path(name)[shown] for name in traces]
        (self._labels if flat else self._labels3)(marked, [k] if label_steps is None else label_steps, seen)
        if flat:
            _scale(ax, scene, high[0])
        self.update(k)

    def update(self, k: int) -> None:
        """Move everything to step k."""
        for move in self._moves:
            move(k)

    def redraw(self) -> None:
        """Draw what moves over what stands still, on a canvas that holds the latter."""
        for artist in sorted(self.moving, key=lambda artist: artist.get_zorder()):
            project: Any = getattr(artist, "do_3d_projection", None)
            if project is not None:
                project()
            self.ax.draw_artist(artist)

    def _tie(self, ends: Array) -> None:
        (line,) = self.ax.plot(*ends[0].T, color=GROUND, linewidth=1.6, linestyle=(0, (1.2, 1.2)), zorder=1.8)
        put: Any = line.set_data if ends.shape[2] == 2 else getattr(line, "set_data_3d", None)
        self._movable([line], lambda k: put(*ends[k].T))

    # ---- in the plane ---------------------------------------------------------------------------------------------
    def _arrows(self, drawn: Arrows) -> None:
        quiver = self.ax.quiver(
            *drawn.places[0].T,
            *drawn.vectors[0].T,
            color=drawn.colour,
            angles="xy",
            scale_units="xy",
            scale=1,
            units="inches",
            width=SHAFT / 72,
            headwidth=4,
            headlength=TIP,
            headaxislength=4.4,
            minlength=0.0,
            zorder=3.2,
        )

        def move(k: int) -> None:
            short = np.linalg.norm(drawn.vectors[k], axis=1) < TIP * SHAFT / 72 * self._per_inch()
            quiver.set_offsets(drawn.places[k])
            quiver.set_UVC(*np.where(short[:, None], np.nan, drawn.vectors[k]).T)

        self._movable([quiver], move)

    def _labels(self, names: Sequence[str], steps: Sequence[int], avoid: Sequence[Array]) -> None:
        places = offsets(self.scene, names, FONT / 72 * self._per_inch(), steps, avoid)
        paths = {name: self.scene.path(name) + beside for name, beside in places.items()}
        if not paths:
            return
        self._make_room(paths, steps)
        drawn = Names(self.ax, paths, FONT, HALO)
        self._movable(drawn.artists, drawn.move)

    def _make_room(self, paths: Mapping[str, Array], steps: Sequence[int]) -> None:
        """Widen the limits so that neither the title above, nor the scale below, nor the edges meet a name."""
        letter = FONT / 72 * self._per_inch()
        for name, path in paths.items():
            places, half = path[list(steps)], np.array([0.34 * len(name) + 0.2, 0.7]) * letter
            low, high = np.nanmin(places, axis=0) - half, np.nanmax(places, axis=0) + half
            if np.any(high > self.scene.high + 0.5 * self.scene.span) or np.any(
                low < self.scene.low - 0.5 * self.scene.span
            ):
                continue  # an instant centre may be far away
            left, right = self.ax.get_xlim()
            self.ax.set_xlim(min(left, low[0]), max(right, high[0]))
            bottom, top = self.ax.get_ylim()
            self.ax.set_ylim(min(bottom, low[1]), max(top, high[1]))

    def _movable(self, artists: Sequence[Artist], move: Callable[[int], object]) -> None:
        self.moving += artists
        self._moves.append(move)

    def _per_inch(self) -> float:
        """Return how much of the world an inch shows; the layout may still move by a little."""
        box, figure = self.ax.bbox, self.ax.get_figure()
        assert figure is not None
        wide, tall = np.diff(self.ax.get_xlim())[0] / box.width, np.diff(self.ax.get_ylim())[0] / box.height
        return float(max(wide, tall) * figure.dpi)

    # ---- in space -------------------------------------------------------------------------------------------------
    def _shape3(self, shape: Shape) -> None:
        from matplotlib.colors import to_rgba
        from mpl_toolkits.mplot3d.art3d import Line3D, Poly3DCollection

        pose = self.scene.poses[shape.body]
        if shape.closed and shape.fill:
            face = to_rgba(shape.fill, shape.opacity)
            patch = Poly3DCollection(
                [shape.outline],
                facecolors=[face],
                edgecolors=[shape.edge],
                linewidths=shape.width,
                zorder=2 + shape.layer / 10,
            )
            self.ax.add_collection(patch)
            self._movable([patch], lambda k: patch.set_verts([pose.place(shape.outline, k)]))
            return
        corners = np.concatenate([shape.outline, shape.outline[:1]]) if shape.closed else shape.outline
        line = Line3D(
            [], [], [], color=shape.edge, linewidth=shape.width, solid_capstyle="round", zorder=2 + shape.layer / 10
        )
        self.ax.add_line(line)
        self._movable([line], lambda k: line.set_data_3d(*pose.place(corners, k).T))

    def _dot3(self, dot: Dot) -> None:
        from mpl_toolkits.mplot3d.art3d import Line3D

        pose = self.scene.poses[dot.body]
        line = Line3D(
            [],
            [],
            [],
            linestyle="",
            marker="o",
            markersize=7.0 * dot.radius / self.scene.unit,
            markerfacecolor=dot.fill,
            markeredgecolor=dot.edge,
            markeredgewidth=1.2,
            zorder=6,
        )
        self.ax.add_line(line)
        self._movable([line], lambda k: line.set_data_3d(*pose.place(dot.place[None], k).T))

    def _arrows3(self, drawn: Arrows) -> None:
        ax: Any = self.ax
        held: list[Any] = []

        def move(k: int) -> None:
            for old in held:
                old.remove()
                self.moving.remove(old)
            held[:] = [
                ax.quiver(
                    *drawn.places[k].T,
                    *drawn.vectors[k].T,
                    color=drawn.colour,
                    linewidth=1.8,
                    arrow_length_ratio=0.18,
                    zorder=7,
                )
            ]
            self.moving += held

        self._moves.append(move)

    def _labels3(self, names: Sequence[str], steps: Sequence[int], avoid: Sequence[Array]) -> None:
        from matplotlib.patheffects import withStroke

        ax: Any = self.ax
        matrix = ax.get_proj()  # parallel projection: affine
        flat, shift = matrix[:2, :3] / matrix[3, 3], matrix[:2, 3] / matrix[3, 3]

        def project(places: Array) -> Array:
            return np.asarray(places @ flat.T + shift)

        pixels = float(np.linalg.norm(ax.transData.transform((1.0, 0.0)) - ax.transData.transform((0.0, 0.0))))
        figure = ax.get_figure()
        unit = self.scene.unit * float(np.linalg.svd(flat, compute_uv=False)[0])
        places = offsets(self.scene, names, FONT / 72 * figure.dpi / pixels, steps, avoid, project, unit)
        for name, beside in places.items():
            text = ax.text2D(
                0,
                0,
                name,
                transform=ax.transData,
                fontsize=FONT,
                color=INK,
                ha="center",
                va="center",
                zorder=9,
                path_effects=[withStroke(linewidth=HALO, foreground="white")],
            )
            self._follow(text, project(self.scene.path(name)) + beside)

    def _follow(self, text: Any, path: Array) -> None:
        self._movable([text], lambda k: text.set_position(tuple(path[k])))

    def _legend(self, vectors: Sequence[Arrows], low: Array, high: Array) -> None:
        """Below the drawing, an arrow of a round value for each kind: in the plane to scale."""
        if self.scene.dimension == 3:
            ax: Any = self.ax
            for k, drawn in enumerate(vectors):
                unit = UNITS[drawn.kind]
                ax.text2D(
                    0.0,
                    0.97 - 0.05 * k,
                    f"→ {drawn.kind}, the longest {_longest(drawn):.3g} {unit}",
                    transform=ax.transAxes,
                    color=drawn.colour,
                    fontsize=FONT,
                )
            return
        bottom = self.ax.get_ylim()[0]
        room_below = low[1] - bottom
        for k, drawn in enumerate(vectors):
            y = bottom + room_below * (1 - (k + 0.6) / (len(vectors) + 0.2))
            x = low[0] + 0.02 * float(high[0] - low[0])
            self.ax.annotate(
                "",
                xy=(x + drawn.length, y),
                xytext=(x, y),
                arrowprops={"arrowstyle": "-|>", "color": drawn.colour, "linewidth": 2, "shrinkA": 0, "shrinkB": 0},
            )
            self.ax.text(
                x + drawn.length + 0.02 * float(high[0] - low[0]),
                y,
                drawn.legend,
                color=drawn.colour,
                fontsize=FONT,
                va="center",
            )


def _longest(drawn: Arrows) -> float:
    return float(np.nanmax(np.linalg.norm(drawn.vectors, axis=2))) / drawn.length * drawn.reference


def _scale(ax: Axes, scene: Scene, right: float) -> None:
    """Below the drawing on the right, a length to scale."""
    length, words = scene.bar
    bottom, top = ax.get_ylim()
    y, tick = bottom - 0.035 * (top - bottom), 0.01 * (top - bottom)
    ax.plot(
        [right - length, right - length, right - length, right, right, right],
        [y + tick, y - tick, y, y, y + tick, y - tick],
        color=GROUND,
        linewidth=1.1,
        zorder=3,
    )
    ax.text(right - length / 2, y + tick, words, ha="center", va="bottom", fontsize=FONT - 1.5, color=GROUND)
    ax.set_ylim(bottom=y - 2 * tick)


def _plane(ax: Axes, low: Array, high: Array, legends: int) -> None:
    below = 0.065 * max(legends, 2) * float(np.max(high - low)) if legends else 0.0
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1] - below, high[1])
    ax.set_aspect("equal")
    ax.set_axis_off()


def _space(ax: Any, low: Array, high: Array) -> None:
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_zlim(low[2], high[2])
    ax.computed_zorder = False  # else links hide pins and arrows
    ax.set_proj_type("ortho")
    ax.view_init(elev=24, azim=-58)
    ax.set_box_aspect(high - low)
    box = np.array(np.meshgrid(*np.stack([low, high], axis=1))).reshape(3, -1)
    matrix = ax.get_proj()
    seen = ax.transLimits.transform((matrix @ np.vstack([box, np.ones(8)]) / matrix[3, 3])[:2].T)
    # a parallel projection: the largest zoom at which the box leaves room for the numbers on its axes
    ax.set_box_aspect(high - low, zoom=float(np.min(BOX / np.ptp(seen, axis=0))))
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.pane.set_facecolor("#f6f7f9")
        axis.pane.set_edgecolor("#d9dce2")
        axis._axinfo["grid"].update(color="#e3e6eb", linewidth=0.6)
        axis.set_tick_params(labelsize=7, colors="#6b7280")
    for name in "xyz":
        getattr(ax, f"set_{name}label")(f"{name} / m", fontsize=8, color="#6b7280", labelpad=7)
    from matplotlib.ticker import MaxNLocator

    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
