"""The parts of a planar drawing that move, as few artists: all shapes in one collection, all names in two.

Matplotlib spends its time per artist, not per line: six walking legs as single patches and texts take five times as
long to draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..mechanism.model import FRAME, Array
from .outlines import circle
from .shapes import INK, Dot, Scene, Shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES: Any = (0, (7, 2.5, 1.5, 2.5))
PIN = 1.2  # width of the line round a dot, in points


class Bodies:
    """Shapes and dots of a scene, from the lowest layer to the highest."""

    def __init__(self, ax: Axes, scene: Scene, marks: Sequence[Shape | Dot]) -> None:
        from matplotlib.collections import PathCollection

        self.scene = scene
        self.marks = sorted(marks, key=lambda mark: mark.layer)
        self.corners = [_corners(mark) for mark in self.marks]
        self.drawn = [_outline(scene, m, c, 0) for m, c in zip(self.marks, self.corners, strict=True)]
        self.artist = PathCollection(
            self.drawn,
            facecolors=[_face(mark) for mark in self.marks],
            edgecolors=[mark.edge for mark in self.marks],
            linewidths=[mark.width if isinstance(mark, Shape) else PIN for mark in self.marks],
            linestyles=[DASHES if isinstance(mark, Shape) and mark.dashed else "-" for mark in self.marks],
            capstyle="round",
            joinstyle="round",
            zorder=2,
        )
        ax.add_collection(self.artist, autolim=False)

    def move(self, k: int) -> None:
        for n, (mark, corners) in enumerate(zip(self.marks, self.corners, strict=True)):
            if mark.body != FRAME:
                # in place: a Path checks what it is made from, which takes longer than the motion
                self.drawn[n].vertices[...] = self.scene.poses[mark.body].place(corners, k)
        self.artist.set_paths(self.drawn)


class Names:
    """Names beside points, as outlines of letters over a white halo."""

    def __init__(self, ax: Axes, names: Mapping[str, Array], font: float, halo: float) -> None:
        from matplotlib.collections import PathCollection
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import TextPath
        from matplotlib.transforms import Affine2D

        self.places = np.array(list(names.values()))  # names x instants x 2
        figure = ax.get_figure()
        assert figure is not None
        prop = FontProperties(size=font)
        # the middle of a name's breadth, and of a capital's height
        high = TextPath((0, 0), "H", prop=prop).get_extents().height
        letters = [TextPath((0, 0), name, prop=prop) for name in names]
        outlines = [p.transformed(Affine2D().translate(-p.get_extents().width / 2, -high / 2)) for p in letters]
        styles: tuple[dict[str, Any], ...] = (
            {"facecolors": "white", "edgecolors": "white", "linewidths": halo},
            {"facecolors": INK, "edgecolors": "none"},
        )
        self.artists = tuple(
            PathCollection(
                outlines,
                offsets=self.places[:, 0],
                offset_transform=ax.transData,
                joinstyle="round",
                zorder=4,
                transform=Affine2D().scale(1 / 72) + figure.dpi_scale_trans,  # letters are in points
                **style,
            )
            for style in styles
        )
        for artist in self.artists:
            ax.add_collection(artist, autolim=False)

    def move(self, k: int) -> None:
        for artist in self.artists:
            artist.set_offsets(self.places[:, k])


def _corners(mark: Shape | Dot) -> Array:
    if isinstance(mark, Dot):
        mark_outline = circle(mark.place, mark.radius, 24)
    elif mark.closed:
        mark_outline = mark.outline
    else:
        return mark.outline
    return np.concatenate([mark_outline, mark_outline[:1]])


def _outline(scene: Scene, mark: Shape | Dot, corners: Array, k: int) -> Any:
    from matplotlib.path import Path

    return Path(scene.poses[mark.body].place(corners, k), closed=isinstance(mark, Dot) or mark.closed)


def _face(mark: Shape | Dot) -> Any:
    from matplotlib.colors import to_rgba

    if mark.fill is None:
        return (0.0, 0.0, 0.0, 0.0)
    return to_rgba(mark.fill, mark.opacity if isinstance(mark, Shape) else 1.0)
