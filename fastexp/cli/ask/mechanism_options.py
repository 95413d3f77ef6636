"""Options as a mechanism, with its share of ``--total-epsilon``."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ..._parameters import validate
from ...privacy import amounts
from ..terminal.errors import UserMistake
from . import public_lists
from .payment import budget_of

if TYPE_CHECKING:
    from ..._typing import Neighbors
    from ...grouped.mechanism import GroupedMechanism
    from ...mechanisms.exponential import Exponential
    from ...mechanisms.joint_top_k import JointTopK
    from ...mechanisms.permute_and_flip import PermuteAndFlip
    from ...mechanisms.top_k import TopK
    from ...privacy import Guarantee

    Selection: TypeAlias = Exponential | JointTopK | PermuteAndFlip | TopK

T = TypeVar("T")
EXPONENTIAL, FLIP, TOP_K, JOINT = "exponential", "permute-and-flip", "top-k", "joint-top-k"
CLASSES = {  # of mechanisms about numbers: a word of publications, and but for two a command
    "median": "Median",
    "quantile": "Quantile",
    "quantiles": "Quantiles",
    "approximate-quantiles": "ApproximateQuantiles",
    "order-statistic": "OrderStatistic",
    "maximum": "Maximum",
    "mode": "Mode",
    "price": "Price",
}
OPTIONAL = (  # defaults are the mechanisms' own
    *("q", "count", "with_total", "neighbors", "convention", "widen", "ties", "scaling"),
)
WHY_PUBLIC = """\
--bounds is needed: the lowest and the highest answer
why:   bounds taken from the data show its extremes, the records of two
       persons, whatever epsilon is
do:    take them from what the numbers mean, without looking at FILE, as in
       --bounds 0 120 --step 1 for ages; records outside count as the nearest
       bound, so that wide bounds do little harm
else:  --grid lists the answers themselves"""


def of_numbers(options: Namespace, command: str) -> Callable[[float], GroupedMechanism]:
    """The mechanism of a command about numbers, for an epsilon; UserMistake without a grid."""
    import fastexp

    if options.bounds is None and options.grid is None:
        raise UserMistake(WHY_PUBLIC)
    points = None if options.grid is None else public_lists.points(options.grid)
    bounds = None if options.bounds is None else tuple(options.bounds)
    settings: dict[str, Any] = {
        name: value for name in OPTIONAL if (value := getattr(options, name)) not in (None, False)
    }
    settings |= {"step": options.step, "grid": points, "any_epsilon": options.any_epsilon}
    kind = getattr(fastexp, CLASSES[command])
    return lambda epsilon: kind(epsilon=epsilon, bounds=bounds, **settings)


def of_candidates(
    options: Namespace, candidates: tuple[Any, ...]
) -> Callable[[float], GroupedMechanism]:
    """The mechanism that selects the most common candidate, for an epsilon."""
    from ... import MostCommon

    if options.mechanism == JOINT:
        return _jointly(options, candidates, 1.0)
    return lambda epsilon: MostCommon(
        epsilon,
        candidates,
        mechanism=options.mechanism,
        neighbors=options.neighbors or "add-remove",
        any_epsilon=options.any_epsilon,
    )


def _jointly(
    options: Namespace, candidates: tuple[Any, ...], sensitivity: float
) -> Callable[[float], JointTopK]:
    """The mechanism that selects several candidates in one draw, for an epsilon."""
    from ... import JointTopK

    return lambda epsilon: JointTopK(
        options.k,
        epsilon,
        sensitivity,
        neighbors=options.neighbors or "add-remove",
        candidates=candidates,
        any_epsilon=options.any_epsilon,
    )


def of_scores(
    options: Namespace, candidates: tuple[Any, ...], sensitivity: float, *, monotonic: bool
) -> Callable[[float], Selection]:
    """The mechanism over utilities, for an epsilon."""
    from ... import Exponential, PermuteAndFlip, TopK

    if options.mechanism == JOINT:
        return _jointly(options, candidates, sensitivity)
    if options.mechanism == TOP_K:
        return lambda epsilon: TopK(
            options.k,
            epsilon,
            sensitivity,
            delta=options.delta or 0.0,
            monotonic=monotonic,
            candidates=candidates,
            any_epsilon=options.any_epsilon,
        )
    kind = PermuteAndFlip if options.mechanism == FLIP else Exponential
    return lambda epsilon: kind(
        epsilon,
        sensitivity,
        monotonic=monotonic,
        candidates=candidates,
        any_epsilon=options.any_epsilon,
    )


def with_epsilon(
    options: Namespace,
    build: Callable[[float], T],
    promise: Callable[[T, Neighbors | None], Guarantee],
) -> T:
    """A mechanism with ``--epsilon``, or with its share of ``--total-epsilon``.

    `build` gives the mechanism for an epsilon, `promise` what the whole call promises by it under
    a relation (None: its own).
    """
    if options.total_epsilon is None:
        return build(options.epsilon)
    neighbors = None if options.budget is None else budget_of(options.budget).neighbors

    def total(mechanism: T) -> float:
        epsilon = promise(mechanism, neighbors).epsilon
        return math.inf if epsilon is None else epsilon

    limit = validate.positive("--total-epsilon", options.total_epsilon)
    share = amounts.down(amounts.exact(limit) / amounts.exact(total(build(1.0))))
    while total(build(share)) > limit:  # where a promise is no multiple of epsilon
        share = math.nextafter(share, 0.0)
    return build(share)
