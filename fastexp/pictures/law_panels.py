"""Pictures of exact laws, also with draws; one panel for each group."""

from __future__ import annotations

import textwrap
from typing import Any

from .._parameters.descriptions import name_of, statistic_of, title
from .._parameters.text import readable
from ..errors import ParameterError
from .canvas import label, labelled, legend, legend_below, paper
from .law_painters import Laws, numbers, selection

PANELS, ACROSS = 24, 3  # the most panels in a picture, and in a row of it
LETTERS = 12  # per inch, of text beside panels


def draw(subject: Laws, ax: Any = None) -> list[Any]:
    """Draw exact laws, with draws if there are some, and return the axes, one for each panel.

    If there are more than `PANELS` groups, only the first ones are drawn; without groups, it is an
    error. `ax` is that of `paper`.
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
    upright = subject.candidates is None
    panel = (numbers if upright else selection)(subject, count, notes)
    across = min(ACROSS, count)
    height = 0.9 + panel.height * -(-count // across)  # the legend is below
    with paper(ax, heading, notes, height, count, across) as axes:
        for g, panel_axes in enumerate(axes):
            panel.paint(panel_axes, g)
            if subject.by:
                panel_axes.set_title(_name(subject, g), loc="left", parse_math=False)
        first, share = axes[0], 0.0
        tall = first.get_window_extent().height / first.figure.dpi
        labelled(axes, across, panel.below, textwrap.fill(panel.beside, int(LETTERS * tall)))
        entries = [zip(*one.get_legend_handles_labels(), strict=True) for one in axes]
        handles = {text: handle for pairs in entries for handle, text in pairs}
        if handles and ax is None:
            legend_below(first.figure, [*handles.values()], [*handles])
        elif handles:
            share = legend(first, "best") * upright
        if first.get_yscale() == "linear":
            ends = [one.dataLim.y1 if upright else one.dataLim.x1 for one in axes]
            end = min(1.1 * max(ends) / (1 - share), panel.most)
            for one in axes:
                (one.set_ylim if upright else one.set_xlim)(0, end)
    return axes


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


def _name(subject: Laws, group: int) -> str:
    """Return the title of a panel: the group, its number of records, and the true number."""
    parts, truth = [f"n = {count:,}" for count in subject.records[group : group + 1]], None
    if subject.candidates is None and (truth := subject.truths[group]) is not None:
        parts.append(f"true {readable(truth, 4)}")
    return f"{label(subject.names[group])}\n{' · '.join(parts)}".rstrip()
