"""The picture of ``select --draws``: observed frequencies against the exact law."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import Failure, UserMistake
from .output import needed, printable

SUFFIXES = (".png", ".svg", ".pdf")
TOP, LONGEST, WIDEST = 20, 28, 105  # bars, characters of a label and of a line
BAR, MARK, QUIET = "#8fb8de", "#1b2a41", "#6b7280"


def check(path: str) -> None:
    """Refuse a picture that could not be written, before any work is done.

    Parameters
    ----------
    path : str
        Where the picture is to go.

    Raises
    ------
    UserMistake
        If its folder does not exist or its kind is none of `SUFFIXES`.
    Failure
        If matplotlib is not installed.
    """
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise UserMistake(f"--plot writes {', '.join(SUFFIXES)}, got {path!r}")
    if not target.parent.is_dir() or target.is_dir():
        raise UserMistake(f"--plot {path!r} is not a file in an existing folder")
    needed("matplotlib.figure", "--plot", "'fastexp[plot]'")


def draw(path: str, candidates: Sequence[str], observed: Any, exact: Any, title: str) -> None:
    """Draw the frequencies as bars, the exact probabilities as marks, and save.

    Parameters
    ----------
    path : str
        A file of one of `SUFFIXES`.
    candidates : sequence of str
        By descending probability; the first `TOP` are drawn.
    observed, exact : ndarray, shape (k,)
        How often each was drawn, and its probability, in the same order.
    title : str
        What was asked: the mechanism, epsilon and so on.
    """
    n, shown, exact = int(observed.sum()), min(len(candidates), TOP), exact.clip(max=1.0)
    figure, axes = canvas(2.0 + 0.34 * shown)
    _bars(axes, observed[:shown] / n, exact[:shown], n)
    labels = [label(name) for name in candidates[:shown]]
    axes.set_yticks(range(shown), labels, parse_math=False)
    _dress(axes, shown)
    notes = [title, "not private: for analysis only"]
    if shown < len(candidates):
        notes.append(f"the {shown} likeliest of {len(candidates):,} candidates")
    heading(axes, f"{n:,} draw{'s' * (n != 1)} against the exact law", " · ".join(notes))
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    save(figure, path)


def _bars(axes: Any, frequencies: Any, exact: Any, n: int) -> None:
    places = range(len(exact))
    spread = 2 * (exact * (1 - exact) / n) ** 0.5
    low, high = exact.clip(max=spread), spread.clip(max=1 - exact)  # stays within 0 and 1
    axes.barh(places, frequencies, height=0.66, color=BAR, label="observed frequency")
    axes.errorbar(
        exact,
        places,
        xerr=(low, high),
        fmt="D",
        markersize=4.5,
        color=MARK,
        elinewidth=1.2,
        capsize=3,
        label="exact probability ± 2 standard errors",
    )


def _dress(axes: Any, shown: int) -> None:
    axes.set_ylim(shown - 0.4, -0.6)  # the likeliest on top
    axes.set_xlim(left=0)
    axes.set_xlabel("probability")
    undecorated(axes, "x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def canvas(height: float) -> tuple[Any, Any]:
    """A figure 8 inches wide and its axes; nothing of the process is changed."""
    figure_class = needed("matplotlib.figure", "--plot", "'fastexp[plot]'").Figure
    figure = figure_class(figsize=(8, height), dpi=150, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
    return figure, figure.subplots()


def undecorated(axes: Any, along: str) -> None:
    """Light lines along one axis to read values at, and no box."""
    axes.grid(axis=along, color="#e5e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def heading(axes: Any, title: str, notes: str) -> None:
    """A title, and below it what was asked, in as many lines as it takes."""
    lines = textwrap.wrap(notes, WIDEST)
    pad = 14 + 12 * len(lines)
    axes.set_title(title, loc="left", fontsize=13, fontweight="bold", color=MARK, pad=pad)
    place = {"xy": (0, 1), "xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate("\n".join(lines), xytext=(0, 10), fontsize=9, color=QUIET, **place)


def label(name: str) -> str:
    """A name in a picture: one line, not too long."""
    text = printable(name)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def save(figure: Any, path: str) -> None:
    """Write a picture; what the system refuses is told without a traceback."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # glyphs that the font does not have
            figure.savefig(path)
    except OSError as error:
        reason = error.strerror or "system error"
        raise Failure(f"the picture {path!r} could not be written: {reason}") from None
