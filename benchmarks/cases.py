"""All cases. `run.py` measures them, and the test suite runs them at toy size."""

from __future__ import annotations

from .groups import cases as groups
from .harness.workload import Case
from .numbers import cases as numbers
from .selection import cases as selection
from .studies import cases as studies

CASES: tuple[Case, ...] = (*selection.CASES, *numbers.CASES, *studies.CASES, *groups.CASES)
