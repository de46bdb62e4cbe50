"""Files that once gave a wrong answer, each with what is right."""

from __future__ import annotations

from pathlib import Path

from assurgent.codegen.derive import derive
from assurgent.codegen.generate import as_plain_python, compile_spec
from assurgent.codegen.reader import parse_spec
from assurgent.codegen.verify import verify_module
from assurgent.runtime.group import GroupType

FAULTS = Path(__file__).parents[1] / "data" / "faults"


def test_redundant_type_whose_tensors_vanish(tmp_path: Path) -> None:
    """K is the identity for every configuration, so that L and K_t cancel to zero: errors need their terms' size."""
    name = "D1-redundant-type-zero-L.toml"
    spec = parse_spec((FAULTS / name).read_text("utf-8"), name)
    path = tmp_path / "redundant.py"
    path.write_text(compile_spec(spec, name).module.text, "utf-8")
    result = verify_module(derive(spec), GroupType(as_plain_python(path, "redundant")), count=10)
    assert result.passed, result.headline
    text = path.read_text("utf-8")
    assert "L[i, 0, k] = y[0]" in text
    path.write_text(text.replace("L[i, 0, k] = y[0]", "L[i, 0, k] = y[0] + 1e-9"), "utf-8")
    altered = verify_module(derive(spec), GroupType(as_plain_python(path, "redundant")), count=2)
    assert altered.errors["L"].worst > 1e-10
