"""Several quantiles by recursion: the middle one, then those on either side from the records there.

Each is a draw of a weak quantile from the records between two earlier answers (Kaplan, Schnapp and
Stemmer 2022). An answer at a grid point must split the records of that point, each by itself: a
split by ranks would let one record move all others. So a point is 2**k places; each record has one
of its point's, drawn once for all levels, and an answer is a place: records below it are on its
left, the others on its right.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..data.grid import Grid
from ..data.segments import Segments
from ..kernels.cells import PART, WORDS, draw_ranks
from ..kernels.envelope import fill_words
from ..kernels.recursion import fill_parts
from ..parameters.checks import MAX_DENOMINATOR
from ..privacy.rates import rank_rate
from ..types import Integers, Words
from . import ranks
from .distance import QuantileDistance
from .words import SPARE, SYSTEM, further_words, some_seeds, system_words

PLACE_BITS = 16  # of a word for four records; a million at one point are 15 at each place
MAX_PLACES = 1 << 52  # of all points: cells may have as many
MOST_AT_ONCE = 1 << 20  # records and words of draws that are made together
LEAST_SHARE = Fraction(1, MAX_DENOMINATOR)


class Node(NamedTuple):
    """A quantile, by its number from 1: it lies between those of two numbers, or the ends."""

    number: int
    left: int
    right: int
    statistic: ranks.RankStatistic


def make_nodes(q: tuple[Fraction, ...], epsilon: Fraction, grid: Grid) -> list[Node]:
    """Return the draws for quantiles q in their order, each with this epsilon."""
    places = 1 << min(PLACE_BITS, (MAX_PLACES // grid.size).bit_length() - 1)
    shares, spans, nodes = (Fraction(0), *q, Fraction(1)), [(0, len(q) + 1)], []
    known: dict[Fraction, ranks.RankStatistic] = {}  # evenly spaced quantiles have few of them
    for left, right in spans:
        number = (left + right + 1) // 2
        if number < right:
            low, high = shares[left], shares[right]
            share = ((shares[number] - low) / (high - low)).limit_denominator(MAX_DENOMINATOR)
            share = min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)
            if share not in known:
                distance = QuantileDistance(share, "add-remove")
                rate = rank_rate(epsilon, distance.steps)
                known[share] = ranks.RankStatistic(rate, distance, grid, places)
            nodes.append(Node(number, left, right, known[share]))
            spans += (left, number), (number, right)
    return nodes


def draw(data: Segments, nodes: list[Node], seeds: Words, size: int | None) -> Integers:
    """Return grid indices: int64 of shape (m,), (size, m), (rows, m) or (rows, size, m)."""
    sets, draws, m = ranks.placed(data, nodes[0].statistic.grid), size or 1, len(nodes)
    if seeds.size:  # draws do not depend on the order of records
        for points in sets:
            points.sort()
    out = np.empty((len(sets) * draws, m), np.int64)
    step = max(1, MOST_AT_ONCE // (max(points.size for points in sets) + WORDS * m))
    for first in range(0, len(out), step):
        into = out[first : first + step]
        jobs = [divmod(first + i, draws) for i in range(len(into))]
        sources = [_source(seeds, d, t) for d, t in jobs]
        _draw_all([sets[d] for d, _ in jobs], nodes, sources, into)
    shape = [count for count in (data.rows, size) if count is not None]
    return out.reshape(*shape, m)


def _source(seeds: Words, d: int, t: int) -> Words:
    """Return the seeds of draw t of a data set: a tag of its own."""
    if not seeds.size:
        return SYSTEM
    own = some_seeds(seeds, [d])
    own[2] += np.uint64(t << 8)
    return own


def _draw_all(sets: list[Integers], nodes: list[Node], sources: list[Words], out: Integers) -> None:
    """Fill `out` with a draw of each data set.

    Of its words four are for each node, and the further ones for the places of four records each.
    """
    m, statistic = len(nodes), nodes[0].statistic
    offsets = np.cumsum([0, *(points.size for points in sets)])
    words, places = np.empty((m, len(sets), WORDS), np.uint64), np.empty(offsets[-1], np.int64)
    for i, (points, source) in enumerate(zip(sets, sources, strict=True)):
        pairs = WORDS // 2 * m - -points.size // 8
        own = np.empty(2 * pairs, np.uint64) if source.size else system_words(2 * pairs)
        if source.size:
            fill_words(source, pairs, own)
        words[:, i] = own[: WORDS * m].reshape(m, WORDS)
        into, some = places[offsets[i] : offsets[i + 1]], own[WORDS * m :].view(np.uint16)
        np.multiply(points, statistic.places, out=into)
        into += some[: points.size] & np.uint16(statistic.places - 1)
        into.sort()
    answers = np.zeros((m + 2, len(sets)), np.int64)
    answers[-1], parts = statistic.size, np.empty(PART * len(sets), np.int64)
    longest = max(points.size for points in sets)
    most, work = ranks.room(longest, max(node.statistic.public[1] for node in nodes), False)
    for j, (number, left, right, one) in enumerate(nodes):
        fill_parts(places, offsets, answers[left], answers[right], one.size, parts)
        into, (line, beyond, rate, _) = answers[number], one.public
        own = words[j].reshape(-1)
        few = draw_ranks(places, parts, line, beyond, rate, SYSTEM, own, most, into, work)
        for i in ranks.open_draws(few, into) if few else ():
            part = parts[PART * i : PART * (i + 1)]
            every = places[part[0] : part[0] + part[1]]
            spare = further_words(sources[i], 0, (j << 32) + SPARE)
            into[i] = ranks.settled(int(into[i]), places, part, every, one, False, spare)
    out[:] = answers[1:-1].T // statistic.places
