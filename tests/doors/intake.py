"""Records as windows of ranks, in every form that gives the same window."""

from __future__ import annotations

from fastexp._intake import (
    number_columns,
    record_sources,
    records,
    unsorted,
    utilities,
)
from fastexp._intake.number_columns import Numbers
from fastexp._intake.record_sources import (
    MAX_SORTED_RECORDS,
    Counted,
    RecordSource,
    Sorted,
    Window,
    cut,
    runs,
)
from fastexp._intake.records import Records
from fastexp._intake.utilities import FLOAT
