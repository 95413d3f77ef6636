"""Accuracy studies: exact figures beside Monte Carlo.

`Study` and `StudyResults`; the measures `error`, `error_quantile`, `loss` and `wrong`; `Measured`,
what a measure of your own may return; and the studies `table1`, `prices`, `response`, `selection`.
"""

from .measures import Measured, error, error_quantile, loss, wrong
from .ready import prices, response, selection, table1
from .results import StudyResults
from .study import Study

__all__ = [
    "Measured",
    "Study",
    "StudyResults",
    "error",
    "error_quantile",
    "loss",
    "prices",
    "response",
    "selection",
    "table1",
    "wrong",
]
