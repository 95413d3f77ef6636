"""Arithmetic of promises: factors of epsilon, guarantees, composition.

This package reads no data and makes no draws.

The promise of one draw is a `Guarantee`, and `total` gives that of a batched or grouped call. These
functions give the promise of several releases together, each under the condition beside it:

=========================  ===========================================  ====================
function                   composition                                  holds for
=========================  ===========================================  ====================
`sequential`, `Budget`     Σ epsilon, Σ delta, Σ rho                    adaptive amounts
`parallel`                 the largest, over disjoint parts             adaptive amounts
`adaptive_delta`           exact Rényi divergences of a bounded range   adaptive queries
`adaptive_epsilon`         the inverse of `adaptive_delta`              adaptive queries
`peeling_round`            the epsilon of each round, from the total    adaptive queries
`advanced`                 epsilon * sqrt(2 k ln(1/delta)) + drift      adaptive queries
`nonadaptive_delta`        the optimum for bounded ranges               fixed queries
`nonadaptive_epsilon`      the inverse of `nonadaptive_delta`           fixed queries
=========================  ===========================================  ====================

*Adaptive amounts*: later queries, and how much they spend, may depend on earlier answers.
*Adaptive queries*: later queries may depend on earlier answers, but their amounts and number may
not. *Fixed queries*: everything is fixed before the first answer; for planning. `HOLDS_FOR` has
this table.

Post-processing is free: anything computed from outputs alone, without the data, keeps the promise.
A rho of epsilon**2 / 8 needs a bounded range (the exponential mechanism); other pure mechanisms
(permute-and-flip, randomised response) have a rho of epsilon * tanh(epsilon / 2).
Results of exp and log are rounded to the safe side by a small relative margin.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

from .composition import advanced, group, parallel, sequential, total
from .conversion import (
    adaptive_delta,
    adaptive_epsilon,
    bounded_range_divergence,
    zcdp_delta,
    zcdp_epsilon,
)
from .guarantee import Guarantee, pure_guarantee, pure_rho, selection_guarantee
from .peeling import peeling_guarantee, peeling_round
from .planning import nonadaptive_delta, nonadaptive_epsilon
from .rates import count_rate, rank_rate, selection_rate

#: The conditions of compositions: the values of `HOLDS_FOR`.
Condition = Literal["adaptive amounts", "adaptive queries", "fixed queries"]

#: The queries and amounts for which each composition holds, by the name of its function.
HOLDS_FOR: MappingProxyType[str, Condition] = MappingProxyType(
    {
        "sequential": "adaptive amounts",
        "Budget": "adaptive amounts",
        "parallel": "adaptive amounts",
        "adaptive_delta": "adaptive queries",
        "adaptive_epsilon": "adaptive queries",
        "peeling_round": "adaptive queries",
        "advanced": "adaptive queries",
        "nonadaptive_delta": "fixed queries",
        "nonadaptive_epsilon": "fixed queries",
    }
)

__all__ = [
    "HOLDS_FOR",
    "Condition",
    "Guarantee",
    "adaptive_delta",
    "adaptive_epsilon",
    "advanced",
    "bounded_range_divergence",
    "count_rate",
    "group",
    "nonadaptive_delta",
    "nonadaptive_epsilon",
    "parallel",
    "peeling_guarantee",
    "peeling_round",
    "pure_guarantee",
    "pure_rho",
    "rank_rate",
    "selection_guarantee",
    "selection_rate",
    "sequential",
    "total",
    "zcdp_delta",
    "zcdp_epsilon",
]
