"""What a release promises, and the rates that keep the promise.

Guarantee            a promise: epsilon, delta, rho, range, neighbours
pure_guarantee       that of an epsilon-DP mechanism
selection_guarantee  that of the exponential mechanism
sequential           of releases from the same data
parallel             of releases from disjoint parts
total                (epsilon, delta) of several releases, by rho if that is less
group                for several records
selection_rho        the rho of a bounded range
zcdp_epsilon         the epsilon of a rho, for a delta
zcdp_delta           the delta of a rho, for an epsilon
peeling_round        the epsilon of each of several selections, for a total
dominating_pair      two laws for numerical composition
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .composition import group, parallel, sequential, total
    from .conversion import dominating_pair, zcdp_delta, zcdp_epsilon
    from .guarantee import Guarantee, pure_guarantee, selection_guarantee, selection_rho
    from .rates import peeling_round

__all__ = [
    "Guarantee",
    "dominating_pair",
    "group",
    "parallel",
    "peeling_round",
    "pure_guarantee",
    "selection_guarantee",
    "selection_rho",
    "sequential",
    "total",
    "zcdp_delta",
    "zcdp_epsilon",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    if name in __all__:  # imported at first use: not in the time of a first answer
        for place in ("guarantee", "rates", "conversion", "composition"):
            module = import_module(f".{place}", __name__)
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'fastexp.privacy' has no attribute {name!r}")
