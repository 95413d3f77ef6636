"""The check that two data sets can be neighbors, as far as that is evident."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .._intake.records import Records
from .._numbers.laplace import statistic
from .._typing import AnyArray
from ..errors import ParameterError
from ..laws.elementary import differences
from ..laws.finite import exact_values
from ..mechanisms._finite import UtilityMechanism
from ..mechanisms._noisy import NoisyMedian
from ..mechanisms._number import GridMechanism
from ..mechanisms.base import Mechanism
from ..mechanisms.laplace import Laplace
from ..mechanisms.most_common import MostCommon

FARTHER = (
    "neighbor must differ from data by at most the sensitivity, which the promise assumes: else "
    "they are no neighbors"
)
OTHER_WAYS = (
    "neighbor must differ from data in one direction only, as the promise assumes (monotonic=True)"
)
RECORDS = {
    "add-remove": "neighbor must be data with one record more, or one less (add-remove)",
    "replace": "neighbor must be data with one record changed (replace)",
    "both": "neighbor must be data with one record more, less or changed",
}
SLACK = 1.0 + 2.0**-50  # a difference is rounded once


def check_neighbors(mechanism: Mechanism, data: Any, neighbor: Any) -> None:
    """Refuse a pair for which the mechanism promises nothing."""
    if isinstance(mechanism, UtilityMechanism):
        moved = _moved(mechanism, data, neighbor)
        if float(np.abs(moved).max()) > mechanism.sensitivity * SLACK:
            raise ParameterError(FARTHER)
        if mechanism.monotonic and bool((moved > 0).any() and (moved < 0).any()):
            raise ParameterError(OTHER_WAYS)
    elif isinstance(mechanism, Laplace):
        change = abs(statistic(data) - statistic(neighbor))
        if change > Fraction(str(mechanism.sensitivity)):
            raise ParameterError(FARTHER)
    elif isinstance(mechanism, MostCommon):
        _check_records(mechanism, _moved(mechanism, data, neighbor), same_number=False)
    elif isinstance(mechanism, (GridMechanism, NoisyMedian)):
        grid = getattr(mechanism, "grid", None)
        pair = [Records(each).numbers("drop", grid)[0] for each in (data, neighbor)]
        _, place = np.unique(np.concatenate(pair), return_inverse=True)
        moved = np.bincount(place, np.repeat([1, -1], [each.size for each in pair]))
        _check_records(mechanism, moved, same_number=True)


def _moved(mechanism: Any, data: Any, neighbor: Any) -> AnyArray:
    pair = [mechanism._utilities(each, "raise") for each in (data, neighbor)]
    if pair[0][0].shape != pair[1][0].shape:
        raise ParameterError("data and neighbor must have utilities of the same candidates")
    return differences(*(exact_values(*each) for each in pair))


def _check_records(mechanism: Mechanism, moved: AnyArray, *, same_number: bool) -> None:
    """Refuse a pair that differs by more than one person.

    `moved` are the counts of records in data minus those in neighbor. `same_number`: all records
    are counted, so that a replacement keeps their number.
    """
    gone, come = np.maximum(moved, 0).sum(), np.maximum(-moved, 0).sum()
    fits = {
        "add-remove": gone + come <= 1,
        "replace": max(gone, come) <= 1 and (gone == come or not same_number),
        "both": max(gone, come) <= 1,
    }
    relation = mechanism.guarantee.neighbors
    if relation in fits and not fits[relation]:
        raise ParameterError(RECORDS[relation])
