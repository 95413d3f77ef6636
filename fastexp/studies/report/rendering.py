"""Figures of a study, with matplotlib: legible in grey, for a paper's column or a page."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from .drawing import draw
from .legend import LABEL, legend, names
from .panels import Picture
from .scales import limits, logarithmic

FORMATS = ("svg", "png", "pdf")
NARROW, WIDE = 3.4, 7.0  # inches: a column of a paper, a page
ROW, MECHANISM = 1.7, 0.3  # inches: height of a row of panels; of a mechanism in a dot plot
SHORT = 27  # characters below a narrow panel
APART = 4.0  # between panels' greatest values: those further apart have axes of their own
STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same everywhere
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.5,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "figure.labelsize": 8.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e2e2e2",
    "grid.linewidth": 0.5,
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
    import matplotlib.style

    files: dict[str, bytes] = {}
    with warnings.catch_warnings(), matplotlib.style.context(["default", STYLE]):
        warnings.simplefilter("ignore")  # glyphs that the font does not have
        figure = drawn(picture)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once for all formats
        for kind in formats:
            file = io.BytesIO()
            figure.savefig(file, format=kind, dpi=200, metadata=UNDATED[kind])
            files[kind] = file.getvalue()
    return files


def drawn(picture: Picture) -> Any:
    """A matplotlib `Figure` of a picture, in whatever style is set."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    engine = ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.04, hspace=0.04, wspace=0.04)
    figure = Figure(figsize=_size(picture), layout=engine)
    grid = list(figure.subplots(_rows(picture), picture.columns, squeeze=False).flat)
    for axes in grid[len(picture.panels) :]:
        axes.remove()
    axes = [draw(p, picture, a) for p, a in zip(picture.panels, grid, strict=False)]
    _alike(picture, axes)
    _labels(picture, axes, figure)
    legend(figure, picture)
    return figure


def _rows(picture: Picture) -> int:
    return -(-len(picture.panels) // picture.columns)


def _size(picture: Picture) -> tuple[float, float]:
    """Inches: one panel for a paper's column, several for its page."""
    wide = NARROW if len(picture.panels) == 1 else WIDE
    if picture.x is None:
        most = max(len(panel.lines) for panel in picture.panels)
        return wide, 0.9 + _rows(picture) * (0.4 + MECHANISM * most)
    keys = sum(-(-len(label) // LABEL) for label in names(picture))
    return wide, 0.8 + ROW * _rows(picture) + 0.16 * -(-keys // (2 if wide == WIDE else 1))


def _alike(picture: Picture, axes: list[Any]) -> None:
    """The same ends for panels of figures of one size; labels of ticks at the outside only."""
    dots = picture.x is None
    tops = [max(map(abs, picture.values_of(panel))) for panel in picture.panels]
    tops = [top for top in tops if top > 0]
    alike = logarithmic(picture.values) or not tops or max(tops) <= APART * min(tops)
    same_x, same_y = (alike, _same_names(picture)) if dots else (True, alike)
    for i, (panel, a) in enumerate(zip(picture.panels, axes, strict=True)):
        ends = limits(
            picture.values if alike else picture.values_of(panel), a.xaxis if dots else a.yaxis
        )
        (a.set_xlim if dots else a.set_ylim)(ends)
        below, first = i + picture.columns < len(axes), i % picture.columns == 0
        a.tick_params(labelbottom=not (below and same_x), labelleft=first or not same_y)


def _same_names(picture: Picture) -> bool:
    return len({tuple(line.mechanism for line in panel.lines) for panel in picture.panels}) == 1


def _labels(picture: Picture, axes: list[Any], figure: Any) -> None:
    """Below the lowest panels and at the left."""
    below = picture.y_label if picture.x is None else picture.x_label
    narrow = picture.x is None or picture.columns > 2
    wrapped = below.replace(" (", "\n(") if narrow and len(below) > SHORT else below
    for a in axes[-picture.columns :]:
        a.set_xlabel(wrapped)
    if picture.x is not None:
        label = picture.y_label.replace(" (", "\n(")
        if len(axes) == 1:
            axes[0].set_ylabel(label)
        else:
            figure.supylabel(label if _rows(picture) == 1 else picture.y_label)
