"""The exact law of one of several quantiles that are drawn at once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import NoReturn

import numpy as np

from .._numbers.quantile_line import Line
from .._parameters.grid import Grid
from .._typing import FloatArray, IntArray
from ..errors import ParameterError
from .elementary import log, quiet
from .grid import GridLaw, Sampler, grid_cells

MAX_CDF_ERROR = 5e-10  # largest error of a probability of points if a run is cut into pieces
# Costs, in sums of the chain: PIECE for each piece, 1 for each factor of a share, and CALL for a
# call that computes a factor for all pieces.
PIECE, CALL = 48, 1 << 10
NEGLIGIBLE_LOSS = 740.0  # nats below the highest density, for densities of 0: a finite number
OF_ALL = "quantiles that are drawn together have no utilities of their own"


class MarginalLaw(GridLaw):
    """The exact law of one of several numbers that are drawn at once: a `GridLaw` of its points.

    Its outputs have no utility, and it is known at one epsilon. **Numerics**: if a run of points
    may hold several answers, none of them is uniform on it. It is cut into pieces on which answers
    are taken to be uniform: into its points if these are few, and otherwise so finely that no `cdf`
    is off by more than 5e-10.
    """

    def __init__(
        self, grid: Grid, start: IntArray, masses: FloatArray, epsilon: float, sampler: Sampler
    ) -> None:
        count = np.diff(np.append(start, grid.size))
        with np.errstate(all="ignore"):
            loss = -log(masses / count)
        loss = np.minimum(loss - loss.min(), NEGLIGIBLE_LOSS)
        cells = grid_cells(grid, start, count, loss, 0.0)
        super().__init__(grid, cells, Fraction(1), Fraction(1), epsilon, sampler)

    @property
    def log_normalizer(self) -> float:
        """Refused: it is that of all quantiles together."""
        self._refused()

    def _refused(self, *_: object, **__: object) -> NoReturn:
        raise ParameterError(OF_ALL)

    _with_rate = _holds = utility = _refused
    _losses = property(_refused)


@quiet
def runs_of(
    line: Line, places: dict[tuple[int, int], FloatArray], spend: Callable[[int], None]
) -> tuple[IntArray, FloatArray]:
    """Return the starts of runs of equally likely points, and the runs' masses, of one answer.

    `places`: P(it is the r-th of k answers in a site), by (r, k); `spend` refuses too many sums.
    """
    points, most = line.points, max(k for _, k in places)
    several = sum((p for (_, k), p in places.items() if k > 1), np.zeros(points.size))
    # F(x), the probability that one of k answers is within a share x of the points, has a density
    # with a slope of at most k**2: F is linear in a piece up to k**2 / 8 times its squared share.
    pieces = np.ceil(most * np.sqrt(several / (8.0 * MAX_CDF_ERROR)))
    apart = line.left & (points > 1)  # the last point, which has the records, is its own piece
    inner = points - apart
    number = np.minimum(np.maximum(pieces, 1.0), inner).astype(np.int64)
    several_cuts = number + apart
    work = PIECE * int(several_cuts.sum())
    for (_, k), p in places.items():
        work += k * (int(several_cuts[p > 0.0].sum()) + CALL)
    spend(work)
    site = np.repeat(np.arange(points.size), several_cuts)
    place = np.arange(site.size) - (np.cumsum(several_cuts) - several_cuts)[site]
    upto = _cut(inner[site], number[site], place + 1)
    upto = np.where(place == number[site], points[site], upto)
    after = _cut(inner[site], number[site], place)
    masses = np.zeros(site.size)
    for (r, k), p in places.items():
        possible = np.flatnonzero(p[site] > 0.0)
        g = points[site[possible]].astype(np.float64)
        share = share_of_first(r, k, upto[possible], g, line.left) - share_of_first(
            r, k, after[possible], g, line.left
        )
        masses[possible] += p[site[possible]] * share
    return line.start[site] + after, np.maximum(masses, 0.0)


def _cut(points: IntArray, pieces: IntArray, place: IntArray) -> IntArray:
    """Return the number of points in the first `place` of `pieces` pieces, without overflow."""
    return points // pieces * place + points % pieces * place // pieces


def share_of_first(r: int, k: int, low: IntArray, g: FloatArray, left: bool) -> FloatArray:
    """Return P(the r-th of k answers in a run of g points is one of the first `low`).

    The answers are independent and uniform; with ties "left" all multisets are equally likely, as
    if each answer took one of the places and added another one like it (Polya's urn).
    """
    x, y, step = low / g, (g - low) / g, float(left) / g
    above, total = np.ones(g.size), np.ones(g.size)
    for a in range(k - 1, r - 1, -1):  # so that at least r are on the first points
        above *= y + step * (k - 1 - a)
        total = float(comb(k, a)) * above + (x + step * a) * total
    for i in range(r):
        total *= x + step * i
    for i in range(1, k):
        total /= 1.0 + step * i
    return total
