"""A study in a file, which tests of ``fastexp study`` run."""

from __future__ import annotations

from pathlib import Path

import pytest

STUDY = """\
question = "How far off?"
epsilon = [0.5, 1.0]
n = [50, 100]
bounds = [-10, 10]
datasets = 12
draws = 20
block = 4
figures = ["error", "error_quantile"]
levels = [0.5]
mechanisms = ["median", {name = "median", neighbors = "replace", label = "[b]other[/b]"}]
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Its path; it has six tasks."""
    path = tmp_path / "medians.toml"
    path.write_text(STUDY)
    return str(path)
