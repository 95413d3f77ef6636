"""Several quantiles by recursion, privately."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from .._numbers.quantile_tree import QuantileTree
from .._typing import ABSENT, Neighbors, Number
from ..errors import ParameterError
from ..privacy import Guarantee, amounts
from ..privacy.rates import tree_epsilon
from ._number import ASSUMES, Bounds, Points
from ._several import QuantilesMechanism, Which
from .base import frozen

if TYPE_CHECKING:
    from .._intake.record_sources import RecordSource
    from ..grouped.segments import Draws, Segments
    from ..grouped.words import WordSource


@frozen
class ApproximateQuantiles(
    QuantilesMechanism,
    promise="ε-DP under `neighbors`, of all answers together; of several no bounded range.",
):
    """Several quantiles by recursion: the middle one, then those on each side of it.

    Each is a draw of `Quantile` (weak) from the records on its side, at a part of ε. `Quantiles`,
    in one draw, is more accurate except for many quantiles of few records within wide bounds.

    Parameters
    ----------
    q : sequence of float, Decimal or Fraction
        Each in (0, 1), increasing, at most 4,096 of them. Floats are read as the decimals that they
        print. Either this or `count`.
    epsilon : float
        Privacy parameter of all quantiles together, in nats; in [1e-9, 1e6] unless `any_epsilon`.
    bounds
    count : int, optional
        The number of evenly spaced quantiles, instead of `q`: 9 gives the deciles.
    step, grid, neighbors, any_epsilon

    Raises
    ------
    ParameterError, ParameterTypeError

    Notes
    -----
    Quantile q_j among the records between answers to q_a and q_b is (q_j - q_a) / (q_b - q_a) of
    them, and its answer lies between these answers: they come in order. A share with a denominator
    above 10**9 is rounded to one below.

    An answer cannot split the records that lie on its own point. So the draws are made on a finer
    public grid: each point becomes 2**k points, with k at most 20 and at most 2**52 points in all.
    A record is moved to one of the points of its own at random, and an answer is rounded down.

    One quantile is that of `Quantile`, with the same bytes. There is no law in closed form: `law`
    and `accuracy` raise a `ParameterError`.

    **Privacy**: ε-DP under `neighbors`, and ε²/(8·l) of rho, with l = ⌊log₂ m⌋ + 1 levels of the
    recursion. Fix the finer points of all records. Given the answers of the levels before, the
    draws of a level look at disjoint sets of records, chosen by these answers alone; so a record
    that is added or removed changes one draw a level, of bounded range ε/l, hence also ε/l-DP and
    (ε/l)²/8 of rho, and l levels compose, adaptively, to ε and ε²/(8·l). (Bounded ranges do not
    compose so.) Neighbouring data sets have the same finer points for the records that they share,
    and the promise holds for each choice of them: hence for the mixture, as ratios of
    probabilities and Rényi divergences of mixtures are at most the greatest of their parts'.
    Under "replace" a draw has ε/(2·l): one record is removed and one added, two steps, which cost
    twice as much ε and four times as much rho.

    **Numerics**: as of `Quantile`; words of randomness choose the finer points.

    References
    ----------
    Kaplan, Schnapp and Stemmer, "Differentially private approximate quantiles", ICML 2022.

    Examples
    --------
    >>> import fastexp as fx
    >>> ages = [23, 31, 35, 35, 38, 41, 44, 52, 58, 67] * 50
    >>> deciles = fx.ApproximateQuantiles(count=9, epsilon=1.0, bounds=(0, 120), step=1)
    >>> answers = deciles.release(ages)
    >>> len(answers), answers == sorted(answers)
    (9, True)
    """

    q: Which = ABSENT
    epsilon: float = ABSENT
    bounds: Bounds = ABSENT
    _: KW_ONLY
    count: int | None = field(default=None, compare=False)
    step: Number | None = None
    grid: Points = ABSENT
    neighbors: Neighbors = "add-remove"
    any_epsilon: bool = field(default=False, compare=False)

    def _promise(self) -> Guarantee:
        if self._alone is not None:
            return super()._promise()
        levels = len(self.q).bit_length()
        rho = amounts.up(amounts.exact(self.epsilon) ** 2 / (8 * levels))
        return Guarantee(self.epsilon, self.neighbors, None, rho, 0.0, ASSUMES)

    @cached_property
    def _statistic(self) -> QuantileTree:
        """The statistic that draws."""
        part = tree_epsilon(self.epsilon, len(self.q), self.neighbors)
        return QuantileTree(self._q, part, self.grid)

    def _several_draws(self, segments: Segments, words: WordSource, size: int) -> Draws:
        from ..grouped.quantiles import TreeDraws

        return TreeDraws(self._statistic, segments, words, size)

    def _law_of(self, source: RecordSource) -> NoReturn:  # noqa: ARG002  # whatever the records are
        raise ParameterError("ApproximateQuantiles has no law in closed form: sample it")
