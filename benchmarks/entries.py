"""The ways of doing each case's work; `cases.py` says which case has which."""

from __future__ import annotations

from typing import Any

from . import checks, floors, ours, rivals, rivals_mechanisms, rivals_rows, startup
from .workload import Entry

SMALL, LARGE = (10, 1_000), (100_000, 10_000_000)

RELEASE = (
    Entry("fastexp", "ours", ours.release),
    Entry("numpy_gumbel", "rival", rivals.numpy_gumbel),
    Entry("numpy_cumsum", "rival", rivals.numpy_cumsum),
    Entry("numpy_choice", "rival", rivals.numpy_choice),
    Entry(
        "numpy_blocked",
        "rival",
        rivals.numpy_blocked,
        least_k=SMALL[-1] + 1,
        why="one block: the same as numpy_cumsum",
    ),
    Entry("opendp", "rival", rivals.opendp, needs="opendp"),
    Entry(
        "diffprivlib",
        "rival",
        rivals.diffprivlib,
        needs="diffprivlib",
        most_k=1_000_000,
        why="more than 2 s a call",
    ),
    Entry("exp_sum_pass", "limit", floors.exp_sum_pass, check=checks.weight_sum),
)
THREADS = (
    Entry("fastexp_2t", "ours", ours.release),
    Entry("fastexp_1t", "variant", ours.release_one_thread),
)
MANY = (
    Entry("fastexp", "ours", ours.sample),
    Entry("fastexp_from_law", "variant", ours.sample_from_law),
    Entry("scipy_alias_urn", "rival", rivals.scipy_alias_urn, needs="scipy"),
    Entry("numpy_choice", "rival", rivals.many_choice),
    Entry("numpy_cumsum", "rival", rivals.many_cumsum),
)
LOG_SUM_EXP = (
    Entry("fastexp", "ours", ours.log_sum_exp),
    Entry("scipy", "rival", rivals.scipy_logsumexp, needs="scipy"),
    Entry("numpy_exp", "limit", floors.numpy_exp),
)


def _start(name: str, role: Any, code: str, needs: str = "") -> Entry:
    prints = "True" if "print" in code else ""
    return Entry(name, role, startup.process(code, prints=prints), needs=needs)


COLD_START = (
    _start("fastexp_release_warm_cache", "ours", startup.RELEASE),
    Entry("fastexp_release_cold_cache", "variant", startup.cold_release),
    _start("fastexp_import", "variant", "import fastexp"),
    Entry("fastexp_help", "variant", startup.show_help),
    _start("numpy_release", "rival", startup.NUMPY),
    _start("opendp_release", "rival", startup.OPENDP, needs="opendp"),
    _start("diffprivlib_release", "rival", startup.DIFFPRIVLIB, needs="diffprivlib"),
    _start("python", "limit", "pass"),
    _start("numpy_import", "limit", "import numpy"),
    _start("numba_import", "limit", "import numba"),
)
CONSTANT_TIME = (
    Entry("fastexp", "ours", ours.release),
    Entry("numpy_cumsum", "rival", rivals.numpy_cumsum),
)
MEMORY = tuple(e for e in RELEASE if e.name.startswith(("fastexp", "numpy")))

SINGLE = (
    Entry("fastexp", "ours", ours.draw),
    Entry("numpy_cumsum", "rival", rivals.numpy_cumsum),
    Entry("numpy_blocked", "rival", rivals.numpy_blocked),
    Entry("numpy_rejection", "rival", rivals_mechanisms.rejection),
    Entry("numpy_max", "limit", floors.numpy_max, check=checks.highest),
)
ROWS = (
    Entry("fastexp", "ours", ours.draw),
    Entry("fastexp_gumbel", "variant", ours.draw_gumbel),
    Entry("fastexp_release", "variant", ours.release_rows),
    Entry("numpy_gumbel", "rival", rivals_rows.gumbel),
    Entry("numpy_cumsum", "rival", rivals_rows.cumsum),
    Entry("numpy_cumsum_tiled", "rival", rivals_rows.cumsum_tiled),
    Entry("numpy_transposed_tiled", "rival", rivals_rows.transposed_tiled),
    Entry("numpy_race_tiled", "rival", rivals_rows.race_tiled),
)
ROWS_THREADS = (
    Entry("fastexp_2t", "ours", ours.draw),
    Entry("fastexp_1t", "variant", ours.draw_one_thread),
)
MANY_ROWS = (
    Entry("fastexp", "ours", ours.draw_many),
    Entry("numpy_choice", "rival", rivals_rows.each_choice),
    Entry("numpy_cumsum", "rival", rivals_rows.each_cumsum),
    Entry("numpy_counts_shuffled", "rival", rivals_rows.counts_shuffled),
)
GUMBEL = (
    Entry("fastexp_gumbel", "ours", ours.draw_gumbel),
    Entry("fastexp", "variant", ours.draw),
    Entry("numpy_gumbel", "rival", rivals.numpy_gumbel),
    Entry("numpy_race", "rival", rivals_mechanisms.race),
)
_NUMPY_TOP = (
    Entry("numpy_gumbel_top", "rival", rivals_mechanisms.gumbel_top),
    Entry("numpy_race_top", "rival", rivals_mechanisms.race_top),
)
TOP_K = (Entry("fastexp", "ours", ours.top_k), *_NUMPY_TOP)
TOP_K_RELEASE = (
    Entry("fastexp", "ours", ours.top_k_release),
    Entry("opendp_top_k", "rival", rivals_mechanisms.opendp_top, needs="opendp"),
    *_NUMPY_TOP,
)
_NUMPY_FLIP = (
    Entry("numpy_noise", "rival", rivals_mechanisms.exponential_noise),
    Entry("numpy_flips", "rival", rivals_mechanisms.flips),
)
FLIP = (Entry("fastexp", "ours", ours.flip_draw), *_NUMPY_FLIP)
FLIP_RELEASE = (
    Entry("fastexp", "ours", ours.flip_release),
    Entry("opendp_noisy_max", "rival", rivals_mechanisms.opendp_flip, needs="opendp"),
    Entry("diffprivlib", "rival", rivals_mechanisms.diffprivlib_flip, needs="diffprivlib"),
    *_NUMPY_FLIP,
)
_NUMPY_RESPONSE = (
    Entry("numpy_uniform", "rival", rivals_mechanisms.uniform_responses),
    Entry("numpy_integers", "rival", rivals_mechanisms.integer_responses),
)
_packed = checks.packed_responses
RESPONSE = (Entry("fastexp", "ours", ours.response_draw), *_NUMPY_RESPONSE)
RESPONSE_RELEASE = (
    Entry("fastexp", "ours", ours.response_release),
    Entry("opendp", "rival", rivals_mechanisms.opendp_responses, needs="opendp", check=_packed),
    *_NUMPY_RESPONSE,
)
