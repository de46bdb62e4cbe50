"""Prints the oldest versions of the dependencies that pyproject.toml allows, as constraints for pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

BOUND = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")


def oldest(top: Path = Path(__file__).parents[2]) -> dict[str, str]:
    """Return the lower bound of every dependency that has one."""
    needs = tomllib.loads((top / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    return dict(found.groups() for need in needs if (found := BOUND.match(need)))


if __name__ == "__main__":
    print("\n".join(f"{name}=={version}" for name, version in oldest().items()))
