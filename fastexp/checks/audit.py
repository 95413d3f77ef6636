"""The share of its promise that a mechanism uses on one pair of neighbouring data."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log, log1p
from typing import Any, Literal

import numpy as np

from ..errors import ParameterError, ParameterTypeError
from ..mechanisms.base import Mechanism
from ..parameters import checks
from ..types import Array

SLACK = 1e-9  # the share by which an exact epsilon may exceed its promise, by rounding


@dataclass(frozen=True)
class Audit:
    """The result of `audit` for one pair: not private.

    Attributes
    ----------
    method : {"law", "draws"}
        Whether it is from exact laws or from draws.
    epsilon : float
        In nats. law: the least epsilon with which the pair satisfies (epsilon, `delta`) in both
        directions, less what rounding may have added. draws: a lower bound of it, too large with
        probability at most `alpha`.
    delta : float
        The delta that was allowed.
    promised : float or None
        The epsilon that is promised; None of functions, or if the promise allows a larger delta.
    alpha : float or None
        draws: the probability of a bound that is too large.
    """

    method: Literal["law", "draws"]
    epsilon: float
    delta: float
    promised: float | None
    alpha: float | None = None

    @property
    def share(self) -> float | None:
        """The share of the promise that the pair uses."""
        return None if self.promised is None else self.epsilon / self.promised

    @property
    def refuted(self) -> bool | None:
        """Whether the promise is refuted; None without one. False proves nothing."""
        if self.promised is None:
            return None
        slack = SLACK if self.method == "law" else 0.0
        return self.epsilon > self.promised * (1 + slack) + 1e-3 * slack

    def __repr__(self) -> str:
        return f"Audit(method={self.method!r}, delta={self.delta!r}, promised={self.promised!r})"


def audit(
    mechanism: Any,
    data: Any,
    neighbor: Any = None,
    *,
    draws: int | None = None,
    alpha: float = 0.01,
    delta: float | None = None,
    rng: Any = None,
) -> Audit:
    """Measure the share of its promise that a mechanism uses on one pair of neighbours.

    ``audit(mechanism, data, neighbor)`` is exact: it compares laws. With `draws` it finds a lower
    bound of epsilon from draws, which also detects code that does not draw from its law.
    ``audit(callable, other, draws=...)`` audits any code.

    Parameters
    ----------
    mechanism : Mechanism or callable
        A mechanism; or a function without arguments that draws an independent answer each time.
    data, neighbor : object
        Data of the mechanism that differ by one person, which is not checked; or, as `data`, the
        function of the other side.
    draws : int, optional
        The number of draws of each side, >= 100. Default: exact laws.
    alpha : float
        The probability of a bound that is too large, in (0, 1).
    delta : float, optional
        Default: that of the guarantee; 0 of functions.
    rng : None, int, sequence of int, SeedSequence, Generator or BitGenerator
        The seed of a mechanism's draws.

    Returns
    -------
    Audit

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is wrong, the mechanism has no exact law and `draws` is not given, or most
        draws are distinct: a set of answers that was seen once tells nothing.

    Notes
    -----
    **The bound from draws**: half of them order the answers by the ratio of their frequencies and
    choose the set of answers that tells most, in each direction. Given that set, hits of the other
    half are binomial, and four bounds of Clopper and Pearson at alpha / 4 hold together. Then
    epsilon is at least ln((P(E) - delta) / Q(E)). Answers that are not independent void this.

    References
    ----------
    Clopper and Pearson, Biometrika 1934. Ding, Wang, Wang, Zhang and Kifer, "Detecting violations
    of differential privacy", CCS 2018.

    Examples
    --------
    One record less changes the law of this median by 63 % of the promised epsilon:

    >>> import fastexp as fx
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 10), step=1)
    >>> exact = fx.audit(median, [1, 2, 4, 7], [1, 2, 4])
    >>> round(exact.epsilon, 4), exact.refuted
    (0.6346, False)
    >>> 0.4 < fx.audit(median, [1, 2, 4, 7], [1, 2, 4], draws=100_000, rng=1).epsilon < 0.6346
    True
    """
    checks.arithmetic()
    level = float(checks.quantile("alpha", alpha))
    count = None if draws is None else checks.whole("draws", draws, 100, 1 << 28)
    promise = mechanism.guarantee if isinstance(mechanism, Mechanism) else None
    if promise is None and not (callable(mechanism) and callable(data) and count):
        raise ParameterTypeError("audit takes a mechanism and two data sets, or two functions")
    least = promise.delta if promise else 0.0
    allowed = float(checks.numbers_of("delta", least if delta is None else delta, 0, 1))
    promised = promise.epsilon if promise and allowed >= least else None
    if promise and count is None:
        loss = mechanism.law(data).privacy_loss(mechanism.law(neighbor))
        both = loss, loss.reverse
        most = max(one.epsilon(allowed) if allowed else one.least for one in both)
        return Audit("law", most, allowed, promised)
    if promise:
        seeds = np.random.default_rng(rng).integers(0, 1 << 63, 2).tolist()
        first, second = (
            mechanism.sample(data, count, rng=seeds[0]),
            mechanism.sample(neighbor, count, rng=seeds[1]),
        )
    else:
        first, second = ([draw() for _ in range(count or 0)] for draw in (mechanism, data))
    most = _bound(np.asarray(first), np.asarray(second), allowed, level)
    return Audit("draws", most, allowed, promised, level)


def _bound(first: Array, second: Array, delta: float, alpha: float) -> float:
    """Return a lower bound of epsilon from independent draws of two laws."""
    n, half = len(first), len(first) // 2
    every = np.concatenate([first, second])
    axis = 0 if every.ndim > 1 else None
    _, codes = np.unique(every, axis=axis, return_inverse=True)
    if codes.max() >= n:
        raise ParameterError("draws must repeat answers, which are nearly all distinct: round them")
    sides = codes.reshape(-1)[:n], codes.reshape(-1)[n:]
    seen = [np.bincount(side[:half], minlength=codes.max() + 1) for side in sides]
    best = 0.0
    for i, j in ((0, 1), (1, 0)):
        order = np.argsort((seen[j] + 1) / (seen[i] + 1))  # the answers that tell most come first
        hits, others = (np.cumsum(seen[side][order]) for side in (i, j))
        spread = np.sqrt(1 / (hits + 1) + 1 / (others + 1))
        sure = np.log(np.maximum(hits - delta * half, 1e-9) / (others + 1)) - 2 * spread
        event = np.isin(np.arange(order.size), order[: int(sure.argmax()) + 1])
        p, q = (int(event[sides[side][half:]].sum()) for side in (i, j))
        rest = n - half
        low, high = _least(p, rest, alpha / 4), 1 - _least(rest - q, rest, alpha / 4)
        best = max(best, log((low - delta) / high) if low > delta else 0.0)
    return best


def _least(hits: int, n: int, alpha: float) -> float:
    """Return the greatest p with P(at least so many hits of n) <= alpha (Clopper and Pearson)."""
    if hits == 0:
        return 0.0
    low, high = 0.0, hits / n
    first = lgamma(n + 1) - lgamma(hits + 1) - lgamma(n - hits + 1)
    k = np.arange(hits, n)
    steps = (n - k) / (k + 1)
    while low < (p := (low + high) / 2) < high and high - low > 1e-12 * high:
        chance = first + hits * log(p) + (n - hits) * log1p(-p)
        total = 1 + np.cumprod(steps * (p / (1 - p))).sum()
        low, high = (p, high) if chance + log(total) <= log(alpha) else (low, p)
    return low
