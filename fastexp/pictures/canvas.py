"""The canvas of pictures: their common style, headings, and the files to which they are saved."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .._parameters.text import printable, readable
from ..errors import OutputError, ParameterError, ParameterTypeError

SUFFIXES = (".png", ".svg", ".pdf")
LIGHT, DARK = (Path(__file__).with_name(f"{name}.mplstyle") for name in ("light", "dark"))
# Characters: of a label; of notes, per inch; of a tick.
MAX_LABEL, CHARACTERS_PER_INCH, MAX_TICK = 34, 14.4, 10
MIN_TITLE, LETTER_WIDTH = 12, 0.6  # the fewest letters in a line of a title; their relative width
TICKS = 6  # on an axis of numbers, which may be as long as "10,000,000"
KEY = 9  # points: the size of a legend's letters
SIGN, WORD = 0.6, 0.075  # inches in a legend: the width of a line sample and of a letter
ACROSS = 4  # the most entries of a legend beside each other
FILLED = 0.4  # opacity of areas, so that lines of the same colour are visible on them
PIXELS = 96  # per inch on a page
WIDTH, WIDE, EDGE = 6.4, 8.0, 0.12  # inches: width of a picture, of one with columns, of margins
TITLE, NOTE = 0.42, 0.19  # inches: height of a line of the title, and of the notes
PRIVATE = "not private: for analysis only"


def check(path: str) -> None:
    """Refuse a path to which a picture cannot be saved, before any work is done."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"plot must end in one of {', '.join(SUFFIXES)}, got {path!r}")
    if not target.parent.is_dir() or target.is_dir():
        raise ParameterError(f"plot must be a file in a folder that exists, got {path!r}")
    check_matplotlib()


def check_matplotlib() -> None:
    """Raise an error if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise ParameterError("plot needs matplotlib: pip install matplotlib")


@contextmanager
def paper(
    ax: Any, title: str, notes: list[str], height: float, count: int = 1, columns: int = 1
) -> Iterator[list[Any]]:
    """Yield the axes of a picture, one for each panel, in the common style.

    Axes of the caller must fill all rows of `columns` columns. They get the title, no notes, and
    colours that are visible on their background. New axes stand below a heading with notes and the
    remark that the picture is not private; together they are `height` inches high. No state of the
    process is changed: a notebook shows the figure if ``axes.figure`` is the value of a cell.
    """
    check_matplotlib()
    mpl, rows = import_module("matplotlib"), -(-count // columns)
    axes = [] if ax is None else _checked_axes(ax, rows * columns)
    _make_ticks(axes)
    first = axes[0] if axes else None
    grounds = [mpl.rcParams[f"{of}.facecolor"] for of in ("axes", "figure")]
    if first is not None:
        grounds = [first.get_facecolor(), first.figure.get_facecolor()]
    with import_module("matplotlib.style").context([LIGHT, *[DARK] * _dark(grounds)]):
        if first is None:
            axes = _new(title, notes, height, rows, columns)
        else:
            size = first.title.get_fontsize()
            lines = _fitted(first, title, size, 0)
            first.set_title(lines, loc="left", fontsize=size, parse_math=False)
            for one in axes:
                _dress(one, mpl.rcParams)
        for spare in axes[count:]:
            spare.remove()
        yield axes[:count]
        _make_ticks(axes[:count])


def _checked_axes(ax: Any, count: int) -> list[Any]:
    kind = import_module("matplotlib.axes").Axes
    axes = list(ax.flat) if isinstance(ax, np.ndarray) else ax
    axes = list(axes) if isinstance(axes, (list, tuple)) else [axes]
    if not all(isinstance(one, kind) for one in axes):
        raise ParameterTypeError("ax must be axes of matplotlib, or an array of them")
    if len(axes) != count:
        raise ParameterError(f"ax must be {count} axes for this picture, got {len(axes)}")
    return axes


def _dress(axes: Any, style: Any) -> None:
    """Apply the style to axes of the caller."""
    axes.set_prop_cycle(style["axes.prop_cycle"])
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(style["axes.edgecolor"])
    axes.tick_params(color=style["xtick.color"], labelcolor=style["xtick.labelcolor"])
    for name in (axes.xaxis.label, axes.yaxis.label):
        name.set_color(style["axes.labelcolor"])
    grid(axes, "y")


def _make_ticks(axes: list[Any]) -> None:
    """Make the first tick of each axis, which later ticks copy, in the current style."""
    for one in axes:
        for axis in (one.xaxis, one.yaxis):
            axis.get_major_ticks(1)


def _dark(grounds: Sequence[Any]) -> bool:
    """Whether the first visible background is dark; no background counts as light."""
    colors = map(import_module("matplotlib.colors").to_rgba, grounds)
    red, green, blue = next((color[:3] for color in colors if color[3] > 0), (1, 1, 1))
    return bool(0.299 * red + 0.587 * green + 0.114 * blue < 0.5)


def _new(title: str, notes: list[str], height: float, rows: int, columns: int) -> list[Any]:
    width = WIDTH if columns == 1 else WIDE
    remarks = textwrap.wrap(" · ".join([*notes, PRIVATE]), int(CHARACTERS_PER_INCH * width))
    whole = height + TITLE + NOTE * len(remarks)
    figure_class: Any = import_module("matplotlib.figure").Figure  # mypy knows too little about it
    figure = figure_class(figsize=(width, whole), layout="constrained")
    below = (0, 0, 1, height / whole)
    figure.get_layout_engine().set(w_pad=EDGE, h_pad=0.1, rect=below)
    x, top, second = EDGE / width, 1 - EDGE / whole, 1 - TITLE / whole
    quiet = import_module("matplotlib").rcParams["axes.edgecolor"]
    figure.text(x, top, title, fontsize=13, fontweight="bold", va="top")
    figure.text(x, second, "\n".join(remarks), color=quiet, va="top")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for drawn in (figure, *axes):
        drawn._repr_png_ = partial(_png, figure)
    return axes


def _fitted(axes: Any, text: str, size: float, before: float) -> str:
    """Wrap text of `size` points to the width of the axes, less `before` times the size."""
    points = 72 * axes.get_window_extent().width / axes.figure.dpi
    letters = max(MIN_TITLE, int((points / size - before) / LETTER_WIDTH))
    return textwrap.fill(text, letters, break_on_hyphens=False)


def _png(figure: Any) -> tuple[bytes, dict[str, float]]:
    """Return a figure as PNG and its width: notebooks by themselves show only pyplot's figures."""
    page = io.BytesIO()
    save(figure, page)
    return page.getvalue(), {"width": PIXELS * figure.get_figwidth()}


def numbered(axes: Any, ticks: int | None = None) -> None:
    """Format the numbers at axes; linear axes get about `ticks` ticks."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(tick)  # never an offset, which would be printed elsewhere
        if ticks is not None and axis.get_scale() == "linear":
            axis.get_major_locator().set_params(nbins=ticks)


def grid(axes: Any, along: str) -> None:
    """Draw grid lines along "x" or "both" behind the data, on axes of the caller, too."""
    axes.grid(visible=False)
    axes.grid(axis=along, color=import_module("matplotlib").rcParams["grid.color"])
    axes.set_axisbelow(True)


def bars(axes: Any, names: Sequence[str], lengths: Sequence[float], text: str = "") -> None:
    """Draw horizontal bars, with names at the left, the first on top."""
    places = range(len(names))
    axes.barh(places, lengths, height=0.64, alpha=FILLED, label=text)
    numbered(axes, TICKS)
    axes.set_yticks(places, map(label, names), parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    grid(axes, "x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0, pad=7)  # room for half of a mark at 0


def labelled(axes: list[Any], columns: int, below: str, beside: str) -> None:
    """Label shared axes: below the lowest panels, and beside the first panel of each row."""
    for place, one in enumerate(axes):
        first, lowest = place % columns == 0, place + columns >= len(axes)
        one.tick_params(labelleft=first, labelbottom=lowest)
        one.set_xlabel(below if lowest else "", parse_math=False)
        one.set_ylabel(beside if first else "", parse_math=False)


def legend(axes: Any, place: str) -> float:
    """Draw a legend in a corner of axes, and return its share of their height."""
    handles, names = axes.get_legend_handles_labels()
    texts = [_fitted(axes, name, KEY, 5) for name in names]
    key = axes.legend(handles, texts, loc=place, facecolor=axes.get_facecolor())
    return float(min(0.6, key.get_window_extent().height / axes.get_window_extent().height))


def legend_below(figure: Any, handles: Sequence[Any], texts: Sequence[str]) -> None:
    """Draw a legend of all panels, below them."""
    columns = int(figure.get_figwidth() / (SIGN + WORD * max(map(len, texts))))
    columns = max(1, min(ACROSS, columns))
    figure.legend(handles, texts, loc="outside lower center", ncols=columns, frameon=False)


def tick(x: float, _: Any = None) -> str:
    """Return the text of a number at an axis; a long number is written with a power of ten."""
    text, brief = readable(float(x), 10), f"{x:.6g}"
    if len(text) > MAX_TICK and float(brief) == x:
        text = brief.replace("e+", "e")
    return text.replace("-", "\N{MINUS SIGN}")


def label(name: str, longest: int = MAX_LABEL) -> str:
    """Return a name in one line; a long name loses its middle, as its end may matter."""
    text = printable(name)
    if len(text) <= longest:
        return text
    end = (longest - 1) // 3
    return f"{text[: longest - 1 - end]}…{text[len(text) - end :]}"


def save(figure: Any, path: str | io.BytesIO) -> None:
    """Save a picture; an error of the operating system becomes an `OutputError`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the font may lack glyphs
            figure.savefig(path)
    except OSError as error:
        reason = error.strerror or "system error"
        raise OutputError(f"the picture {path!r} could not be written: {reason}") from None
