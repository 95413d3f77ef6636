"""Laws of mechanisms: figures, draws, the epsilon that is enough, pictures."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import fields, replace
from decimal import ROUND_CEILING, Context
from html import escape
from typing import Any

import numpy as np

from ..data.segments import Segments
from ..draws.words import seeds_of
from ..errors import ParameterError
from ..laws.figures import TIES, Figures, within
from ..laws.runs import Runs
from ..parameters import checks

HIGHEST, RATIO, COUNT = 1e6, 1.01, 3472  # epsilons down to 1e-9
UPWARDS = Context(prec=4, rounding=ROUND_CEILING)
BARS, TAIL, FEW = 200, 5e-4, 20  # of a picture
HIDDEN = "A law holds private data: none of its figures is shown here."


class Law(Figures):
    """The exact distribution of a mechanism's answer on one data set, and its figures.

    Made by ``mechanism.law(data)``. **Not private**: all figures, pictures and draws are functions
    of the data, for public or simulated data. Its repr shows none of them, and it has no hash.

    Outcomes are numbers, times, or indices of candidates; of `TopK` numbers of selections, in the
    order of ``itertools.permutations(range(k), rounds)``. A loss is the best utility less the
    obtained one: in records to change of `Median` and `Quantile`, in money of `Price`, the distance
    of the answer beyond that of the nearest one of `Laplace`. An error is the distance of a number
    from `truth`.

    Attributes
    ----------
    mechanism : Mechanism
        The one that this is the law of.

    Notes
    -----
    **Numerics**: float64. Probabilities are within a relative 1e-13 or so of the exact law, those
    below 1e-300 may be 0, and sums are taken from their own end, so that tails keep their digits.

    Examples
    --------
    >>> import fastexp as fx
    >>> ages = [23, 31, 35, 35, 38, 41, 44, 52, 58, 67] * 5
    >>> law = fx.Median(epsilon=1.0, bounds=(0, 120), step=1).law(ages)
    >>> law.truth, round(law.expected_error(), 3), law.error_quantile(0.95)
    (39.5, 1.026, 1.5)
    >>> law.ppf([0.1, 0.9]), round(law.sf(50), 6), round(law.expected_loss(), 3)
    (array([38, 41]), 2.3e-05, 0.102)
    >>> law
    Law(Median(epsilon=1.0, bounds=(0, 120), step=1, neighbors='add-remove', convention='weak'))
    """

    __hash__ = None  # type: ignore[assignment]  # it would be a fingerprint of the data

    def __init__(self, mechanism: Any, data: Segments, runs: Runs) -> None:
        super().__init__(runs)
        self.mechanism, self._data = mechanism, data

    def __repr__(self) -> str:
        return f"Law({self.mechanism!r})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{x.name}</th><td>{escape(repr(getattr(self.mechanism, x.name)))}</td></tr>"
            for x in fields(self.mechanism)
            if x.repr
        )
        return f"<table><caption>{type(self.mechanism).__name__}: {HIDDEN}</caption>{rows}</table>"

    def sample(self, size: int | None = None, *, rng: Any = None) -> Any:
        """Return the draws of ``mechanism.sample(data, size, rng=rng)``, byte by byte.

        Parameters
        ----------
        size : int, optional
            The number of draws; default: one, not an array.
        rng : None, int, sequence of int, SeedSequence, Generator or BitGenerator
            The seed, or a generator of `numpy.random`, which moves on.
        """
        checks.arithmetic()
        draws = None if size is None else checks.whole("size", size, 1, checks.MOST_SIZE)
        drawn = self.mechanism._draw(self._data, seeds_of(rng, None, 1), draws)
        return self.mechanism._simulated(drawn)

    @property
    def log_normalizer(self) -> float:
        """The natural logarithm of the sum of all weights of the exponential mechanism."""
        if self._runs.best is None:
            raise ParameterError("log_normalizer needs a law of the exponential mechanism")
        return self._runs.best + self._log_total

    def loss(self, x: Any) -> Any:
        """Return the best utility less that of an outcome, elementwise.

        Parameters
        ----------
        x : array_like
            Outcomes: numbers, times, or indices of candidates.

        Returns
        -------
        float or ndarray of float64
            In units of the utility, in the shape of `x`.
        """
        at = self._grid.last(self._grid.numbers(x))
        run = self._run(at)
        losses = self._runs.loss[run] + self._slope[run] * np.abs(at - self._ends[run])
        return losses if losses.ndim else losses.item()

    def summary(self, probability: float = 0.95) -> dict[str, float]:
        """Return figures by their names: of errors if the data have a statistic, and of losses.

        Parameters
        ----------
        probability : float
            Of the quantiles, in [0, 1].

        Returns
        -------
        dict of str to float
            probability, truth, bias, std, expected_error, error_quantile (these five of numbers
            only), expected_loss, loss_quantile.
        """
        figures = {"probability": probability}
        if self.truth is not None:
            figures |= {
                "truth": self.truth,
                "bias": float(self.mean() - self.truth),
                "std": self.std(),
                "expected_error": self.expected_error(),
                "error_quantile": self.error_quantile(probability),
            }
        return figures | {
            "expected_loss": self.expected_loss(),
            "loss_quantile": self.loss_quantile(probability),
        }

    def epsilon_for(
        self,
        *,
        error: float | None = None,
        loss: float | None = None,
        expected_error: float | None = None,
        expected_loss: float | None = None,
        probability: float | None = None,
        truth: float | None = None,
    ) -> float:
        """Return the epsilon that is enough for an accuracy on these data: not private.

        To choose epsilon by private data is itself a release: take public data, or a stand-in.

        Parameters
        ----------
        error, loss : float, optional
            >= 0: P(error <= that) >= `probability`, or the same of losses.
        expected_error, expected_loss : float, optional
            >= 0: the expectation is at most that. One of the four is given.
        probability : float, optional
            In [0, 1], with `error` or `loss`.
        truth : float, optional
            What errors are from; default: the statistic of the data.

        Returns
        -------
        float
            In nats: the least of the numbers 1e6 / 1.01**i, rounded up to four digits, at which and
            above which the target holds.

        Raises
        ------
        ParameterError, ParameterTypeError
            If not one target is given, or it fails at 1e6.

        Notes
        -----
        Losses fall in distribution as epsilon grows, so that bisection finds the number. Errors may
        rise, so that all numbers are tried, from above.
        """
        limits = {
            "error": error,
            "loss": loss,
            "expected_error": expected_error,
            "expected_loss": expected_loss,
        }
        given = {name: value for name, value in limits.items() if value is not None}
        if len(given) != 1 or (probability is None) == bool(given.keys() & {"error", "loss"}):
            raise ParameterError(
                "one of error, loss (with probability), expected_error, expected_loss must be given"
            )
        ((name, value),) = given.items()
        level = checks.numbers_of("probability", probability or 0.0, 0, 1)
        limit = float(checks.numbers_of(name, value, 0)) * (1 + TIES)
        if self.mechanism.epsilon is None:
            raise ParameterError("epsilon_for needs a mechanism with epsilon, got one with rho")
        x = self._truth(truth) if name.endswith("error") else 0.0

        def holds(epsilon: float) -> bool:
            try:
                mechanism = replace(self.mechanism, epsilon=epsilon)
            except ParameterError:  # the mechanism has no such epsilon
                return False
            return _meets(Figures(mechanism._runs(self._data)), name, limit, level, x)

        epsilons = [
            float(UPWARDS.create_decimal_from_float(HIGHEST / RATIO**i)) for i in range(COUNT)
        ][::-1]
        if name.endswith("loss"):
            i = bisect_left(epsilons, True, key=holds)
        else:
            i = next((i for i in range(COUNT, 0, -1) if not holds(epsilons[i - 1])), 0)
        if i == COUNT:
            raise ParameterError(f"{name} must be larger: no epsilon up to 1e6 reaches it")
        return epsilons[i]

    def plot(self, ax: Any = None) -> Any:
        """Draw the law: probabilities of candidates, or of numbers, with the truth: not private.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where; default: a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            Of at most 20 candidates; else of numbers, without the last 0.05 % on either side.
        """
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.figure().add_subplot()
        if self.truth is None and self._grid.size <= FEW:
            ax.bar(range(self._grid.size), self.probabilities)
        else:
            low, high = self._grid.numbers(self.ppf([TAIL, 1 - TAIL])).tolist()
            first, last = self._grid.last(np.array([low, high])).tolist()
            if last - first < BARS:
                t = np.arange(first, last + 1)
                points = self._grid.values(t)
                gaps = np.diff(points)
                ax.bar(points, np.exp(self._log_pmf(t)), 0.8 * (gaps.min() if gaps.size else 1))
            else:
                edges = np.linspace(low, high, BARS + 1)
                heights = np.diff(self._tails(self._grid.last(edges))[0])
                heights[0] += np.exp(self._log_pmf(first))
                ax.stairs(heights, edges, fill=True)
        if self.truth is not None:
            ax.axvline(self.truth, color="black", linestyle="--", label="truth")
            ax.legend()
        ax.set(xlabel="outcome", ylabel="probability", title=f"{type(self.mechanism).__name__}")
        return ax


def _meets(law: Figures, name: str, limit: float, level: Any, x: float) -> bool:
    """Return whether a law meets a target."""
    if name == "expected_error":
        return law.expected_error(x) <= limit
    if name == "expected_loss":
        return law.expected_loss() <= limit
    inside = law._around(x, limit) if name == "error" else law._losses(limit)
    return bool(within(level, *inside))
