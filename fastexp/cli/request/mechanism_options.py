"""Mechanisms from options, also with a share of ``--total-epsilon``."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

from ..._parameters import validate
from ...mechanisms.table import TABLE
from ...privacy import amounts
from ..terminal.errors import UserMistake
from . import public_lists
from .payment import budget_of

if TYPE_CHECKING:
    from ..._typing import Neighbors
    from ...grouped.mechanism import GroupedMechanism
    from ...privacy import Guarantee

T = TypeVar("T")
WHY_PUBLIC = """\
--bounds is needed: the lowest and the highest answer
why:   bounds taken from the data show its extremes, the records of two
       persons, whatever epsilon is
do:    choose them by what the numbers mean, without looking at FILE: for ages
       --bounds 0 120 --step 1. Records outside count as the nearest bound;
       bounds that are too wide cost little accuracy
else:  if you know none, --digits 3: answers of three digits and any magnitude;
       --grid lists the answers themselves"""


def of_numbers(options: Namespace, command: str) -> Callable[[float], GroupedMechanism]:
    """Return the mechanism of a command about numbers, as a function of epsilon.

    Without bounds and grid, UserMistake is raised.
    """
    grid = public_lists.grid(options)
    if options.bounds is None and grid is None:
        raise UserMistake(WHY_PUBLIC)
    bounds = None if options.bounds is None else tuple(options.bounds)
    return by_word(command, options, {"bounds": bounds, "step": options.step, "grid": grid})


def by_word(word: str, options: Namespace, stated: Mapping[str, Any]) -> Callable[[float], Any]:
    """Return a mechanism with the options that are its parameters, as a function of epsilon."""
    kind = TABLE[word].kind
    given = {name: value for name, value in vars(options).items() if value is not None}
    takes = signature(kind).parameters.keys() - {"epsilon"}
    settings = {name: value for name, value in {**given, **stated}.items() if name in takes}
    return lambda epsilon: kind(epsilon=epsilon, **settings)


def with_epsilon(
    options: Namespace,
    build: Callable[[float], T],
    promise: Callable[[T, Neighbors | None], Guarantee],
) -> T:
    """Return a mechanism with ``--epsilon``, or with its share of ``--total-epsilon``.

    `build` returns the mechanism for an epsilon, and `promise` the guarantee of the whole call with
    this mechanism under a relation (None: the mechanism's own).
    """
    if options.total_epsilon is None:
        return build(options.epsilon)
    neighbors = None if options.budget is None else budget_of(options.budget).neighbors

    def total(mechanism: T) -> float:
        epsilon = promise(mechanism, neighbors).epsilon
        return math.inf if epsilon is None else epsilon

    limit = validate.positive("--total-epsilon", options.total_epsilon)
    share = amounts.down(amounts.exact(limit) / amounts.exact(total(build(1.0))))
    while total(build(share)) > limit:  # the promise may not be proportional to epsilon
        share = math.nextafter(share, 0.0)
    return build(share)
