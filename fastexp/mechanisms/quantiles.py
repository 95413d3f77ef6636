"""Several quantiles of the same records."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

from ..data.segments import Segments
from ..draws import quantiles
from ..errors import ParameterError, ParameterTypeError
from ..parameters import checks
from ..privacy.guarantee import Guarantee, recursion_guarantee
from ..privacy.rates import node_epsilon
from ..types import Neighbors, Number, Step, Words
from .base import Mechanism
from .numbers import PUBLIC, NumberMechanism

MOST_QUANTILES = 4096


@dataclass(frozen=True)
class Quantiles(NumberMechanism):
    """Several quantiles by recursion: the middle one, then those on each side of it.

    Each is a draw of `Quantile` (weak) from the records on its side, at a part of epsilon.

    Parameters
    ----------
    q : sequence of float, Decimal or Fraction
        2 to 4,096 quantiles in (0, 1), increasing, as `Quantile` reads them. Either this or
        `count`.
    epsilon : float
        In nats, > 0, of all answers together.
    bounds, step, grid, neighbors
        As for `Median`.
    count : int, optional
        The number of evenly spaced quantiles: 9 gives the deciles.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range or of the wrong type, or `step` does not fit.

    Notes
    -----
    `release` returns an array of the answers, in order; in `sample` they are the last axis.

    Quantile q_j among the records between the answers to q_a and q_b is (q_j - q_a) / (q_b - q_a)
    of them, and its answer lies between these answers. A share with a denominator above 10**9 is
    rounded to one below.

    An answer cannot split the records that lie on its own point. So each point of the grid becomes
    2**k places, with k at most 16 and at most 2**52 places in all. A record is moved to one of the
    places of its point at random, and an answer is rounded down to its point.

    **Privacy**: epsilon-differential privacy under `neighbors`, without a bounded range, and with
    rho = l · `privacy.selection_rho` (ε/l) <= ε²/(8·l), where l = ⌊log₂ m⌋ + 1 is the number of
    levels of the recursion for m quantiles.
    Fix the places of all records. Given the answers of the levels before, the draws of a level look
    at disjoint sets of records: on which side of an answer a record lies depends on its place and
    this answer alone, not on other records. So a record that is added or removed changes one draw a
    level, of range ε/l, and l levels compose to ε and to this rho (bounded ranges do not add up to
    one). Neighbouring data sets have the same places for the records that they share, and the
    promise holds for each choice of them: hence for the mixture, as no ratio of probabilities and
    no Rényi divergence of mixtures exceeds the greatest one of their parts. Under "replace" a draw
    has ε/(2·l): a record that moves may leave one draw of a level and enter another, or stay in the
    same one; both have the range ε/l in all.

    **Numerics**: as of `Quantile`; each draw is exact. More than 2**16 records at one point share
    places, and are split with an error of their number / 2**17 ranks.

    References
    ----------
    Kaplan, Schnapp and Stemmer, "Differentially private approximate quantiles", ICML 2022.

    Examples
    --------
    >>> import fastexp as fx
    >>> ages = [23, 31, 35, 35, 38, 41, 44, 52, 58, 67] * 50
    >>> deciles = fx.Quantiles(count=9, epsilon=1.0, bounds=(0, 120), step=1)
    >>> answers = deciles.release(ages)
    >>> answers.size, answers.tolist() == sorted(answers)
    (9, True)
    """

    q: Any = None
    epsilon: Number = 0
    bounds: Any = None
    _: KW_ONLY
    step: Step | None = None
    neighbors: Neighbors = "add-remove"
    count: int | None = None
    grid: Any = field(default=None, repr=False)
    _nodes: list[quantiles.Node] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        q = _quantiles(self.q, self.count)
        self._set_statistic(q[0], self.bounds, self.step, "weak")
        part = node_epsilon(self.epsilon, len(q), self.neighbors)
        nodes = quantiles.make_nodes(q, part, self._statistic.grid)
        vars(self).update(q=q, count=None, _nodes=nodes)

    @property
    def guarantee(self) -> Guarantee:
        """The promise of one release."""
        return recursion_guarantee(self.epsilon, self.neighbors, len(self.q).bit_length(), PUBLIC)

    _runs = Mechanism._runs

    def _draw(self, data: Segments, seeds: Words, size: int | None) -> Any:
        return quantiles.draw(data, self._nodes, seeds, size)


def _quantiles(q: Any, count: int | None) -> tuple[Fraction, ...]:
    """Return the exact quantiles that the parameters state."""
    if (q is None) == (count is None):
        raise ParameterError("q (the quantiles) or count must be given, and not both")
    if count is not None:
        parts = checks.whole("count", count, 2, MOST_QUANTILES) + 1
        return tuple(Fraction(j, parts) for j in range(1, parts))
    try:
        values = list(q)
    except TypeError:
        kind = type(q).__name__
        raise ParameterTypeError(f"q must be a sequence of quantiles, got {kind}") from None
    checks.whole("the number of quantiles in q", len(values), 2, MOST_QUANTILES)
    exact = tuple(checks.quantile("q", value) for value in values)
    for i, (below, above) in enumerate(pairwise(exact)):
        if not below < above:
            raise ParameterError(f"q must be increasing, got {values[i + 1]} after {values[i]}")
    return exact
