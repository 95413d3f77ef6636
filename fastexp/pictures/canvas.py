"""A picture's paper: its heading and style, and the file that it is written to."""

from __future__ import annotations

import textwrap
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .._parameters.text import printable
from ..errors import OutputError, ParameterError

SUFFIXES = (".png", ".svg", ".pdf")
LONGEST, LINE = 28, 115  # characters of a label, and of a line of notes
BAR, MARK, QUIET = "#8fb8de", "#1b2a41", "#6b7280"
TRUTH = "#b4430c"  # darker than the bars in grey, and no law's colour
WIDTH, EDGE = 8.0, 0.12  # inches: of a picture, and of its margins
TITLE, NOTE = 0.42, 0.19  # inches: of the title's line, and of a line of notes
PRIVATE = "not private: for analysis only"


def check(path: str) -> None:
    """Refuse a picture that could not be written, before any work is done."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"plot must end in one of {', '.join(SUFFIXES)}, got {path!r}")
    if not target.parent.is_dir() or target.is_dir():
        raise ParameterError(f"plot must be a file in a folder that exists, got {path!r}")
    if find_spec("matplotlib") is None:
        raise ParameterError("plot needs matplotlib: pip install 'fastexp[plot]'")


def canvas(
    title: str, notes: list[str], height: float, shape: tuple[int, int] = (1, 1)
) -> tuple[Any, list[Any]]:
    """A figure below its heading, and its axes row by row; nothing of the process is changed.

    `notes` stand below the title, and that it is not private; `height` is that of all axes
    together, in inches; `shape` their rows and columns.
    """
    figure_class: Any = import_module("matplotlib.figure").Figure  # mypy knows too little of it
    lines = textwrap.wrap(" · ".join([*notes, PRIVATE]), LINE)
    head = TITLE + NOTE * len(lines)
    whole = height + head
    figure = figure_class(figsize=(WIDTH, whole), dpi=150, layout="constrained")
    below = (0, 0, 1, height / whole)
    figure.get_layout_engine().set(w_pad=EDGE, h_pad=0.1, rect=below)
    x, top, second = EDGE / WIDTH, 1 - EDGE / whole, 1 - TITLE / whole
    heading = figure.text(x, top, title, fontsize=13, fontweight="bold", color=MARK)
    remarks = figure.text(x, second, "\n".join(lines), fontsize=9, color=QUIET)
    for text in (heading, remarks):
        text.set(ha="left", va="top", parse_math=False)
    rows, columns = shape
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def undecorated(axes: Any, along: str) -> None:
    """Light lines along one axis to read values at, and no box."""
    axes.grid(axis=along, color="#e5e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def label(name: str, longest: int = LONGEST) -> str:
    """A name in a picture: one line, not too long."""
    text = printable(name)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def save(figure: Any, path: str) -> None:
    """Write a picture; an error of the system becomes an `OutputError`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # glyphs that the font does not have
            figure.savefig(path)
    except OSError as error:
        reason = error.strerror or "system error"
        raise OutputError(f"the picture {path!r} could not be written: {reason}") from None
