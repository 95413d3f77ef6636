"""Options as a mechanism, with its share of ``--total-epsilon``."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
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
SELECTIONS = {
    EXPONENTIAL: "Exponential",
    FLIP: "PermuteAndFlip",
    TOP_K: "TopK",
    JOINT: "JointTopK",
}
OPTIONAL = (  # defaults are the mechanisms' own
    *("q", "count", "with_total", "neighbors", "convention", "widen", "scaling"),
    *("k", "delta"),
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
    if options.bounds is None and options.grid is None:
        raise UserMistake(WHY_PUBLIC)
    points = None if options.grid is None else public_lists.points(options.grid)
    bounds = None if options.bounds is None else tuple(options.bounds)
    return _built(
        CLASSES[command], options, {"bounds": bounds, "step": options.step, "grid": points}
    )


def of_candidates(
    options: Namespace, candidates: tuple[Any, ...]
) -> Callable[[float], GroupedMechanism]:
    """The mechanism that selects the most common candidates, for an epsilon."""
    name = SELECTIONS[JOINT] if options.mechanism == JOINT else "MostCommon"
    return _built(name, options, {"candidates": candidates, "mechanism": options.mechanism})


def of_scores(
    options: Namespace, candidates: tuple[Any, ...], sensitivity: float, *, monotonic: bool
) -> Callable[[float], Selection]:
    """The mechanism over utilities, for an epsilon."""
    stated = {"candidates": candidates, "sensitivity": sensitivity, "monotonic": monotonic}
    return _built(SELECTIONS[options.mechanism], options, stated)


def _built(name: str, options: Namespace, stated: Mapping[str, Any]) -> Callable[[float], Any]:
    """A mechanism by the name of its class, with the options that it has."""
    kind = getattr(import_module("fastexp"), name)
    given = {word: getattr(options, word) for word in OPTIONAL}
    given = {word: value for word, value in given.items() if value is not None}
    settings = {**given, **stated, "any_epsilon": options.any_epsilon}
    takes = signature(kind).parameters
    settings = {word: value for word, value in settings.items() if word in takes}
    return lambda epsilon: kind(epsilon=epsilon, **settings)


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
