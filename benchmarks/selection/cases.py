"""The cases of selection and the ways of doing each; ../README.md says what each compares.

One thread, epsilon = sensitivity = 1 and utilities 20 * U(0, 1) unless a case says otherwise.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

import fastexp as fx

from ..harness.calls import from_law, released, simulated, two_threads
from ..harness.measure import timed, traced_memory
from ..harness.workload import EPSILON, SENSITIVITY, Case, Entry, Role, ours
from . import leak, rivals, rivals_rows, startup
from .workload import SelectionWork as Work

SMALL, LARGE = (10, 1_000), (100_000, 10_000_000)
UTILITIES, BITS = attrgetter("utilities"), attrgetter("bits")
COUNTS = attrgetter("counts")


def exponential(_work: Work) -> fx.Exponential:
    """Return the mechanism of most cases."""
    return fx.Exponential(EPSILON, SENSITIVITY)


def flip(_work: Work) -> fx.PermuteAndFlip:
    """Return permute-and-flip."""
    return fx.PermuteAndFlip(EPSILON, SENSITIVITY)


def top_k(work: Work) -> fx.TopK:
    """Return top-k: it releases by peeling, and simulates by the greatest Gumbel keys at once."""
    return fx.TopK(work.chosen, EPSILON, SENSITIVITY)


def joint_top_k(work: Work) -> fx.JointTopK:
    """Return joint top-k."""
    return fx.JointTopK(work.chosen, EPSILON, SENSITIVITY)


def response(_work: Work) -> fx.RandomizedResponse:
    """Return randomised response."""
    return fx.RandomizedResponse(EPSILON)


def utility(work: Work, draws: Any) -> Any:
    """Return the utilities of the candidates that were drawn, from each row its own."""
    if work.rows == 1:
        return work.utilities[draws]
    rows = np.arange(work.rows)
    return work.utilities[rows[:, None] if work.size > 1 else rows, draws]


def loss(work: Work, draws: Any) -> Any:
    """Return the most by which a count of a top-k is below the best count for its place."""
    return (np.sort(work.counts)[::-1][: work.chosen] - work.counts[draws]).max()


def flipped(work: Work, responses: Any) -> Any:
    """Return which bits were flipped; OpenDP has eight in a byte."""
    if isinstance(responses, bytes):
        responses = np.unpackbits(np.frombuffer(responses, np.uint8))[: work.k]
    return responses != work.bits


def start(name: str, code: str, role: Role = "rival") -> Entry:
    """Return the entry of a new process that runs this code."""
    return Entry(name, startup.process(code), role)


def first(name: str, code: str) -> Entry:
    """Return the entry of a new process that also compiles kernels."""
    return Entry(name, startup.compiling(code), "variant")


RELEASE_OURS = ours(released(exponential, UTILITIES))
DRAW = simulated(exponential, UTILITIES)
DRAW_GUMBEL = simulated(exponential, UTILITIES, method="gumbel")
GUMBEL = Entry("numpy_gumbel", rivals.numpy_gumbel)
CUMSUM = Entry("numpy_cumsum", rivals.numpy_cumsum)
RACE = Entry("numpy_race", rivals.numpy_race)
BLOCKED = Entry(
    "numpy_blocked", rivals.numpy_blocked, least_k=1_001, why="one block: as numpy_cumsum"
)

RELEASE = (
    RELEASE_OURS,
    GUMBEL,
    CUMSUM,
    BLOCKED,
    Entry("opendp", rivals.opendp),
    Entry("diffprivlib", rivals.diffprivlib, most_k=1_000_000, why="more than 2 s a call"),
    Entry("numpy_exp", rivals.numpy_exp, "limit"),
)
RELEASE_THREADS = two_threads(RELEASE_OURS.prepare)
MEMORY = tuple(e for e in RELEASE if e.name.startswith(("fastexp", "numpy")))
SINGLE = (
    ours(DRAW),
    GUMBEL,
    RACE,
    CUMSUM,
    BLOCKED,
    Entry("numpy_rejection", rivals.numpy_rejection),
    Entry("numpy_max", rivals.numpy_max, "limit"),
)
ROWS = (
    ours(DRAW),
    Entry("fastexp_gumbel", DRAW_GUMBEL, "variant"),
    Entry("fastexp_release", RELEASE_OURS.prepare, "variant"),
    Entry("numpy_cumsum", rivals_rows.cumsum),
    Entry("numpy_transposed_tiled", rivals_rows.transposed_tiled),
)
ROWS_THREADS = two_threads(DRAW)
MANY = (
    ours(DRAW),
    Entry("fastexp_from_law", from_law(exponential, UTILITIES), "variant"),
    Entry("scipy_alias_urn", rivals.scipy_alias_urn),
    CUMSUM,
)
MANY_ROWS = (
    ours(DRAW),
    Entry("numpy_counts_shuffled", rivals_rows.counts_shuffled),
)
BY_GUMBEL = (
    Entry("fastexp_gumbel", DRAW_GUMBEL, "ours"),
    Entry("fastexp", DRAW, "variant"),
    GUMBEL,
    RACE,
)
RACE_TOP = Entry("numpy_race_top", rivals.race_top)
TOP_K = (ours(simulated(top_k, UTILITIES)), RACE_TOP)
TOP_K_RELEASE = (
    ours(released(top_k, UTILITIES)),
    Entry("opendp_top_k", rivals.opendp_top),
    RACE_TOP,
)
JOINT_TOP_K = (
    ours(released(joint_top_k, COUNTS)),
    Entry("numpy_joint_slices", rivals.joint_slices),
)
_NUMPY_FLIP = (
    Entry("numpy_noise", rivals.exponential_noise),
    Entry("numpy_flips", rivals.flips),
)
FLIP = (ours(simulated(flip, UTILITIES)), *_NUMPY_FLIP)
FLIP_RELEASE = (
    ours(released(flip, UTILITIES)),
    Entry("opendp_noisy_max", rivals.opendp_flip),
    Entry("diffprivlib", rivals.diffprivlib_flip),
    *_NUMPY_FLIP,
)
INTEGERS = Entry("numpy_integers", rivals.integer_responses)
RESPONSE = (ours(simulated(response, BITS)), INTEGERS)
RESPONSE_RELEASE = (
    ours(released(response, BITS)),
    Entry("opendp", rivals.opendp_responses),
    INTEGERS,
)
COLD_START = (
    start("fastexp_release_warm_cache", startup.RELEASE, "ours"),
    first("fastexp_release_cold_cache", startup.RELEASE),
    first("fastexp_median_cold_cache", startup.MEDIAN),
    first("fastexp_group_median_cold_cache", startup.GROUPS),
    first("fastexp_table1_cold_cache", startup.TABLE1),
    start("fastexp_import", "import fastexp", "variant"),
    start("fastexp_help", startup.HELP, "variant"),
    start("numpy_release", startup.NUMPY),
    start("opendp_release", startup.OPENDP),
    start("diffprivlib_release", startup.DIFFPRIVLIB),
    start("python", "pass", "limit"),
    start("numpy_import", "import numpy", "limit"),
    start("numba_import", "import numba", "limit"),
)

_case = partial(Case, measure=timed, figures=utility)
_joint = partial(_case, "joint_top_k_release", figures=loss)
_flip = partial(_case, toy_k=10)
_response = partial(_case, figures=flipped, toy_k=10_000)
SIZES = (10, 1_000, 100_000)
MATRICES = ((10_000, 1_000), (1_000_000, 10))  # rows, k
MILLION = Work(10**6)

CASES = (
    *(_case("release", Work(k), RELEASE) for k in SMALL),
    *(_case("release", Work(k), RELEASE, toy_k=2_500) for k in LARGE),
    *(_case("release_2t", Work(k, threads=2), RELEASE_THREADS, toy_k=2_500) for k in LARGE),
    *(_case("single", Work(k), SINGLE) for k in SMALL),
    *(_case("single", Work(k), SINGLE, toy_k=2_500) for k in LARGE),
    *(_case("rows", Work(k, rows=rows), ROWS) for rows, k in MATRICES),
    *(_case("rows_2t", Work(k, rows=rows, threads=2), ROWS_THREADS) for rows, k in MATRICES),
    *(_case("many", Work(k, size=10**6), MANY, toy_size=5_000) for k in (1_000, 10**6)),
    _case("many_rows", Work(100, rows=1_000, size=1_000), MANY_ROWS, toy_size=100),
    _case("gumbel", MILLION, BY_GUMBEL, toy_k=2_500),
    _case("top_k", Work(10**6, chosen=100), TOP_K),
    _case("top_k_release", Work(10**5, chosen=100), TOP_K_RELEASE),
    _joint(Work(1_000, chosen=10), JOINT_TOP_K),
    *(_joint(Work(k, chosen=100), JOINT_TOP_K, toy_k=2_500) for k in (10**5, 10**6)),
    *(_flip("permute_and_flip", Work(k), FLIP) for k in SIZES),
    *(_flip("permute_and_flip_release", Work(k), FLIP_RELEASE) for k in SIZES),
    _response("randomized_response", MILLION, RESPONSE),
    _response("randomized_response_release", MILLION, RESPONSE_RELEASE),
    Case("cold_start", Work(8), COLD_START, timed),
    Case("constant_time", Work(1_000), (RELEASE_OURS, CUMSUM), leak.leak),
    _case("memory", Work(10**7), MEMORY, measure=traced_memory, toy_k=2_500),
)
