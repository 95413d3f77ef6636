"""The exact law of several quantiles that are drawn at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NoReturn, Protocol

import numpy as np

from .._compiler.rounding import check_rounding
from .._intake.record_sources import OnGrid, Source
from .._numbers.quantile_line import line_of
from .._parameters import validate
from .._parameters.grid import Grid, make_grid
from .._randomness.streams import seeds_of
from .._typing import AnyArray, ArrayLike, FloatArray, IntArray, RNGLike, SeedLike, WordArray
from ..errors import ParameterError
from ..pictures.law_subject import Laws
from .elementary import exp
from .law import Draws, Law, finite
from .quantile_chain import Chain
from .quantile_marginals import MarginalLaw, Parts, parts_of
from .quantile_targets import Bounds, least_epsilon
from .targets import Target


class Statistic(Protocol):
    """What draws m grid indices and a total at once; `lattice` None: the total is n."""

    @property
    def q(self) -> tuple[Fraction, ...]:
        """The quantiles."""
        ...

    @property
    def rate(self) -> Fraction:
        """Nats for a unit of the distance."""
        ...

    @property
    def lattice(self) -> int | None:
        """The step of totals."""
        ...

    @property
    def grid(self) -> Grid:
        """The public points."""
        ...

    @property
    def left(self) -> int:
        """1: records that equal an answer are above it; 0: spread."""
        ...

    def simulate(self, source: Source, seeds: WordArray, size: int, threads: int, /) -> IntArray:
        """`size` rows of grid indices and the total."""
        ...


class QuantilesLaw(Law[Any, Any]):
    """The exact distribution of several quantiles that are released at once.

    Made by ``mechanism.law(records)``. It holds the grid points of the records: **it is private
    data**, and so is a pickle of it; its repr shows nothing of them. No simulation is needed, with
    ties neither.

    Notes
    -----
    Sums over all answers in order, of which there are N**m / m!, and over all totals, by a
    recursion from answer to answer, forward and backward. It takes O(m) for each rank that
    matters and each total, about 25 of them: a second for n = 10_000, m = 9 and epsilon = 1.
    `epsilon_for` is about all quantiles, each with its own truth; it takes as long as some 50 laws.

    **Numerics**: logarithms of sums of terms >= 0; probabilities agree with sums in fractions to
    1e-9, and what is left out is below 1e-20 of the whole.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles", ICML 2021 (the weight as a
    product over neighbouring answers).

    Examples
    --------
    >>> import fastexp as fx
    >>> quartiles = fx.Quantiles([0.25, 0.5, 0.75], epsilon=1.0, bounds=(0, 60), step=1)
    >>> law = quartiles.law([i * i % 61 for i in range(30)])
    >>> law.expected_error().round(3)
    array([3.302, 5.891, 3.663])
    >>> law.expected_rank_error().round(3)
    array([1.699, 1.719, 1.696])
    >>> law.marginal(1).ppf([0.05, 0.5, 0.95])
    array([17, 27, 40])
    >>> round(law.total().mean(), 3)
    29.703
    """

    def __init__(
        self,
        statistic: Statistic,
        points: IntArray,
        records: IntArray,
        epsilon: float,
        answer: Callable[[IntArray], Any],
        truth: Callable[[], Any],
    ) -> None:
        self._statistic, self._answer, self._truth = statistic, answer, truth
        self._source, self._epsilon = OnGrid(statistic.grid, points, records), epsilon
        self._marginals: dict[int, tuple[MarginalLaw, Parts]] = {}

    @cached_property
    def _chain(self) -> Chain:
        s, size = self._statistic, self._statistic.grid.size
        line = line_of(self._source.points, self._source.records, size, bool(s.left))
        return Chain(line, size, self._source.total(), s.q, float(s.rate), s.lattice)

    def _chain_at(self, epsilon: float, step: int) -> Chain:
        s, size = self._statistic, self._statistic.grid.size
        rate = float(s.rate * Fraction(epsilon) / Fraction(self._epsilon))
        lattice = None if s.lattice is None else step
        return Chain(self._chain.line, size, self._source.total(), s.q, rate, lattice)

    def _identity(self) -> tuple[object, ...]:
        s = self._statistic
        public = self._epsilon, s.q, s.rate, s.lattice, s.left, s.grid
        return *public, self._source.points, self._source.records

    @property
    def q(self) -> tuple[Fraction, ...]:
        """The quantiles, exactly."""
        return self._statistic.q

    @property
    def grid(self) -> Grid:
        """The public points."""
        return self._statistic.grid

    @cached_property
    def truth(self) -> Any:
        """Not private: the quantiles of the data without noise; None without records."""
        check_rounding()
        return self._truth()

    @property
    def log_normalizer(self) -> float:
        """ln of the sum of exp(-c * distance) over all totals and answers, c the rate."""
        check_rounding()
        return self._chain.log_whole

    def marginal(self, j: int) -> MarginalLaw:
        """The exact law of one of the quantiles.

        Parameters
        ----------
        j : int
            Which of them, 0, ..., m - 1.

        Returns
        -------
        MarginalLaw
            A `GridLaw`, with `cdf`, `pmf`, `ppf`, `mean`, `expected_error`, `error_quantile`.
        """
        check_rounding()
        return self._one(validate.counting("j", j, least=0, most=len(self.q) - 1))[0]

    def total(self) -> MarginalLaw:
        """The exact law of the private number of records.

        Returns
        -------
        MarginalLaw
            On the multiples of its step that count.

        Raises
        ------
        ParameterError
            If the number of records is public, as under replace.
        """
        check_rounding()
        step = self._statistic.lattice
        if step is None:
            raise ParameterError('total needs neighbors="add-remove": n is public under "replace"')
        totals, logs = self._chain.totals
        low = int(totals[0])
        masses = np.zeros((int(totals[-1]) - low) // step + 2)
        masses[(totals - low) // step] = exp(logs - self._chain.log_whole)
        grid = make_grid((low, low + step * (masses.size - 1)), step)
        law = MarginalLaw(grid, np.arange(masses.size), masses, self._epsilon, Column(self, -1))
        law.truth = self._source.total()
        return law

    def expected_error(self, truths: ArrayLike | None = None) -> FloatArray:
        """E|output - truth| of each quantile.

        Parameters
        ----------
        truths : array_like, shape (m,), optional
            Default: `truth`.

        Returns
        -------
        ndarray of float64, shape (m,)
            NaN without records, unless there are truths.

        Raises
        ------
        ParameterError, ParameterTypeError
        """
        check_rounding()
        m, values = len(self.q), self.truth if truths is None else truths
        if values is None:
            return np.full(m, np.nan)
        numbers = validate.exact_reals("truths", values)
        if numbers.shape != (m,):
            raise ParameterError(f"truths must have shape ({m},), got {numbers.shape}")
        if truths is not None:
            finite("truths", numbers)
        errors = np.full(m, np.inf)  # records may be infinite, outputs are not
        for j in np.flatnonzero(np.isfinite(numbers)).tolist():
            errors[j] = self._one(j)[0].expected_error(numbers[j])
        return errors

    def expected_rank_error(self) -> FloatArray:
        """How many records lie between each output and its target, on average.

        An output with L records below it and E on its point is off by the distance of q * n
        from [L, L + E].

        Returns
        -------
        ndarray of float64, shape (m,)
        """
        check_rounding()
        errors = np.empty(len(self.q))
        for j, q in enumerate(self.q):
            parts = self._one(j)[1]
            target = float(q * self._source.total())
            short = np.maximum(parts.below - target, target - (parts.below + parts.records))
            errors[j] = float((np.maximum(short, 0.0) * parts.masses).sum())
        return errors

    def _one(self, j: int) -> tuple[MarginalLaw, Parts]:
        if j not in self._marginals:
            self._marginals[j] = self._on(self._chain, j)
        return self._marginals[j]

    def _on(self, chain: Chain, j: int) -> tuple[MarginalLaw, Parts]:
        line = chain.line
        ends = np.searchsorted(self._source.points, line.start + line.points - 1)
        last = np.zeros(line.start.size, np.int64)
        hit = ends < self._source.points.size
        hit[hit] = self._source.points[ends[hit]] == (line.start + line.points - 1)[hit]
        last[hit] = self._source.records[ends[hit]]
        parts = parts_of(line, last, chain.places[j])
        law = MarginalLaw(self.grid, parts.start, parts.masses, self._epsilon, Column(self, j))
        law._statistic = partial(self._truth_of, j)
        return law, parts

    def _truth_of(self, j: int) -> Any:
        return None if self.truth is None else self.truth[j].item()

    def _draw(self, draws: Draws) -> Any:
        return self._answer(self._indices(draws))

    def _indices(self, draws: Draws) -> IntArray:
        validate.method(draws.method, ("envelope",))
        size, threads = validate.size(draws.size), validate.threads(draws.threads)
        seeds = seeds_of(draws.rng, validate.streams(draws.streams, 1))
        rows = self._statistic.simulate(self._source, seeds, 1 if size is None else size, threads)
        return rows[0] if size is None else rows

    def _epsilon_for(self, target: Target) -> float:
        if not target.of_errors:
            raise ParameterError(f"{target.name} needs utilities: take error or expected_error")
        if target.truth is not None:
            raise ParameterError("truth must be None for several quantiles: each has its own")
        truths = [target.about(partial(self._truth_of, j)).truth for j in range(len(self.q))]
        chains = dict[tuple[float, int], Chain]()

        def sums(j: int, epsilon: float, step: int) -> Bounds:
            chain = chains.get((epsilon, step))
            if chain is None:
                chain = chains[epsilon, step] = self._chain_at(epsilon, step)
            return self._on(chain, j)[0]._bounds(target, truths[j], chain.log_whole)

        lattice = self._statistic.lattice is not None
        return max(least_epsilon(partial(sums, j), lattice=lattice) for j in range(len(self.q)))

    def _subject(self) -> Laws:
        laws = [self._one(j)[0] for j in range(len(self.q))]
        labels = [{"q": f"q = {float(q):g}"} for q in self.q]
        truths = [law.truth for law in laws]
        return Laws(self.mechanism, "output", laws, truths, self.grid, by=("q",), labels=labels)


@dataclass(frozen=True)
class Column:
    """Draws of one of the numbers: a column of the draws of all of them."""

    law: QuantilesLaw
    j: int

    def sample(
        self,
        size: int | None,
        rng: SeedLike | RNGLike | None,
        streams: ArrayLike | None,
        threads: int,
        method: str | None,
    ) -> Any:
        """A column of the bytes of ``mechanism.sample``."""
        indices = self.law._indices(Draws(size, rng, streams, threads, method))[..., self.j]
        values: AnyArray = indices if self.j < 0 else self.law.grid.values(indices)
        return values.item() if size is None else values

    def with_rate(self, rate: Fraction) -> NoReturn:
        """Refused: the law of all of them is another one, too."""
        raise ParameterError(f"a column of draws has one rate, got {rate}")


def quantiles_law(
    statistic: Statistic,
    source: Source,
    epsilon: float,
    truth: Callable[[Source], Any],
    answer: Callable[[IntArray], Any],
) -> QuantilesLaw:
    """The law of a statistic, which holds the records.

    `truth`: the quantiles of records, of those that are held; `answer`: what a mechanism makes of
    rows of grid indices and totals.
    """
    records = source.held(statistic.grid)
    points, number = records.counts(statistic.grid)
    law = QuantilesLaw(statistic, points, number, epsilon, answer, partial(truth, records))
    if isinstance(records, OnGrid):
        law.truth = truth(source)
    return law
