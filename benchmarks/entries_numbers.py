"""The ways of doing each case of private numbers; `cases_numbers.py` says which case has which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import checks_numbers as checks
from . import floors_numbers as floors
from . import ours_numbers as ours
from . import rivals_numbers as rivals
from . import rivals_prices, rivals_study
from .other_dispatch import without_avx512
from .workload import Call, Entry


def _both(entry: Entry) -> tuple[Entry, Entry]:
    """A peer that sorts, with NumPy's AVX-512 code and without."""
    other = replace(entry, name=f"{entry.name}_avx2", prepare=without_avx512(entry.prepare))
    return entry, other


def _afresh(prepare: Callable[[Any], Call]) -> Callable[[Any], Call]:
    """The same with all buffers made in the call, for a count of memory."""
    return lambda work: lambda: prepare(work)()


_MIDDLE, _MAX = checks.middle, checks.highest
_OPENDP = Entry("opendp_1001_candidates", "rival", rivals.opendp, "opendp", checks.candidates)
_FLOORS = (
    *_both(Entry("numpy_partition", "limit", floors.numpy_partition, check=_MIDDLE)),
    *_both(Entry("numpy_sort", "limit", floors.numpy_sort, check=_MIDDLE)),
    Entry("numpy_max", "limit", floors.numpy_max, check=_MAX),
)
MEDIAN_AT_EPSILON = (
    Entry("fastexp", "ours", ours.release_median),
    *_both(Entry("numpy_ind_exp", "rival", rivals.ind_exp)),
    *_both(Entry("numpy_window", "rival", rivals.window)),
    _OPENDP,
)
MEDIAN = (
    *MEDIAN_AT_EPSILON,
    Entry(
        "diffprivlib",
        "rival",
        rivals.diffprivlib,
        needs="diffprivlib",
        check=checks.cautious_median,
        most_k=1_000_000,
        why="10 s a call",
    ),
    *_FLOORS,
)
MEDIAN_THREADS = (
    Entry("fastexp_2t", "ours", ours.release_median),
    Entry("fastexp_1t", "variant", ours.release_median_one_thread),
    Entry("numpy_max_2t", "limit", floors.numpy_max_two_threads, check=_MAX),
    Entry("numpy_max_1t", "limit", floors.numpy_max, check=_MAX),
)
MEDIAN_MEMORY = (
    Entry("fastexp", "ours", ours.release_median),
    Entry("numpy_ind_exp", "rival", _afresh(rivals.ind_exp)),
    Entry("numpy_window", "rival", _afresh(rivals.window)),
    Entry("numpy_partition", "limit", floors.numpy_partition, check=_MIDDLE),
)
STUDY = (
    Entry("fastexp", "ours", ours.study),
    *_both(Entry("numpy_batched", "rival", rivals_study.batched)),
    Entry("numpy_counts_shuffled", "rival", rivals_study.counts_shuffled),
    Entry("numpy_counts_in_order", "limit", rivals_study.counts_in_order),
    Entry("numpy_loop", "rival", rivals_study.looped),
)
MANY_DRAWS = (
    Entry("fastexp", "ours", ours.many_medians),
    Entry("fastexp_from_law", "variant", ours.many_from_law),
    Entry("numpy_choice", "rival", rivals_study.many_choice),
    *_both(Entry("numpy_cumsum", "rival", rivals_study.many_cumsum)),
    Entry("scipy_alias_urn", "rival", rivals_study.many_alias, needs="scipy"),
)
REVENUE = (
    Entry("fastexp", "ours", ours.revenue, check=checks.exact_revenue),
    *_both(Entry("numpy_histogram", "rival", rivals_prices.histogram)),
    *_both(Entry("numpy_sort_search", "rival", rivals_prices.sort_search)),
)
PRICE = (
    Entry("fastexp", "ours", ours.release_price),
    *_both(Entry("numpy_histogram", "rival", rivals_prices.histogram_cumsum)),
    *_both(Entry("numpy_sort_search", "rival", rivals_prices.sort_cumsum)),
    Entry("opendp", "rival", rivals_prices.opendp, needs="opendp"),
    Entry("diffprivlib", "rival", rivals_prices.diffprivlib, needs="diffprivlib"),
)
LAPLACE = (
    Entry("fastexp", "ours", ours.laplace),
    Entry("numpy_laplace", "rival", rivals.laplace),
)
LAPLACE_RELEASE = (
    Entry("fastexp", "ours", ours.release_laplace),
    Entry("numpy_laplace", "rival", rivals.laplace),
    Entry("opendp_laplace", "rival", rivals.opendp_laplace, needs="opendp"),
)
