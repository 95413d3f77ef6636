"""The colours of pictures, on light and on dark ground, and marks that tell lines apart in grey."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple


class Inks(NamedTuple):
    """Colours for one ground: all have a contrast of 3 or more to it, but `bar` and `grid`."""

    mark: str  # what is read first: text, exact laws
    quiet: str  # axes and remarks
    bar: str  # areas below a law, draws
    truth: str  # the true value
    grid: str  # lines to read values at
    series: tuple[str, ...]  # lines beside each other, in this order


LIGHT = Inks(
    mark="#1b2a41",
    quiet="#6b7280",
    bar="#8fb8de",
    truth="#b4430c",
    grid="#e5e7eb",
    series=("#0b4f8a", "#d55e00", "#2f8a6a", "#8e5aa8", "#1b2a41", "#2b7bba", "#9a7200"),
)
DARK = Inks(
    mark="#e8ecf1",
    quiet="#97a3b0",
    bar="#2f6496",
    truth="#ff9d4d",
    grid="#39434f",
    series=("#7cc0ff", "#ff9d4d", "#4fc79c", "#c79be0", "#e8ecf1", "#3d9be0", "#d8b13a"),
)
MARKERS = ("o", "s", "^", "D", "v")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))


def inks_of(axes: Any) -> Inks:
    """The colours that are seen on the ground of axes: a user's style decides it."""
    grounds = axes.get_facecolor(), axes.figure.get_facecolor()
    ground = next((color for color in grounds if color[3] > 0), (1, 1, 1, 1))
    return inks_on(ground)


def inks_on(ground: Any) -> Inks:
    """The colours for a ground, which matplotlib may name as it likes."""
    red, green, blue, alpha = import_module("matplotlib.colors").to_rgba(ground)
    light = 0.299 * red + 0.587 * green + 0.114 * blue
    return DARK if alpha > 0 and light < 0.5 else LIGHT  # no ground is paper, or notebooks'


def line_style(place: int) -> dict[str, Any]:
    """Marker and dashes of a line: with 7 colours 140 look different, the first 4 in grey too."""
    return {"marker": MARKERS[place % len(MARKERS)], "linestyle": DASHES[place % len(DASHES)]}
