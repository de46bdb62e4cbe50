"""Pictures of the templates: one of each, and those of the present templates and symbols."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from assurgent.studio.templates import TEMPLATES
from assurgent.studio.thumbnails import TALL, WIDE, thumbnail

KEPT = json.loads((Path(__file__).parents[2] / "studio" / "static" / "thumbnails.json").read_text("utf-8"))


def numbers(path: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?[\d.]+", path)]


def test_every_template_has_its_picture() -> None:
    assert list(KEPT) == [title for title, stem in TEMPLATES.items() if stem is not None]
    for title, one in KEPT.items():
        places = np.array([x for shape in one["shapes"] for x in numbers(shape[0])]).reshape(-1, 2)
        assert (places >= 0).all(), title
        assert (places <= [WIDE, TALL]).all(), title
        spread = np.ptp(places, axis=0)
        assert (spread > 0.85 * np.array([WIDE, TALL])).any(), f"{title} fills its place"


@pytest.mark.parametrize("title", ["Four-bar", "Slider-crank", "Scissor lift"])
def test_pictures_are_those_of_the_templates(title: str) -> None:
    """Where this fails, the template or its symbols have changed: python -m assurgent.studio.thumbnails."""
    now, kept = thumbnail(title), KEPT[title]
    assert [s[1:] for s in now["shapes"]] == [s[1:] for s in kept["shapes"]]
    for one, other in zip(now["shapes"], kept["shapes"], strict=True):
        assert numbers(one[0]) == pytest.approx(
            numbers(other[0]), abs=0.11
        )  # a tenth of a pixel may be rounded otherwise
    assert len(now["dots"]) == len(kept["dots"])
