"""The exact factors by which mechanisms multiply a utility, from epsilon: their only home."""

from __future__ import annotations

from fractions import Fraction

from ..errors import ParameterError
from ..parameters import checks
from ..types import Neighbors, Number

MOST = Fraction(2) ** 900  # beyond it, rates and their products leave float64


def selection_rate(epsilon: Number, sensitivity: Number, monotonic: bool) -> Fraction:
    """Return the c of the weight exp(c * utility): epsilon over the range sensitivity.

    One record moves two utilities apart by at most twice the sensitivity, and by at most the
    sensitivity if it moves all of them in the same direction (`monotonic`). McSherry and Talwar
    2007; Durfee and Rogers 2019.
    """
    moves = checks.positive("sensitivity", sensitivity) * (1 if monotonic else 2)
    rate = checks.positive("epsilon", epsilon) / moves
    if not 1 / MOST < rate < MOST:
        raise ParameterError(
            "epsilon must be between 2**-899 and 2**899 times the sensitivity, got "
            f"{epsilon!r} and {sensitivity!r}"
        )
    return rate


def rank_rate(epsilon: Number, steps: int) -> Fraction:
    """Return the c of the weight exp(-c * distance), if a record moves a distance by `steps`.

    A record raises the distances on one side of the statistic and lowers those on the other (Smith
    2011; Asi and Duchi 2020).
    """
    return selection_rate(epsilon, steps, monotonic=False)


def node_epsilon(epsilon: Number, count: int, neighbors: Neighbors) -> Fraction:
    """Return the epsilon of each draw if quantiles are drawn by recursion, the middle one first.

    There are bit_length(count) levels. The draws of a level share no records, so one record that is
    added or removed changes one draw a level. Replacing it is both, perhaps of the same draw.
    """
    steps = 1 if neighbors == "add-remove" else 2
    return checks.positive("epsilon", epsilon) / (count.bit_length() * steps)
