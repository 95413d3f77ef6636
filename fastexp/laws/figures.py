"""Figures of a law of runs: outcomes, errors, losses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..parameters import checks
from ..types import Array, Floats, Integers
from .privacy_loss import PrivacyLoss
from .runs import Runs, log_sum, places, quiet, share, sizes

MOST_LISTED = 1 << 24  # outcomes
PARTS = 16  # of a range of which one is kept
TIES = 1e-12  # losses that differ by so much of themselves are equal
LARGEST = np.int64(0x7FEFFFFFFFFFFFFF)  # the word of the largest double


class Figures:
    """What a law says. Outcomes are points of a grid: numbers, or indices of candidates."""

    def __init__(self, runs: Runs) -> None:
        self._runs, self._grid = runs, runs.grid
        self._size = sizes(runs.start, runs.grid.size)
        flat = np.zeros(runs.start.size)
        self._fall = flat if runs.fall is None else runs.fall
        self._slope = flat if runs.slope is None else runs.slope
        self._rises = flat > 0 if runs.rises is None else runs.rises
        top = runs.logs.max()
        weights = np.exp(runs.logs - top)
        total = weights.sum()
        self._mass, self._log_total = weights / total, float(top + np.log(total))
        self._signs = 1.0 - 2.0 * self._rises  # of the way from the best end
        self._ends = runs.start
        if self._rises.any():
            self._ends = runs.start + (self._rises * (self._size - 1)).astype(np.int64)

    @cached_property
    def _places(self) -> tuple[Floats, Floats]:
        return places(self._fall, self._size)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """The sums of masses before each run and in all, and those from each run on."""
        return sums(self._mass)

    def pmf(self, x: Any) -> Any:
        """Return P(outcome = x), elementwise.

        Parameters
        ----------
        x : array_like
            Numbers, times, or indices of candidates.

        Returns
        -------
        float or ndarray of float64
            In the shape of `x`; 0 between outcomes.
        """
        numbers = self._grid.numbers(x)
        at = self._grid.last(numbers)
        known = np.maximum(at, 0)
        is_one = (at >= 0) & (self._grid.values(known) == numbers)
        return _plain(np.where(is_one, np.exp(self._log_pmf(known)), 0.0))

    def cdf(self, x: Any) -> Any:
        """Return P(outcome <= x), elementwise.

        Parameters
        ----------
        x : array_like
            Numbers, finite or not, or times.

        Returns
        -------
        float or ndarray of float64
            In the shape of `x`.
        """
        return _plain(self._tails(self._grid.last(self._grid.numbers(x)))[0])

    def sf(self, x: Any) -> Any:
        """Return P(outcome > x), elementwise: summed from above, so small ones keep their digits.

        Parameters
        ----------
        x : array_like
            Numbers, finite or not, or times.

        Returns
        -------
        float or ndarray of float64
            In the shape of `x`.
        """
        return _plain(self._tails(self._grid.last(self._grid.numbers(x)))[1])

    def ppf(self, p: Any) -> Any:
        """Return the least outcome x with P(outcome <= x) >= p, elementwise.

        Parameters
        ----------
        p : array_like
            In [0, 1]. Above 1/2 the decision is P(outcome > x) <= 1 - p, so that 1 gives the last
            outcome that is possible at all.

        Returns
        -------
        number, time or ndarray
            Outcomes, in the shape of `p`.

        Raises
        ------
        ParameterError, ParameterTypeError
            If a level is outside [0, 1], or no number.
        """
        level = checks.numbers_of("p", p, 0, 1)
        most = np.full(level.shape, self._grid.size - 1)
        return self._grid.shown(_least(most, lambda t: within(level[..., None], *self._tails(t))))

    @property
    def probabilities(self) -> Floats:
        """P(outcome) of each of at most 2**24 outcomes, in their order."""
        return np.exp(self.log_probabilities)

    @property
    def log_probabilities(self) -> Floats:
        """The natural logarithms of `probabilities`."""
        if self._grid.size > MOST_LISTED:
            raise ParameterError("probabilities are listed for at most 2**24 outcomes: use pmf")
        return self._log_pmf(np.arange(self._grid.size))

    def mean(self) -> float:
        """Return the expected outcome."""
        middles = self._grid.values(self._ends) + self._signs * self._places[0] * self._grid.width
        return float(self._mass @ middles)

    def std(self) -> float:
        """Return the standard deviation of the outcome."""
        away, width = self._away(self.mean()), self._grid.width
        return float(np.sqrt(self._mass @ (away**2 + self._places[1] * width**2)))

    # Errors

    @property
    def truth(self) -> Any:
        """The statistic of the data, from which errors are; None without records."""
        return self._runs.truth

    def expected_error(self, truth: float | None = None) -> float:
        """Return E|outcome - truth|.

        Parameters
        ----------
        truth : float, optional
            Default: the statistic of the data, not clamped to the bounds.

        Returns
        -------
        float
            In units of the outcomes: a sum of terms >= 0.

        Raises
        ------
        ParameterError
            If there is no finite truth, as of candidates or without records.
        """
        x = self._truth(truth)
        away, last = self._away(x), int(self._grid.last(x))
        errors = np.abs(away)
        if last >= 0:  # some outcomes of this run are below x: their errors have the other sign
            run = int(self._run(last))
            errors[run] = away[run] + 2.0 * self._below(run, last, x)
        return float(self._mass @ errors)

    def error_quantile(self, p: Any, truth: float | None = None) -> Any:
        """Return the least r with P(|outcome - truth| <= r) >= p, elementwise.

        Parameters
        ----------
        p : array_like
            In [0, 1].
        truth : float, optional
            Default: the statistic of the data.

        Returns
        -------
        float or ndarray of float64
            In units of the outcomes, in the shape of `p`.

        Raises
        ------
        ParameterError, ParameterTypeError
            If a level is outside [0, 1] or no number, or there is no finite truth.
        """
        level, x = checks.numbers_of("p", p, 0, 1), self._truth(truth)
        return _plain(_least_double(level, lambda r: within(level[..., None], *self._around(x, r))))

    def _truth(self, truth: Any) -> float:
        known = self.truth if truth is None else truth
        if known is None or not -np.inf < known < np.inf:
            raise ParameterError("truth must be a finite number: these data have none")
        return float(known)

    def _away(self, x: float) -> Floats:
        """Return the mean outcome of each run, less a number."""
        ends = self._grid.offsets(self._ends, x)
        away: Floats = ends + self._signs * self._places[0] * self._grid.width
        return away

    def _below(self, run: int, last: int, x: float) -> float:
        """Return E max(x - outcome, 0) in a run whose outcomes up to `last` are at most x."""
        z, n, start = self._fall[run], self._size[run], int(self._runs.start[run])
        k, rises = float(last + 1 - start), self._rises[run]
        middle = self._signs[run] * places(z, k)[0] * self._grid.width
        away = self._grid.offsets(last if rises else start, x) + middle
        return float(-share(z, k, n, rises) * away)

    def _around(self, x: float, r: Any) -> tuple[Floats, Floats]:
        """Return P(|outcome - x| <= r) and P(> r)."""
        below, least = self._tails(self._grid.last(x, np.nextafter(-r, -np.inf)))
        upto, above = self._tails(self._grid.last(x, r))
        return np.where(below > 0.5, least - above, upto - below), below + above

    # Losses

    def expected_loss(self) -> float:
        """Return the best utility less that of the outcome, in expectation."""
        return float(self._mass @ (self._runs.loss + self._slope * self._places[0]))

    def tail(self, loss: Any) -> Any:
        """Return P(loss >= that), elementwise; losses that differ by rounding count as equal.

        Parameters
        ----------
        loss : array_like
            In units of the utility.

        Returns
        -------
        float or ndarray of float64
            In the shape of `loss`: summed from the greatest loss, so small ones keep their digits.
        """
        least = checks.numbers_of("loss", loss)
        return _plain(np.where(least <= 0, 1.0, self._losses(least * (1 - TIES))[1]))

    def loss_quantile(self, p: Any) -> Any:
        """Return the least t with P(loss <= t) >= p, elementwise.

        Parameters
        ----------
        p : array_like
            In [0, 1].

        Returns
        -------
        float or ndarray of float64
            In units of the utility, in the shape of `p`.
        """
        level = checks.numbers_of("p", p, 0, 1)
        return _plain(_least_double(level, lambda t: within(level[..., None], *self._losses(t))))

    @cached_property
    def _by_loss(self) -> tuple[Floats, tuple[Floats, Floats]]:
        order = np.argsort(self._runs.loss)
        return self._runs.loss[order], sums(self._mass[order])

    @quiet
    def _losses(self, t: Any) -> tuple[Floats, Floats]:
        """Return P(loss <= t) and P(loss > t)."""
        if not self._slope.any():
            losses, (upto, beyond) = self._by_loss
            i = np.searchsorted(losses, t, "right")
            return upto[i], beyond[i]
        past = np.asarray(t)[..., None] - self._runs.loss
        k = np.where(self._slope > 0, np.floor(past / self._slope) + 1, self._size)
        k = np.where(past < 0, 0.0, np.minimum(k, self._size))
        upto, beyond = (
            share(self._fall, k, self._size, False),
            share(self._fall, self._size - k, self._size, True),
        )
        return upto @ self._mass, beyond @ self._mass

    def privacy_loss(self, other: Figures) -> PrivacyLoss:
        """Return the privacy loss of this law against another one.

        Parameters
        ----------
        other : Law
            That of the same mechanism on neighbouring data.

        Returns
        -------
        PrivacyLoss
            `epsilon` at delta, `delta` at epsilon, `renyi`; and their `reverse`.

        Raises
        ------
        ParameterError
            If outcomes differ.
        """
        if other._grid != self._grid:
            raise ParameterError("other must be a law of the same outcomes")
        start = np.union1d(self._runs.start, other._runs.start)
        size = sizes(start, self._grid.size)
        run, of_other = (law._run(start) for law in (self, other))
        rises = self._rises[run]
        ends = start + np.where(rises, size - 1, 0).astype(np.int64)
        flips = np.where(rises == other._rises[of_other], 1.0, -1.0)
        own = self._log_pmf(ends), self._fall[run]
        return PrivacyLoss(size, own, (other._log_pmf(ends), flips * other._fall[of_other]))

    # What figures need

    def _run(self, at: Any) -> Integers:
        runs: Integers = np.searchsorted(self._runs.start, at, "right") - 1
        return runs

    def _log_pmf(self, at: Any) -> Floats:
        run = self._run(at)
        z = self._fall[run]
        of_run = self._runs.logs[run] - self._log_total - log_sum(z, self._size[run])
        return np.asarray(of_run - z * np.abs(at - self._ends[run]))

    def _tails(self, at: Any) -> tuple[Floats, Floats]:
        """Return P(outcome <= point) and P(outcome > point), each summed from its own end."""
        run = self._run(np.maximum(at, 0))
        k, n = at - self._runs.start[run] + 1.0, self._size[run]
        z, rises, mass = self._fall[run], self._rises[run], self._mass[run]
        below, above = self._sums
        upto = np.minimum(below[run] + mass * share(z, k, n, rises), 1.0)
        beyond = above[run + 1] + mass * share(z, n - k, n, ~rises)
        return np.where(at < 0, 0.0, upto), np.where(at < 0, 1.0, beyond)


def sums(mass: Floats) -> tuple[Floats, Floats]:
    """Return sums of the first 0, 1, ... masses, and of the others, each from its own end.

    The roundings of millions of doubles would add up to 1e-11.
    """
    upto, beyond = np.zeros((2, mass.size + 1))
    upto[1:] = np.cumsum(mass, dtype=np.longdouble)
    beyond[-2::-1] = np.cumsum(mass[::-1], dtype=np.longdouble)
    return upto, beyond


def within(level: Floats, inside: Floats, outside: Floats) -> Array:
    """Return whether a probability reaches a level, by the sum that has the more digits."""
    return np.where(level > 0.5, outside <= 1 - level, inside >= level)


def _least(most: Integers, passes: Callable[[Integers], Array]) -> Integers:
    """Return the least integers, from 0 to `most`, that pass a test; the last ones if none do.

    The test takes PARTS of them at once, on a further axis.
    """
    low, high = np.zeros_like(most)[..., None], most[..., None]
    while (low < high).any():
        width = -((low - high) // PARTS)
        points = np.minimum(low + width * np.arange(PARTS), high)
        failed = np.count_nonzero(~passes(points), axis=-1, keepdims=True)
        # The points before the first one that passes fail, and that one is the next bound.
        known = np.concatenate([low - 1, points, high], -1)
        low, high = (np.take_along_axis(known, failed + i, -1) for i in (0, 1))
        low = np.minimum(low + 1, high)
    return high[..., 0]


def _least_double(level: Floats, passes: Callable[[Floats], Array]) -> Floats:
    """Return the least doubles >= 0 that pass a test: they have the order of their words."""
    words = _least(np.full(level.shape, LARGEST), lambda word: passes(word.view(np.float64)))
    return np.asarray(words).view(np.float64)


def _plain(figures: Any) -> Any:
    return figures if figures.ndim else figures.item()
