"""The event by which draws tell two data sets apart best, chosen by draws that certify nothing."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from .._typing import AnyArray, IntArray
from .outcomes import Cells

EVERY = 2  # the place of single cells among the families of events
NEARLY = 0.05
DOUBT = 2.0  # standard errors, as the best of many is chosen
TINY = 1e-100  # a probability that no event has
WRITTEN = 4  # ranges that are written out


class Event(NamedTuple):
    """A set of cells, and what it is in words."""

    cells: AnyArray  # of bool
    text: str


class Choice(NamedTuple):
    """By what an event is chosen: the certificate that is expected of it."""

    delta: float
    draws: int  # that certify
    alpha: float  # of one bound


def best_event(
    cells: Cells, first: tuple[IntArray, IntArray], second: tuple[IntArray, IntArray], by: Choice
) -> Event:
    """The event whose ln((P - delta) / Q) is expected to be certified highest.

    Candidates are all half-lines, all cells, and the cells of the highest ratios P/Q together,
    in the order that the counts `first` of (P, Q) say. The counts `second`, of other draws, say
    which of them is best: order and choice by the same draws would choose their noise. Of events
    that are nearly as good, a simple one is taken.
    """
    p, q = first
    order = np.argsort((q + 0.5) / (p + 0.5), kind="stable")
    line = np.arange(cells.numbers)
    every = np.arange(cells.size)[:, None]
    families = [line, line[::-1], every, order]
    counts, best = np.array(second), []
    for family in families:
        sums = counts[:, family] if family is every else np.cumsum(counts[:, family], axis=1)
        best.append(_best(sums.reshape(2, -1), by, counts[0].sum()))
    enough = max(worth for worth, _ in best)
    enough -= NEARLY * abs(enough)
    simple = next(i for i, (worth, _) in enumerate(best) if worth >= enough)
    place = best[simple][1]
    chosen = np.zeros(cells.size, bool)
    chosen[every[place] if simple == EVERY else families[simple][: place + 1]] = True
    chosen = _without_holes(cells, chosen, np.asarray(p + q + counts.sum(axis=0) > 0))
    return Event(chosen, _text(cells, chosen))


def _best(counts: IntArray, by: Choice, draws: int) -> tuple[float, int]:
    """The most that is expected to be certified, and the event's place.

    Square roots of counts have a standard error of a half, whatever their mean: of those that are
    to be certified `z` are taken off, and DOUBT of those that choose.
    """
    z = -NormalDist().inv_cdf(max(by.alpha, TINY))
    spread = 0.5 * (z / np.sqrt(by.draws) + DOUBT / np.sqrt(draws))
    p = np.maximum(np.sqrt(counts[0] / draws) - spread, 0.0) ** 2 - by.delta
    q = (np.sqrt((counts[1] + 1) / draws) + spread) ** 2
    worth = np.log(np.maximum(p, TINY) / q)
    place = int(worth.argmax())
    return float(worth[place]), place


def _without_holes(cells: Cells, chosen: AnyArray, seen: AnyArray) -> AnyArray:
    """The same event, with gaps in which nothing was seen as the numbers beside them."""
    line = chosen[: cells.numbers].copy()
    gaps, known = line[::2], line[1::2]
    if known.size:
        gap = np.append(known[0], known) & np.append(known, known[-1])
        gaps[~seen[: cells.numbers : 2]] = gap[~seen[: cells.numbers : 2]]
    return np.append(line, chosen[cells.numbers :])


def _text(cells: Cells, chosen: AnyArray) -> str:
    """The answers of an event, in words: ranges of numbers, then others."""
    line = np.append(chosen[: cells.numbers], False)  # no cell follows
    begin = np.flatnonzero(line & ~np.append(False, line[:-1])).tolist()
    end = np.flatnonzero(line[:-1] & ~line[1:]).tolist()
    texts = [cells.span(first, last) for first, last in zip(begin, end, strict=True)]
    texts += map(cells.other, np.flatnonzero(chosen[cells.numbers :]).tolist())
    text = _joined(texts, "ranges")
    without = cells.left_out(chosen)
    return f"{text} but not {_joined(without, 'numbers')}" if without else text


def _joined(texts: list[str], kind: str) -> str:
    more = len(texts) - WRITTEN
    return " or ".join([*texts[:WRITTEN], *([f"one of {more} other {kind}"] if more > 0 else [])])
