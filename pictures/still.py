"""One picture of a mechanism for a page or a report: at an instant, with paths, without a margin."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from ..common.errors import InputError
from ..mechanism.model import Model
from ..motion.results import Results
from .plot import paths

WIDTH, HEIGHT = 480, 400  # pixels at most
MARGIN = 24  # pixels, before the picture is made smaller
SHRINK = 0.75  # of the figure but not of its letters, which would be hard to read
COLOURS = 128  # of the palette: a third of the bytes, and no difference to be seen


def still(
    results: Results,
    model: Model,
    names: Sequence[str] | None = None,
    instant: float | None = None,
    vectors: Sequence[str] = (),
    forces: bool = False,
    kind: str = "png",
    centres: bool = False,
) -> bytes:
    """Return the picture of a mechanism at the instant of its results that is nearest, as a PNG, SVG or PDF file."""
    step = step_at(results, instant)
    figure = paths(results, model, names, step, vectors, forces, centres)
    figure.axes[0].set_title("")
    figure.set_size_inches(*(SHRINK * figure.get_size_inches()))
    raw = io.BytesIO()
    figure.savefig(raw, format=kind, dpi=300, bbox_inches="tight", metadata={"Date": None} if kind == "svg" else None)
    return _trimmed(raw) if kind == "png" else raw.getvalue()


def step_at(results: Results, instant: float | None) -> int:
    """Return the step of results that is nearest to an instant, the first where none is given."""
    if not len(results):
        raise InputError(f"drawing: {results.mechanism} has no solved instant to show")
    if instant is None:
        return 0
    first, last = float(results.time[0]), float(results.time[-1])
    if not first <= instant <= last:
        raise InputError(f"drawing: t = {instant:g} s is outside the run, which is from {first:g} to {last:g} s")
    return int(np.argmin(np.abs(results.time - instant)))


def _trimmed(raw: io.BytesIO) -> bytes:
    """Return a PNG without its margin, at most 480 x 400 pixels; it names the libraries that decide its bytes."""
    import matplotlib
    import PIL
    from PIL import Image, ImageOps
    from PIL.PngImagePlugin import PngInfo

    image = Image.open(raw).convert("RGB")
    image = ImageOps.expand(image.crop(ImageOps.invert(image).getbbox()), MARGIN, "white")
    image.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    out, drawn_by = io.BytesIO(), PngInfo()
    drawn_by.add_text("Software", f"Matplotlib {matplotlib.__version__}, Pillow {PIL.__version__}")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True, pnginfo=drawn_by)
    return out.getvalue()
