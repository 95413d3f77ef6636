"""The paper of pictures: the style that all have, headings, and the file that one is written to."""

from __future__ import annotations

import io
import textwrap
import warnings
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .._parameters.text import printable, readable
from ..errors import OutputError, ParameterError, ParameterTypeError
from .inks import inks_of, inks_on

SUFFIXES = (".png", ".svg", ".pdf")
LONGEST, LINE, LONG = 28, 14.4, 10  # characters: of a label, of notes an inch, of a tick
LEAST, LETTER = 12, 0.6  # letters of a title's line, at least; how wide one is, of its size
KEY = 9  # points: the size of a legend's letters
PIXELS = 96  # an inch on a page
WIDTH, WIDE, EDGE = 6.4, 8.0, 0.12  # inches: of a picture, of one with columns, of margins
TITLE, NOTE = 0.42, 0.19  # inches: of the title's line, and of a line of notes
PRIVATE = "not private: for analysis only"


def check(path: str) -> None:
    """Refuse a picture that could not be written, before any work is done."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"plot must end in one of {', '.join(SUFFIXES)}, got {path!r}")
    if not target.parent.is_dir() or target.is_dir():
        raise ParameterError(f"plot must be a file in a folder that exists, got {path!r}")
    check_matplotlib()


def check_matplotlib() -> None:
    """Refuse a picture where there is nothing to draw it with."""
    if find_spec("matplotlib") is None:
        raise ParameterError("plot needs matplotlib: pip install matplotlib")


def figure_for(
    ax: Any, title: str, notes: list[str], height: float, shape: tuple[int, int] = (1, 1)
) -> tuple[Any, list[Any]]:
    """The figure and the axes of a picture, row by row: the caller's, or new ones.

    The caller's are as many as `shape` says, and get the title and no notes. New ones stand below a
    heading with notes, and that the picture is not private; they have so many inches together.
    Nothing of the process is changed: a notebook shows the figure if it is the value of a cell, as
    ``axes.figure``.
    """
    check_matplotlib()
    rows, columns = shape
    if ax is None:
        figure_class: Any = import_module("matplotlib.figure").Figure  # mypy knows too little of it
        width = WIDTH if columns == 1 else WIDE
        remarks = textwrap.wrap(" · ".join([*notes, PRIVATE]), int(LINE * width))
        whole = height + TITLE + NOTE * len(remarks)
        figure = figure_class(figsize=(width, whole), dpi=150, layout="constrained")
        below = (0, 0, 1, height / whole)
        figure.get_layout_engine().set(w_pad=EDGE, h_pad=0.1, rect=below)
        x, top, second = EDGE / width, 1 - EDGE / whole, 1 - TITLE / whole
        inks = inks_on(figure.get_facecolor())
        for text in (
            figure.text(x, top, title, fontsize=13, fontweight="bold", color=inks.mark),
            figure.text(x, second, "\n".join(remarks), fontsize=9, color=inks.quiet),
        ):
            text.set(ha="left", va="top", parse_math=False)
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        for drawn in (figure, *axes):
            drawn._repr_png_ = partial(_png, figure)
        return figure, axes
    kind = import_module("matplotlib.axes").Axes
    axes = list(ax.flat) if isinstance(ax, np.ndarray) else ax
    axes = list(axes) if isinstance(axes, (list, tuple)) else [axes]
    if not all(isinstance(one, kind) for one in axes):
        raise ParameterTypeError("ax must be axes of matplotlib, or an array of them")
    if len(axes) != rows * columns:
        raise ParameterError(f"ax must be {rows * columns} axes for this picture, got {len(axes)}")
    first = axes[0]
    lines = _fitted(first, title, first.title.get_fontsize(), 0)
    first.set_title(lines, loc="left", color=inks_of(first).mark, parse_math=False)
    return axes[0].figure, axes


def _fitted(axes: Any, text: str, size: float, before: float) -> str:
    """A text of that size in lines as long as axes are wide, without what stands before it."""
    points = 72 * axes.get_window_extent().width / axes.figure.dpi
    letters = max(LEAST, int((points / size - before) / LETTER))
    return textwrap.fill(text, letters, break_on_hyphens=False)


def _png(figure: Any) -> tuple[bytes, dict[str, float]]:
    """A figure for notebooks, which do not know it without pyplot: its bytes, and its width."""
    page = io.BytesIO()
    save(figure, page)
    return page.getvalue(), {"width": PIXELS * figure.get_figwidth()}


def undecorated(axes: Any, along: str) -> None:
    """Light lines along one axis ("x", "y") to read values at, and no box."""
    inks = inks_of(axes)
    axes.grid(visible=False)
    axes.grid(axis=along, color=inks.grid, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(inks.quiet)
    axes.tick_params(color=inks.quiet, labelcolor=inks.mark)
    for name in (axes.xaxis.label, axes.yaxis.label):
        name.set_color(inks.mark)


def legend(axes: Any, place: str) -> float:
    """A legend in a corner of axes, in lines that fit; which share of their height it takes."""
    handles, names = axes.get_legend_handles_labels()
    texts = ["\n".join(_fitted(axes, line, KEY, 5) for line in name.splitlines()) for name in names]
    color, ground = inks_of(axes).mark, axes.get_facecolor()
    look = {"facecolor": ground, "edgecolor": "none", "framealpha": 0.85, "labelcolor": color}
    axes.legend(handles, texts, loc=place, fontsize=KEY, **look)
    lines = "\n".join(texts).count("\n") + 1
    points = 72 * axes.get_window_extent().height / axes.figure.dpi
    return float(min(0.6, (1.7 * lines + 1.4) * KEY / points))


def tick(x: float, _: Any = None) -> str:
    """A number at an axis: as everywhere, with a minus sign; a long one by its power of ten."""
    text, brief = readable(float(x), 10), f"{x:.6g}"
    if len(text) > LONG and float(brief) == x:
        text = brief.replace("e+", "e")
    return text.replace("-", "\N{MINUS SIGN}")


def label(name: str, longest: int = LONGEST) -> str:
    """A name in a picture: one line, the middle left out of a long one, whose end may matter."""
    text = printable(name)
    if len(text) <= longest:
        return text
    end = (longest - 1) // 3
    return f"{text[: longest - 1 - end]}…{text[len(text) - end :]}"


def save(figure: Any, path: str | io.BytesIO) -> None:
    """Write a picture; an error of the system becomes an `OutputError`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # glyphs that the font does not have
            figure.savefig(path)
    except OSError as error:
        reason = error.strerror or "system error"
        raise OutputError(f"the picture {path!r} could not be written: {reason}") from None
