"""A mechanism in motion as a file: GIF, film (MP4), page (HTML) or animated SVG, chosen by the file's ending."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..common.errors import InputError
from ..common.files import check_target, write_whole
from ..mechanism.arguments import names, number
from ..mechanism.model import Model
from ..motion.results import Results
from .arrows import Arrows, arrows, force_arrows, room
from .draw import Drawing
from .points_of_interest import default_names
from .scene import build
from .shapes import INK, Scene
from .unknown_names import listed
from .window import window

if TYPE_CHECKING:
    from PIL.Image import Image

ENDINGS = (".gif", ".mp4", ".html", ".svg")
PIXELS = 100  # per inch, of GIF and film
MOST_FRAMES = 1500


@dataclass(frozen=True, eq=False)
class Film:
    """What is shown: a scene, the steps of the results that are its frames, how long it lasts, and what is drawn."""

    scene: Scene
    steps: tuple[int, ...]
    seconds: float
    traces: tuple[str, ...]
    vectors: tuple[Arrows, ...]

    @property
    def fps(self) -> float:
        return len(self.steps) / self.seconds

    @property
    def pace(self) -> str:
        """How fast the film runs against the clock, in words."""
        times = self.scene.time[list(self.steps)]
        factor = float(times[-1] - times[0]) / self.seconds if len(times) > 1 else 1.0
        if abs(factor - 1) < 0.05 or factor <= 0:
            return "real time"
        return f"{1 / factor:.3g} times slower" if factor < 1 else f"{factor:.3g} times faster"


def animate(
    model: Model,
    results: Results,
    path: str | Path,
    fps: float = 25.0,
    seconds: float | None = None,
    vectors: Sequence[str] = (),
    trace: Sequence[str] | None = None,
    start: float | None = None,
    stop: float | None = None,
    forces: bool = False,
    centres: bool = False,
) -> Path:
    """Write an animation and return its path; the ending chooses .gif, .mp4, .html or .svg.

    vectors: "velocity", "acceleration" or both, drawn at the traced points. forces: arrows of the reactions in the
    joints and of the applied forces, where the results are those of inverse dynamics or of a simulation. trace: points
    whose paths are shown (by default those that trace no plain circle; an empty list for none). start, stop: the part
    of the run that is shown; a run with many turns shows its first two unless told. seconds: how long the film lasts;
    by default real time where that can be watched, else six seconds. centres: the instant centres of a planar
    mechanism.
    """
    path = Path(path)
    ending = check_target(path, ENDINGS)
    film = plan(model, results, fps, seconds, vectors, trace, start, stop, forces, centres)
    if ending == ".gif":
        return write_whole(path, lambda part: _write_gif(film, part))
    if ending == ".mp4":
        program = ffmpeg()
        return write_whole(path, lambda part: _write_mp4(film, part, program))
    if ending == ".html":
        from .page import page

        text = page(film)
    else:
        from .moving_svg import moving_svg

        text = moving_svg(film)
    return write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def plan(
    model: Model,
    results: Results,
    fps: float = 25.0,
    seconds: float | None = None,
    vectors: Sequence[str] = (),
    trace: Sequence[str] | None = None,
    start: float | None = None,
    stop: float | None = None,
    forces: bool = False,
    centres: bool = False,
) -> Film:
    """Return the film of a run: which steps it shows, and what is drawn."""
    if not len(results):
        raise InputError(f"animation: {results.mechanism} has no solved instant to show")
    fps = number("animation: fps", fps)
    seconds = None if seconds is None else number("animation: seconds", seconds)
    scene = build(model, results, centres=centres)
    if trace is None:
        chosen = [n for n in default_names(results, model) if n in scene.marked]
    else:
        given = names("animation: trace", trace)
        chosen = [name if name in scene.marked else name.removeprefix("point.") for name in given]
    for name in chosen:
        if name not in scene.marked or name not in results.points:
            raise InputError(f"animation: trace '{name}' is no point of {model.name}{listed(name, scene.marked)}")
    known = [n for n in scene.marked if n in results.points]
    moving = chosen or [n for n in known if np.ptp(results.points[n].position, axis=0).max() > 0]
    first, last = window(results, start, stop)
    span = float(last - first)
    if seconds is None:
        seconds = span if 2.0 <= span <= 20.0 else 6.0
    frames = round(min(max(2.0, fps * seconds), MOST_FRAMES))
    wanted = np.linspace(first, last, frames)
    nearest_step = np.abs(np.searchsorted((results.time[1:] + results.time[:-1]) / 2, wanted))
    drawn = arrows(scene, results, names("animation: vectors", vectors), moving)
    drawn += force_arrows(scene, model, results) if forces else []
    return Film(scene, tuple(int(k) for k in nearest_step), float(seconds), tuple(chosen), tuple(drawn))


# ---- frames by matplotlib -------------------------------------------------------------------------------------------
def _painter(film: Film) -> Callable[[int], Image]:
    """Return what draws the frame of a step, an image with even sides."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import findfont
    from PIL import ImageFont
    from PIL.Image import frombuffer
    from PIL.ImageDraw import ImageDraw

    scene = film.scene
    low, high = room(scene, film.vectors)
    wide, tall = (high - low)[:2] if scene.dimension == 2 else (1.0, 0.85)
    width, height = 7.2, 7.2 * tall / wide + 0.7
    shrink = min(1.0, 6.4 / height)
    wide, tall = (2 * round(side * shrink * PIXELS / 2) / PIXELS for side in (max(width, 0.55 * height), height))
    figure = Figure(figsize=(wide, tall), dpi=PIXELS)
    canvas: Any = FigureCanvasAgg(figure)
    name = figure.text(0.02, 1.0, scene.name, fontsize=11, fontweight="bold", va="center")
    clock: Any = figure.text(0.98, 1.0, "", fontsize=9, ha="right", va="center", family="monospace")
    band = _head(film, name, clock, tall)
    ax = figure.add_axes((0.01, 0.01, 0.98, 0.98 - band), projection="3d" if scene.dimension == 3 else None)
    some = [film.steps[k] for k in np.unique(np.linspace(0, len(film.steps) - 1, 24).astype(int))]
    drawing = Drawing(
        ax,
        scene,
        film.steps[0],
        traces=film.traces,
        vectors=film.vectors,
        label_steps=some,
        shown=slice(film.steps[0], film.steps[-1] + 1),
    )
    clock.set_visible(False)  # it has told its place; Pillow writes the time of a frame twenty times faster
    for artist in drawing.moving:
        artist.set_animated(True)  # so that what stands still is drawn once
    canvas.draw()
    still = canvas.copy_from_bbox(figure.bbox)
    size = canvas.get_width_height()
    letters = ImageFont.truetype(findfont(clock.get_fontproperties()), clock.get_fontsize() * PIXELS / 72)
    x, y = clock.get_transform().transform(clock.get_position())

    def frame(k: int) -> Image:
        canvas.restore_region(still)
        drawing.update(k)
        drawing.redraw()
        image = frombuffer("RGBA", size, canvas.buffer_rgba(), "raw", "RGBA", 0, 1).convert("RGB")
        ImageDraw(image).text((x, size[1] - y), _clock(film, k), INK, letters, clock.get_ha()[0] + "m")
        return image

    return frame


def _clock(film: Film, k: int) -> str:
    return f"t = {film.scene.time[k]:.4g} s   ({film.pace})"


def _head(film: Film, name: Any, clock: Any, tall: float) -> float:
    """Put name and time beside each other, or where that is too narrow on two lines; return their share of the height.

    A name that is too long for a line is written smaller.
    """
    room = 0.96 * name.get_figure().bbox.width
    clock.set_text(max((_clock(film, k) for k in film.steps), key=len))
    long, beside = name.get_window_extent().width, clock.get_window_extent().width
    if long > room:
        name.set_fontsize(name.get_fontsize() * room / long)
    if long + beside + 0.03 * room <= room:
        band = 0.4 / tall
        name.set_y(1 - band / 2)
        clock.set_y(1 - band / 2)
        return band
    band = 0.56 / tall
    name.set_y(1 - 0.3 * band)
    clock.set(x=0.02, y=1 - 0.72 * band, ha="left")
    return band


def _write_gif(film: Film, path: Path) -> None:
    from PIL import Image

    frame = _painter(film)
    # one palette for all frames, taken from every other pixel of a few: no flicker, and a smaller file
    some = [frame(film.steps[k]) for k in np.unique(np.linspace(0, len(film.steps) - 1, 5).astype(int))]
    some = [image.resize((image.width // 2, image.height // 2), Image.Resampling.NEAREST) for image in some]
    sheet = Image.new("RGB", (some[0].width, some[0].height * len(some)))
    for k, image in enumerate(some):
        sheet.paste(image, (0, k * image.height))
    palette = sheet.quantize(colors=128, dither=Image.Dither.NONE)
    colours = np.array(palette.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) > 246] = 255  # the paper is white, not a mean of what is nearly white
    palette.putpalette(colours.ravel().tolist())
    first, *rest = [frame(k).quantize(palette=palette, dither=Image.Dither.NONE) for k in film.steps]
    # GIF counts in hundredths of a second, and browsers slow anything below two of them
    duration = max(20, 10 * round(100 / film.fps))
    first.save(path, save_all=True, append_images=rest, duration=duration, loop=0, optimize=False)


def ffmpeg() -> str:
    """Return the ffmpeg program: the system's, or that of the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise InputError(
            ".mp4: the program ffmpeg is not there; install it (`apt install ffmpeg`, `brew install "
            "ffmpeg` or `pip install imageio-ffmpeg`), or write .gif, .html or .svg, which need nothing "
            "more"
        ) from error


def _write_mp4(film: Film, path: Path, program: str) -> None:
    frame = _painter(film)
    width, height = frame(film.steps[0]).size
    command = [
        program,
        "-y",
        "-loglevel",
        "error",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        f"{width}x{height}",
        "-r",
        f"{film.fps:g}",
        "-i",
        "-",
        "-an",
        "-c:v",
        "libx264",
        "-threads",
        "1",  # it is faster than the drawing; more of them wait for each other, which takes processor time
        "-preset",
        "veryfast",
        "-pix_fmt",
        "yuv420p",
        "-crf",
        "18",
        "-movflags",
        "+faststart",
        str(path),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            for k in film.steps:
                process.stdin.write(frame(k).tobytes())
            process.stdin.close()
        except BrokenPipeError:
            pass  # ffmpeg has given up; what it says follows
        said = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        raise InputError(f"{path.name}: ffmpeg ({program}) could not write the film: {said[-300:]}")
