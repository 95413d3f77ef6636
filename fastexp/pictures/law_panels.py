"""Pictures of exact laws and of draws beside them; of groups a panel each."""

from __future__ import annotations

import textwrap
from typing import Any

from .._parameters.descriptions import name_of, statistic_of, title
from .._parameters.text import readable
from ..errors import ParameterError
from .canvas import figure_for, label, legend
from .inks import inks_of
from .law_painters import Laws, numbers, selection

PANELS, ACROSS = 24, 3  # groups in a picture, and beside each other
NAME = 34  # characters above a panel
LETTERS = 10  # an inch of what stands beside panels


def draw(subject: Laws, ax: Any = None) -> list[Any]:
    """Draw exact laws, or draws beside them where there are some; the axes, one a panel.

    The first `PANELS` groups if there are more; an error if there is none. `ax` as for
    `figure_for`.
    """
    if not subject.laws:
        raise ParameterError("plot: the data have no group to draw")
    count, mechanism = min(PANELS, len(subject.laws)), subject.mechanism
    heading, notes = _heading(subject), []
    if mechanism is not None:
        notes = [title(name_of(mechanism), mechanism)]
        heading = heading if ax is None else notes[0]
    if subject.by and count < len(subject.laws):
        notes.append(f"the first {count} of {len(subject.laws):,} groups")
    panel = (numbers if subject.candidates is None else selection)(subject, count, notes, ax)
    across = min(ACROSS, count)
    rows = -(-count // across)
    size = None if ax is not None else 8 if subject.by else 10  # None: as the caller's style has it
    height = 0.6 + panel.height * rows
    figure, axes = figure_for(ax, heading, notes, height, (rows, across))
    for spare in axes[count:]:
        spare.remove()
    axes = axes[:count]
    for g, panel_axes in enumerate(axes):
        panel.paint(panel_axes, g)
        if subject.by:
            _name(panel_axes, subject, g)
        lowest = g + across >= count
        panel_axes.tick_params(labelbottom=lowest)
        if size is not None:
            panel_axes.tick_params(labelsize=size)
        if lowest:
            panel_axes.set_xlabel(panel.below, fontsize=size, parse_math=False)
        panel_axes.tick_params(labelleft=not g % across)
    if subject.by and subject.candidates is None:
        _share_heights(axes)
    tall = height if ax is None else axes[0].get_window_extent().height / figure.dpi
    beside = textwrap.fill(panel.beside, int(LETTERS * tall))
    handles, texts = axes[0].get_legend_handles_labels()
    if ax is not None:
        axes[0].set_ylabel(beside, parse_math=False)
        if handles:
            _legend(axes[0], panel.most)
    else:
        figure.supylabel(beside, fontsize=10, color=inks_of(axes[0]).mark, parse_math=False)
        if handles:
            look = {"loc": "outside lower center", "ncols": 3, "frameon": False, "fontsize": 9}
            figure.legend(handles, texts, labelcolor=inks_of(axes[0]).mark, **look)
    return axes


def _share_heights(axes: list[Any]) -> None:
    """Panels whose bars can be compared."""
    highest = max(one.get_ylim()[1] for one in axes)
    for one in axes:
        one.set_ylim(0, highest)


def _legend(axes: Any, most: float) -> None:
    """A legend where it hides least: of a linear scale above all, where the axis may go on."""
    share, (low, high) = legend(axes, "best"), axes.get_ylim()
    upright = axes.get_xaxis_transform("grid")
    top = high + (high - low) * share / (1 - share)
    if axes.get_yscale() == "linear" and low < high and top <= most:
        legend(axes, "upper right")
        axes.set_ylim(low, top)
        for line in axes.lines:
            if line.get_transform() == upright:
                line.set_ydata([0, 1 - share])


def _heading(subject: Laws) -> str:
    what = "selection"
    if subject.candidates is None:
        what = "number" if subject.mechanism is None else statistic_of(subject.mechanism)
        what = "quantile" if what.endswith("quantile") else what
    heading = f"The exact law of the private {what}"
    if subject.draws is not None:
        n = subject.draws.shape[1]
        heading = f"{n:,} draw{'s' * (n != 1)} against the exact law"
    return f"{heading}, by {label(' and '.join(subject.by))}" if subject.by else heading


def _name(ax: Any, subject: Laws, group: int) -> None:
    inks, parts = inks_of(ax), [f"n = {count:,}" for count in subject.records[group : group + 1]]
    truth = subject.truths[group]
    if subject.candidates is None and truth is not None:
        parts.append(f"true {readable(truth, 4)}")
    ax.set_title(" · ".join(parts), loc="left", fontsize=7.5, color=inks.quiet, pad=3)
    ax.annotate(
        label(subject.names[group], NAME),
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, 14),
        textcoords="offset points",
        fontsize=9,
        color=inks.mark,
        fontweight="bold",
        parse_math=False,
    )
