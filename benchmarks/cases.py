"""All cases. `run.py` measures them, the test-suite runs them at toy size."""

from __future__ import annotations

from .groups import cases as groups
from .harness.workload import Case
from .numbers import cases as numbers
from .selection import cases as selection
from .studies import cases as studies

CASES: tuple[Case, ...] = (*selection.CASES, *numbers.CASES, *studies.CASES, *groups.CASES)


def select(names: list[str], k: int | None) -> list[Case]:
    """The cases of these names (all if none is given), and of this k if it is given."""
    known = {case.name for case in CASES}
    unknown = sorted(set(names) - known)
    if unknown:
        raise ValueError(f"no such case: {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [c for c in CASES if (not names or c.name in names) and k in (None, c.inputs.k)]
    if not chosen:
        raise ValueError(f"no case of that name has k = {k}")
    return chosen
