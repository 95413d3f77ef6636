"""`audit`: how much of its promise a mechanism uses on a pair of neighbors."""

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
RELATIVE_SLACK = 1e-9  # that an exact epsilon may exceed its promise by, relatively
ABSOLUTE_SLACK = 1e-12  # and besides, as losses err by this much however small they are


@dataclass(frozen=True, repr=False)
class Audit(TextRepr):
    """What `audit` says of one pair; its repr shows nothing of the data, and ``print`` does.

    Attributes
    ----------
    method : {"law", "draws"}
        By exact laws, or by draws.
    epsilon : float
        In nats. "law": the least ε with which the pair keeps (ε, `delta`), both ways. "draws":
        a lower bound of it, too large with a probability of at most `alpha`.
    delta : float
        The δ that was granted.
    promised : float or None
        The ε that is promised, if there is one.
    event : str
        "law": an output whose probability changes most (for δ = 0). "draws": the answers by which
        the draws tell the data sets apart.
    alpha : float or None
        "draws": the probability of an `epsilon` that is too large.
    draws : int or None
        "draws": how many draws of each side certify; others have chosen the event.
    hits : (int, int) or None
        How many of them fell into the event, of the more frequent side and the other one.
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
        """`epsilon` / `promised`: how much of the promise this pair uses."""
        return None if self.promised is None else self.epsilon / self.promised

    @property
    def refuted(self) -> bool:
        """Whether the promise does not hold, for `draws` but for a probability of `alpha`.

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
    """How much of its promise a mechanism uses on one pair of neighbors; not private.

    ``audit(mechanism, data, neighbor)`` is exact, by the laws of both data sets. With `draws` it
    is a certificate from draws alone, which also sees mistakes that laws and draws do not share.
    ``audit(callable, other, draws=...)`` takes anybody's code: one callable draws an answer about
    some data, the other one about a neighbor.

    Parameters
    ----------
    mechanism : Mechanism or callable
        A mechanism of fastexp. Or what gives an independent answer at each call without
        arguments, or, if it has a parameter `size`, so many at once, as an array or a list.
    data : object
        What the mechanism takes; or the callable of the other side.
    neighbor : object, optional
        Of a mechanism: data that differ by one person, as `guarantee` says.
    draws : int, optional
        How many draws of each side; of a mechanism None, for exact laws.
    alpha : float
        The probability of a certificate that is too large, in (0, 1).
    epsilon, delta : float, optional
        What is promised; default: the mechanism's guarantee, of callables nothing and 0.
    rng
    threads : int
        1; 0 for all that the process may use. Callables are called by all of them at the same
        time. Never changes the draws of a mechanism.

    Returns
    -------
    Audit

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is wrong, data and neighbor can be seen not to be neighbors, or the
        mechanism has no exact privacy loss and `draws` is None.

    Notes
    -----
    **What it means**: a certificate above the promise refutes it. One below does not confirm it:
    the worst pair, or the worst event, may be another one. Try data at the edges: no records, all
    equal, ties, ends of the bounds.

    **Proof of the certificate**: an eighth of the draws (at most 2**19) sort answers into cells
    by their ratio, another eighth choose an event for each direction, and the others certify.
    Given the first two parts the events are fixed, and hits are binomial. Four bounds of Clopper
    and Pearson at alpha / 4, rounded to the safe side, hold together with probability
    >= 1 - alpha; then ε >= ln((P(E) - δ) / Q(E)). It needs draws that are independent of each
    other.

    **Answers**: numbers as the nearest doubles, whatever their type (1, True and 1.0 are one
    outcome, and so are 2**60 and 2**60 + 1); -0.0 is another outcome than 0.0, and NaN is one. Rows
    of arrays are tuples; others are told apart by their equality. None, each type of exception (of
    calls for one answer), and each type without a hash are outcomes of their own. To merge outcomes
    never makes a certificate wrong: it is lower at most. Draws are counted in chunks: memory does
    not grow with them.

    References
    ----------
    Clopper and Pearson, Biometrika 1934. Ding, Wang, Wang, Zhang and Kifer, "Detecting
    violations of differential privacy", CCS 2018 (draws that choose an event, and others that
    test it). Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper", IEEE S&P 2021 (events of the
    highest ratios).

    Examples
    --------
    One record less moves this median's law by three quarters of what is promised:

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
    granted = 0.0 if delta is None else validate.fraction("delta", delta)
    if isinstance(mechanism, Mechanism):
        if neighbor is None:
            raise ParameterError("neighbor must be given with a mechanism")
        check_neighbors(mechanism, data, neighbor)
        promise = mechanism.guarantee
        promised = promise.epsilon if promised is None else promised
        granted = promise.delta if delta is None else granted
        if count is None:
            loss = mechanism.law(data).privacy_loss(mechanism.law(neighbor))
            worst = max((loss, loss.reverse), key=lambda direction: direction.epsilon(granted))
            exact = worst.epsilon(granted)
            return Audit("law", exact, granted, promised, repr(worst.worst))
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
    bound = certified((first, second), count, certify, granted, workers)
    rest = certify, bound.draws, bound.hits
    return Audit("draws", bound.epsilon, granted, promised, bound.event, *rest)
