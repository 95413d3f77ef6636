"""The ways of doing each case of accuracy studies; `cases_study.py` says which case has which."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import checks_study as checks
from . import ours_study as ours
from . import rivals_smooth as smooth
from . import rivals_table1 as rivals
from .entries_numbers import _both as both
from .workload import Entry

_rival = partial(Entry, role="rival")


def _several(name: str, prepare: Any, **more: Any) -> tuple[Entry, Entry]:
    return both(_rival(name, prepare=prepare, **more))


TABLE1 = (
    Entry("fastexp", "ours", ours.exact, check=checks.exact_table),
    *_several("numpy_exact", rivals.exact, check=checks.expected),
    *_several("numpy_tuned", rivals.tuned),
    *_several("numpy_window", rivals.window_for_equal_error),
    _rival("numpy_table1", prepare=rivals.plain_for_equal_error),
)
TABLE1_DRAWS = (
    Entry("fastexp", "ours", ours.drawn),
    *_several("numpy_window", rivals.window),
    _rival("numpy_table1", prepare=rivals.plain),
)
TABLE1_THREADS = (
    Entry("fastexp_2t", "ours", ours.exact, check=checks.expected),
    Entry("fastexp_1t", "variant", ours.exact_one_thread, check=checks.expected),
)
_QUADRATIC = {"most_k": 10**5, "why": "O(n^2): hours a call"}
_RECURSION = {"most_k": 10**6, "why": "minutes a call"}
SMOOTH = (
    Entry("fastexp", "ours", ours.smooth),
    *_several("numpy_stopping", smooth.stopping),
    *_several("numpy_divide_conquer", smooth.divide_and_conquer, **_RECURSION),
    *_several("numpy_quadratic", smooth.quadratic, **_QUADRATIC),
)
