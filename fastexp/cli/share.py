"""The epsilon of each answer, and that of all answers together."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from .. import _validate
from ..privacy import amounts, total
from .budget import opened
from .output import note


def mechanism_of(options: Namespace, build: Callable[[], Any], **call: Any) -> Any:
    """A mechanism with its share of ``--total-epsilon``; or with ``--epsilon``, and what all cost.

    Parameters
    ----------
    options : Namespace
        Of a command that releases; `epsilon` is that of each answer when this returns.
    build : callable
        The mechanism for that epsilon.
    **call
        As of `privacy.total`.
    """
    relation = None if options.budget is None else opened(options.budget).neighbors

    def whole(made: Any) -> float:
        epsilon = total(made.guarantee, **call, neighbors=relation).epsilon
        return math.inf if epsilon is None else epsilon

    if options.total_epsilon is None:
        made = build()
        if not options.law and options.draws is None:  # also with --quiet: it is a warning
            _tell(options.epsilon, whole(made), relation or made.guarantee.neighbors, call)
        return made
    limit = _validate.positive("--total-epsilon", options.total_epsilon)
    options.epsilon = 1.0
    times = amounts.exact(whole(build()))
    options.epsilon = amounts.down(amounts.exact(limit) / times)
    made = build()
    while whole(made) > limit:  # a promise that is no multiple of epsilon, to the last digit
        options.epsilon = math.nextafter(options.epsilon, 0.0)
        made = build()
    return made


def _tell(each: float, whole: float, relation: str | None, call: dict[str, Any]) -> None:
    """That all answers together cost more than one, and why."""
    if whole <= each:
        return
    groups, rows = call.get("max_groups", 1), call.get("max_rows", 1)
    rest = amounts.exact(whole) / amounts.exact(each) / (groups * rows)
    factors = [f"{each!r}"]
    factors += [f"{groups} groups"] * (groups > 1) + [f"{rows} rows"] * (rows > 1)
    if rest != 1:
        factors.append(f"{float(rest):g} (neighbors {relation})")
    note(
        f"all answers together: epsilon {whole!r} = {' x '.join(factors)}; "
        "--total-epsilon divides what it is given"
    )
