"""Figures of a study, with matplotlib: legible in grey, for a paper's column or a page."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...pictures.canvas import check_matplotlib, figure_for
from ...pictures.inks import inks_of
from .drawing import LABEL, draw, legend, names
from .panels import Picture
from .scales import limits, logarithmic

FORMATS = ("svg", "png", "pdf")
NARROW, WIDE = 3.4, 7.0  # inches: a column of a paper, a page
ROW, TALL, MECHANISM = 1.7, 2.4, 0.3  # inches: height of panels; of a mechanism in a dot plot
SHORT = 27  # characters below a narrow panel
STACK = 3  # panels below each other, from which on each has the labels of its ticks
APART = 4.0  # between panels' greatest values: those further apart have axes of their own
SIZE, LARGE = 8.0, 9.0  # points: of letters in files and pages, in a picture of its own


def style(size: float = SIZE) -> dict[str, Any]:
    """Sizes and strokes, as settings of matplotlib; colours are those of `pictures.inks`."""
    names = ["font.size", "axes.titlesize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize"]
    return {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same everywhere
        **dict.fromkeys(names, size),
        **dict.fromkeys(("axes.labelsize", "figure.labelsize"), size + 0.5),
        "lines.linewidth": 1.3,
        "lines.markersize": 4.0,
        "axes.linewidth": 0.6,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "text.parse_math": False,  # labels are the user's words
        "svg.hashsalt": "fastexp",  # the same bytes each time
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
    }


UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}


def available() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def rendered(picture: Picture, formats: Iterable[str]) -> dict[str, bytes]:
    """A picture as files of these formats hold it: the same bytes for one version of matplotlib."""
    wide = NARROW if len(picture.panels) == 1 else WIDE
    return _saved(picture, wide, formats, style())


def for_page(picture: Picture) -> tuple[bytes, bytes]:
    """A picture as SVG whose letters are text: as wide as a page, and as a telephone."""
    words = {**style(), "svg.fonttype": "none"}
    narrow = replace(picture, columns=1)
    sizes = ((picture, WIDE), (narrow, NARROW))
    wide, phone = (_saved(part, width, ["svg"], words)["svg"] for part, width in sizes)
    return wide, phone


def _saved(
    picture: Picture, width: float, formats: Iterable[str], settings: dict[str, Any]
) -> dict[str, bytes]:
    import matplotlib.style

    files: dict[str, bytes] = {}
    with warnings.catch_warnings(), matplotlib.style.context(["default", settings]):
        warnings.simplefilter("ignore")  # glyphs that the font does not have
        figure = drawn(picture, width)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once for all formats
        for kind in formats:
            file = io.BytesIO()
            figure.savefig(file, format=kind, dpi=200, metadata=UNDATED[kind])
            files[kind] = file.getvalue()
    return files


def drawn(picture: Picture, width: float) -> Any:
    """A matplotlib `Figure` of a picture, in whatever style is set."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    engine = ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.04, hspace=0.04, wspace=0.04)
    figure = Figure(figsize=(width, _height(picture, width)), layout=engine)
    grid = list(figure.subplots(_rows(picture), picture.columns, squeeze=False).flat)
    _fill(picture, grid, outside=True)
    return figure


class Panels(np.ndarray):
    """All axes of a new figure, which a notebook shows as that figure."""

    def _repr_png_(self) -> Any:
        return self.flat[0].figure._repr_png_()


def plotted(picture: Picture, title: str, notes: list[str], ax: Any) -> Any:
    """A picture on the caller's axes, or on new ones below a heading; its axes as an array.

    Of one panel the axes alone.
    """
    check_matplotlib()
    from matplotlib import rc_context

    settings: Any = style(LARGE) if ax is None else {}
    with rc_context(settings):
        if ax is not None:
            picture = replace(picture, columns=len(picture.panels))
        height = _height(picture, WIDE) * LARGE / SIZE
        grid = figure_for(ax, title, notes, height, (_rows(picture), picture.columns))[1]
        axes = _fill(picture, grid, outside=ax is None)
    return (
        axes[0]
        if len(axes) == 1
        else np.array(axes, object).view(Panels if ax is None else np.ndarray)
    )


def _fill(picture: Picture, grid: list[Any], *, outside: bool) -> list[Any]:
    for axes in grid[len(picture.panels) :]:
        axes.remove()
    all_axes = [draw(p, picture, a) for p, a in zip(picture.panels, grid, strict=False)]
    _alike(picture, all_axes)
    _labels(picture, all_axes, outside=outside)
    legend(all_axes[0], picture, outside=outside)
    return all_axes


def _rows(picture: Picture) -> int:
    return -(-len(picture.panels) // picture.columns)


def _height(picture: Picture, width: float) -> float:
    if picture.x is None:
        most = max(len(panel.lines) for panel in picture.panels)
        return 0.9 + _rows(picture) * (0.4 + MECHANISM * most)
    keys = sum(-(-len(label) // LABEL) for label in names(picture))
    row = TALL if picture.columns == 1 and width == WIDE else ROW
    return 0.8 + row * _rows(picture) + 0.16 * -(-keys // (2 if width == WIDE else 1))


def _alike(picture: Picture, axes: list[Any]) -> None:
    dots = picture.x is None
    tops = [max(map(abs, picture.values_of(panel))) for panel in picture.panels]
    tops = [top for top in tops if top > 0]
    alike = logarithmic(picture.values) or not tops or max(tops) <= APART * min(tops)
    names = {tuple(line.mechanism for line in panel.lines) for panel in picture.panels}
    same_x, same_y = (alike, len(names) == 1) if dots else (True, alike)
    for i, (panel, a) in enumerate(zip(picture.panels, axes, strict=True)):
        ends = limits(
            picture.values if alike else picture.values_of(panel), a.xaxis if dots else a.yaxis
        )
        (a.set_xlim if dots else a.set_ylim)(ends)
        below, first = i + picture.columns < len(axes), i % picture.columns == 0
        hidden = below and same_x and (dots or picture.columns > 1 or len(axes) <= STACK)
        a.tick_params(labelbottom=not hidden, labelleft=first or not same_y)


def _labels(picture: Picture, axes: list[Any], *, outside: bool) -> None:
    below = picture.y_label if picture.x is None else picture.x_label
    narrow = picture.x is None or picture.columns > 2
    wrapped = below.replace(" (", "\n(") if narrow and len(below) > SHORT else below
    for a in axes[-picture.columns :]:
        a.set_xlabel(wrapped)
    if picture.x is not None:
        label = picture.y_label.replace(" (", "\n(")
        if len(axes) == 1 or not outside:
            axes[0].set_ylabel(label)
        else:
            text = label if _rows(picture) == 1 else picture.y_label
            axes[0].figure.supylabel(text, color=inks_of(axes[0]).mark)
