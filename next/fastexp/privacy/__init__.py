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
