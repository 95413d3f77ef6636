"""Do the scripts of the gallery run from any folder, stay short, and draw something?"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.docs.page_code import DOCS, ROOT
from tests.support import processes

SCRIPTS = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem != "style")
LINES = 40
CURVES = ("law", "draws")  # of the README's picture


def draw(script: Path, picture: Path, *options: str) -> None:
    """Run the script in the folder of its picture."""
    command = [sys.executable, str(script), picture.name, *options]
    done = processes.run(command, cwd=picture.parent, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def inked(picture: Path) -> float:
    """The part of a picture, with a transparent background, that something is drawn on."""
    return float((matplotlib.image.imread(picture)[:, :, 3] > 0.5).mean())


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_short_and_draws(script, tmp_path, monkeypatch):
    """In this process, where a warning is an error; by `python` runs the README's own, below."""
    assert len(script.read_text(encoding="utf-8").splitlines()) <= LINES
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script), "picture.png"])
    monkeypatch.setattr(sys, "path", [str(script.parent), *sys.path])
    with mpl.rc_context({"backend": "agg"}):
        runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
    assert inked(tmp_path / "picture.png") > 0.02


def test_a_blank_picture_is_seen(tmp_path):
    figure = Figure()
    figure.savefig(tmp_path / "blank.png", transparent=True)
    assert inked(tmp_path / "blank.png") == 0


def curve(picture: str, name: str) -> np.ndarray:
    """The numbers that the curve of this name consists of."""
    group = re.search(rf'<g id="{name}">(.*?)</g>\s*(?=<g|</g>)', picture, re.DOTALL)
    assert group is not None, name
    return np.array([float(number) for number in re.findall(r"-?\d+\.\d+", group[1])])


@pytest.mark.process
@pytest.mark.parametrize("options", [(), ("--dark",)], ids=["light", "dark"])
def test_the_readme_has_the_picture_that_its_script_draws(options, tmp_path):
    """Byte by byte with the matplotlib that drew it; with another one, its curves."""
    stored = DOCS / "_static" / f"median-{'dark' if options else 'light'}.svg"
    draw(ROOT / "examples" / "median.py", tmp_path / "again.svg", *options)
    old = stored.read_text(encoding="utf-8")
    new = (tmp_path / "again.svg").read_text(encoding="utf-8")
    assert len(old.encode()) < 60_000
    for name in CURVES:
        assert curve(old, name).size > 50
        assert curve(new, name) == pytest.approx(curve(old, name), abs=2)
    if f"Matplotlib v{mpl.__version__}," in old:
        assert new == old
