"""Edits keep what they do not change: comments, order, blank lines; and write what a person would write."""

import tomllib
from pathlib import Path

import pytest

from assurgent.common.errors import InputError
from assurgent.studio.edit import Editor
from assurgent.studio.templates import EMPTY

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = """format = 1
# hello
[points]
A = [0, 0]    # origin
B = [1, 2]

[bodies.frame]
points = ["A"]

# turns
[bodies.crank]
points = ["A", "B"]
length = 2  # long

# the joints
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A" }   # pin

[drivers]
theta = { joint = "A", angle = "t" }
"""


def edited(text: str, *operations: list[object]) -> str:
    return Editor().apply(text, list(operations))


def test_a_set_value_changes_its_own_characters_only() -> None:
    found = edited(TEXT, ["set", ["points", "A"], [0.5, 0]], ["set", ["bodies", "crank", "length"], 3.5])
    assert found == TEXT.replace("A = [0, 0] ", "A = [0.5, 0] ").replace("length = 2 ", "length = 3.5 ")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda p: p.stem)
def test_an_edit_and_its_contrary_give_every_example_back(path: Path) -> None:
    text = path.read_text("utf-8")
    data = tomllib.loads(text)
    point = next(iter(data["points"]))
    there = edited(text, ["set", ["points", point], [9, 9]])
    assert tomllib.loads(there)["points"][point] == [9, 9]
    assert [a for a, b in zip(text.splitlines(), there.splitlines(), strict=True) if a != b] != []
    new = edited(text, ["set", ["forces", "extra"], {"body": "x", "torque": 1}], ["delete", ["forces", "extra"]])
    assert tomllib.loads(new) in (data, {**data, "forces": data.get("forces", {})})


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda p: p.stem)
def test_a_name_changed_and_changed_back_gives_every_example_back(path: Path) -> None:
    """Names, order and comments of all other lines stay; the number of lines, too."""
    text = path.read_text("utf-8")
    data = tomllib.loads(text)
    names = {table: next(iter(data[table])) for table in ("points", "joints") if data.get(table)}
    names["bodies"] = next(b for b in data["bodies"] if b != "frame")
    there = edited(text, *(["rename", table, old, f"{old}new"] for table, old in names.items()))
    for table, old in names.items():
        assert [f"{old}new" if k == old else k for k in data[table]] == list(tomllib.loads(there)[table]), table
    changed = [k for k, (a, b) in enumerate(zip(text.splitlines(), there.splitlines(), strict=True)) if a != b]
    lines = text.splitlines()
    assert all(any(old in lines[k] for old in names.values()) for k in changed)
    comments = [line.split("#", 1)[1] for line in lines if "#" in line and '"' not in line.split("#", 1)[1]]
    assert all(comment in there for comment in comments)
    back = edited(there, *(["rename", table, f"{old}new", old] for table, old in names.items()))
    assert tomllib.loads(back) == data


def test_new_entries_look_as_a_person_writes_them() -> None:
    found = edited(
        TEXT,
        ["set", ["bodies", "rod"], {"points": ["B", "C"], "length": 2.5}],
        ["set", ["joints", "B"], {"type": "R", "bodies": ["crank", "rod"], "at": "B"}],
        ["set", ["simulation", "stop"], 10],
    )
    assert '\n[bodies.rod]\npoints = ["B", "C"]\nlength = 2.5\n' in found
    assert '\nB = { type = "R", bodies = ["crank", "rod"], at = "B" }\n' in found
    assert found.endswith("\n[simulation]\nstop = 10\n")
    assert found.index("[bodies.rod]") < found.index("[joints]")


def test_an_empty_sheet_takes_everything() -> None:
    found = edited(EMPTY, ["set", ["points", "A"], [0, 0]], ["set", ["bodies", "frame"], {"points": ["A"]}])
    assert tomllib.loads(found)["bodies"] == {"frame": {"points": ["A"]}}


def test_a_name_changes_everywhere() -> None:
    found = edited(
        TEXT, ["rename", "points", "A", "O"], ["rename", "bodies", "crank", "arm 1"], ["rename", "joints", "A", "pin"]
    )
    data = tomllib.loads(found)
    assert list(data["points"]) == ["O", "B"]
    assert data["bodies"] == {"frame": {"points": ["O"]}, "arm 1": {"points": ["O", "B"], "length": 2}}
    assert data["joints"] == {"pin": {"type": "R", "bodies": ["frame", "arm 1"], "at": "O"}}
    assert data["drivers"]["theta"]["joint"] == "pin"
    assert "# origin" in found
    assert "# long" in found


def test_comments_survive_the_table_above_them() -> None:
    found = edited(TEXT, ["delete", ["bodies", "crank"]])
    assert "# turns" in found
    assert "# the joints" in found
    assert "crank" not in tomllib.loads(found)["bodies"]


@pytest.mark.parametrize(
    "operation",
    [
        ["set"],
        ["set", [], 1],
        ["set", [1], 1],
        ["eval", "x"],
        "set",
        7,
        ["rename", "points", "A", "B"],
        ["rename", "os", "a", "b"],
        ["set", ["format", "x"], 1],
        ["set", ["points", "A"], None],
    ],
)
def test_other_operations_are_refused(operation: object) -> None:
    with pytest.raises(InputError):
        Editor().apply(TEXT, [operation])  # type: ignore[list-item]


def test_while_dragging_the_same_document_is_used_and_gives_the_same_text() -> None:
    editor = Editor()
    for k in range(5):
        operations = [["set", ["points", "B"], [k, 1.5]], ["set", ["bodies", "crank", "length"], k + 0.5]]
        assert editor.apply(TEXT, operations) == edited(TEXT, *operations)
