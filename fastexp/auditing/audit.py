"""`audit`: the share of its promise that a mechanism uses on a pair of neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._parameters.documented import documented
from .._typing import RNGLike, SeedLike
from ..errors import ParameterError, ParameterTypeError
from ..mechanisms.base import Mechanism
from ..pictures.cards import Card, TextRepr
from ..privacy.amounts import open_fraction
from .certificate import called, certified, simulated
from .neighbors import check_neighbors

LEAST_DRAWS = 100
RELATIVE_SLACK = 1e-9  # relative amount by which an exact epsilon may exceed its promise
ABSOLUTE_SLACK = 1e-12  # added to it in nats, as even small losses have this error


@dataclass(frozen=True, repr=False)
class Audit(TextRepr):
    """The result of `audit` for one pair; ``print`` shows all of it, its repr nothing of the data.

    Attributes
    ----------
    method : {"law", "draws"}
        Whether the audit used exact laws or draws.
    epsilon : float
        In nats. "law": the smallest ε with which the pair satisfies (ε, `delta`) in both
        directions. "draws": a lower bound on it, too large with a probability of at most `alpha`.
    delta : float
        The δ that was allowed.
    promised : float or None
        The ε that is promised, if there is one.
    event : str
        "law": the output whose probability changes most (for δ = 0). "draws": the set of answers
        that distinguishes the data sets.
    alpha : float or None
        "draws": the largest probability that `epsilon` is too large.
    draws : int or None
        "draws": the number of draws from each side that certify; other draws chose the event.
    hits : (int, int) or None
        How many of these draws are in the event: of the side with more of them, and of the other.
    """

    method: Literal["law", "draws"]
    epsilon: float
    delta: float
    promised: float | None
    event: str
    alpha: float | None = None
    draws: int | None = None
    hits: tuple[int, int] | None = None

    @property
    def share(self) -> float | None:
        """The share of the promise that this pair uses: `epsilon` / `promised`."""
        return None if self.promised is None else self.epsilon / self.promised

    @property
    def refuted(self) -> bool:
        """Whether the promise is refuted; with `draws`, wrongly with probability at most `alpha`.

        False proves nothing: another pair may use more.
        """
        if self.promised is None:
            return False
        slack = self.promised * RELATIVE_SLACK + ABSOLUTE_SLACK if self.method == "law" else 0.0
        return self.epsilon > self.promised + slack

    def __repr__(self) -> str:
        promised = "" if self.promised is None else f", promised={self.promised!r}"
        return f"Audit(method={self.method!r}, delta={self.delta!r}{promised})"

    def _card(self) -> Card:
        by_law, hits = self.method == "law", self.hits
        verdict = "refuted" if self.refuted else "not refuted by this pair, which proves nothing"
        facts = [
            ("promised epsilon", self.promised),
            ("epsilon of this pair" if by_law else "epsilon is at least", self.epsilon),
            ("with probability", self.alpha and f">= 1 - {self.alpha!r}"),
            ("at delta", self.delta or None),
            ("share of the promise", None if self.share is None else f"{self.share:.1%}"),
            ("the promise is", None if self.promised is None else verdict),
            ("worst output" if by_law else "event", self.event),
            ("draws of each side", self.draws),
            ("of them in the event", hits and f"{hits[0]:,} and {hits[1]:,}"),
        ]
        return Card(f"Audit by {'laws' if by_law else 'draws'}", facts, private=True)


@documented
def audit(
    mechanism: Any,
    data: Any,
    neighbor: Any = None,
    *,
    draws: int | None = None,
    alpha: float = 0.01,
    epsilon: float | None = None,
    delta: float | None = None,
    rng: SeedLike | RNGLike | None = None,
    threads: int = 1,
) -> Audit:
    """Measure the share of its promise that a mechanism uses on one pair of neighbors; not private.

    ``audit(mechanism, data, neighbor)`` is exact: it compares the laws of both data sets. With
    `draws`, it certifies a lower bound on ε from draws alone, which also detects code that does not
    draw from its law. ``audit(callable, other, draws=...)`` audits any code: one callable draws an
    answer for some data, the other one for a neighbor.

    Parameters
    ----------
    mechanism : Mechanism or callable
        A mechanism of fastexp. Or a callable that returns an independent answer at each call
        without arguments or, if it has a parameter `size`, an array or list of so many answers.
    data : object
        Data of the mechanism; or the callable of the other side.
    neighbor : object, optional
        For a mechanism: data that differ by one person, under the relation of `guarantee`.
    draws : int, optional
        The number of draws from each side. For a mechanism, None uses exact laws.
    alpha : float
        The largest probability of a bound that is too large, in (0, 1).
    epsilon, delta : float, optional
        The promise. Default: the guarantee of the mechanism; for callables, none and 0.
    rng
    threads : int
        The number of threads; 0: as many as the process may use. They call a callable
        simultaneously. Their number never changes the draws of a mechanism.

    Returns
    -------
    Audit

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is wrong, data and neighbor are evidently not neighbors, or the mechanism
        has no exact privacy loss and `draws` is None.

    Notes
    -----
    **Interpretation**: an ε above the promise refutes it. An ε below it does not confirm the
    promise, as another pair or event may be worse. Try extreme data: no records, all records equal,
    ties, ends of the bounds.

    **Proof of the lower bound**: an eighth of the draws (at most 2**19) sort answers into cells and
    order these by the ratio of their frequencies. Another eighth choose an event for each
    direction, and the other draws certify. Given the first two parts, the events are fixed, and the
    numbers of hits are binomial. Four bounds of Clopper and Pearson at alpha / 4, rounded to the
    safe side, hold together with probability >= 1 - alpha; then ε >= ln((P(E) - δ) / Q(E)). If the
    draws are not independent (repeated, or all from one seed), the bound is meaningless.

    **Answers**: numbers are read as the nearest doubles, whatever their type (1, True and 1.0 are
    one outcome, and so are 2**60 and 2**60 + 1). NaN is an outcome, and -0.0 is another one than
    0.0. Rows of arrays are tuples; other answers are compared for equality. None, each type of
    exception (in calls for one answer), and each type without a hash is an outcome. Merging
    outcomes can only lower the bound. Draws are counted in chunks, so that memory does not grow
    with their number.

    References
    ----------
    Clopper and Pearson, Biometrika 1934. Ding, Wang, Wang, Zhang and Kifer, "Detecting
    violations of differential privacy", CCS 2018 (some draws choose an event, and others test
    it). Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper", IEEE S&P 2021 (events of the
    highest ratios).

    Examples
    --------
    One record less changes the law of this median by 63 % of the promised ε:

    >>> import fastexp as fx
    >>> median = fx.Median(epsilon=1.0, bounds=(0, 10), step=1)
    >>> pair = [1, 2, 4, 7], [1, 2, 4]
    >>> exact = fx.audit(median, *pair)
    >>> round(exact.epsilon, 4), round(exact.share, 4), exact.refuted
    (0.6346, 0.6346, False)
    >>> fx.audit(median, *pair, draws=1_000_000, rng=1).epsilon < exact.epsilon
    True
    """
    check_rounding()
    certify = open_fraction("alpha", alpha)
    workers = validate.threads(threads)
    count = None if draws is None else validate.counting("draws", draws, least=LEAST_DRAWS)
    promised = None if epsilon is None else validate.positive("epsilon", epsilon)
    allowed_delta = 0.0 if delta is None else validate.fraction("delta", delta)
    if isinstance(mechanism, Mechanism):
        if neighbor is None:
            raise ParameterError("neighbor must be given with a mechanism")
        check_neighbors(mechanism, data, neighbor)
        promise = mechanism.guarantee
        promised = promise.epsilon if promised is None else promised
        allowed_delta = promise.delta if delta is None else allowed_delta
        if count is None:
            loss = mechanism.law(data).privacy_loss(mechanism.law(neighbor))
            worst = max(
                (loss, loss.reverse), key=lambda direction: direction.epsilon(allowed_delta)
            )
            exact = worst.epsilon(allowed_delta)
            return Audit("law", exact, allowed_delta, promised, repr(worst.worst))
        entropy = np.random.default_rng(rng).integers(0, 1 << 63, 2).tolist()
        first = simulated(mechanism, data, [*entropy, 0])
        second = simulated(mechanism, neighbor, [*entropy, 1])
    else:
        if not (callable(mechanism) and callable(data)):
            kind = type(data if callable(mechanism) else mechanism).__name__
            raise ParameterTypeError(
                f"audit needs a mechanism with data and neighbor, or two callables, got {kind}"
            )
        if neighbor is not None or rng is not None:
            raise ParameterError("neighbor and rng must be left out with callables")
        if count is None:
            raise ParameterError("draws must be given with callables, which have no laws")
        first, second = called(mechanism), called(data)
    bound = certified((first, second), count, certify, allowed_delta, workers)
    rest = certify, bound.draws, bound.hits
    return Audit("draws", bound.epsilon, allowed_delta, promised, bound.event, *rest)
