"""The benchmarks by group: peers draw from the right law, checks see wrong draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import (
    checks_groups,
    fresh_memory,
    measure,
    other_dispatch,
    ours_groups,
    rivals_frames,
    rivals_groups,
)
from benchmarks.cases import CASES
from benchmarks.checks import WrongAnswer
from benchmarks.workload import Call, Entry
from benchmarks.workload_groups import GroupWork

PEERS: dict[str, Callable[[GroupWork], Call]] = {
    "packed": rivals_groups.packed,
    "packed_segments": rivals_groups.packed_segments,
    "gumbel": rivals_groups.gumbel,
    "gumbel_segments": rivals_groups.gumbel_segments,
    "looped": rivals_groups.looped,
    "looped_segments": rivals_groups.looped_segments,
    "duckdb": rivals_frames.duckdb_window,
    "fastexp": ours_groups.simulated,
}


def answers(name: str, work: GroupWork, count: int) -> list[Any]:
    call = PEERS[name](work)
    return [call() for _ in range(count)]


# In groups of 2,000 some ranks have weight 0 in float64, in the others none.
SIZES = ((40, 30, 1.0), (12, 2_000, 1.0), (60, 3, 0.2), (3, 2, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "k", "epsilon"), SIZES)
@pytest.mark.parametrize("name", PEERS)
def test_peers_draw_from_the_exponential_mechanism(
    name: str, rows: int, k: int, epsilon: float
) -> None:
    work = GroupWork(k, rows=rows, epsilon=epsilon)
    checks_groups.medians(work, answers(name, work, 60))


def test_records_beyond_the_bounds_are_clamped_by_all_peers() -> None:
    work = GroupWork(6, rows=80, bounds=(900.0, 1_500.0))
    for name in PEERS:
        checks_groups.medians(work, answers(name, work, 40))


def test_the_check_has_power() -> None:
    """Draws at another rate, of other groups, or from the lower ends of gaps, fail."""
    work = GroupWork(30, rows=300)
    right = answers("gumbel", work, 5)
    checks_groups.medians(work, right)
    for epsilon in (0.8, 1.25):
        with pytest.raises(WrongAnswer, match="mean utility off"):
            checks_groups.medians(work, answers("gumbel", replace(work, epsilon=epsilon), 40))
    with pytest.raises(WrongAnswer, match="mean utility off"):
        checks_groups.medians(work, [np.roll(one, 1) for one in right])
    lower, _ = work.edges
    ends = [lower[np.searchsorted(lower[a:b], d) + a - 1] for a, b, d in first_gaps(work, right[0])]
    with pytest.raises(WrongAnswer, match="mean utility off"):
        checks_groups.medians(work, [np.nextafter(np.array(ends), np.inf)])
    with pytest.raises(WrongAnswer, match="outside the bounds"):
        checks_groups.medians(work, [right[0] - 10_000.0])
    with pytest.raises(WrongAnswer, match="no draw"):
        checks_groups.medians(work, [])


def first_gaps(work: GroupWork, draws: Any) -> Any:
    """Where each group's gaps begin and end, and its draw."""
    return zip(work.starts.tolist(), (work.starts + work.gaps).tolist(), draws, strict=True)


@pytest.mark.engines
def test_answers_of_engines_are_put_in_order() -> None:
    work = GroupWork(5, rows=4)
    groups, found = np.array([2, 0, 3, 1]), np.array([12.0, 10.0, 13.0, 11.0])
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    forms = (
        {"k": groups, "x": found},
        polars.DataFrame({"k": groups, "x": found}),
        pandas.DataFrame({"k": groups, "x": found}),
        pandas.Series(found, index=groups),
    )
    for answer in forms:
        assert checks_groups.by_group(work, answer).tolist() == [10.0, 11.0, 12.0, 13.0]
    with pytest.raises(WrongAnswer, match="each group"):
        checks_groups.by_group(work, {"k": groups[[0, 0, 2, 3]], "x": found})


def test_exact_medians_are_known() -> None:
    work = GroupWork(7, rows=9)
    for prepare in (rivals_frames.duckdb_median, rivals_frames.polars_streaming_median):
        checks_groups.exact(work, [prepare(work)()])
    with pytest.raises(WrongAnswer, match="not the medians"):
        checks_groups.exact(work, [work.medians * (1 + 1e-9)])


def test_one_thread_has_the_same_inputs() -> None:
    work = GroupWork(7, rows=9, threads=2)
    assert work.keys is ours_groups.replace_threads(work).keys
    assert ours_groups.replace_threads(work).threads == 1
    same = ours_groups.one_thread(work)(), ours_groups.simulated(work)()
    assert np.array_equal(*same)


@pytest.mark.process
def test_engines_have_as_many_threads_as_the_case() -> None:
    """Polars asks its process's environment."""
    place = Path("/proc")
    if not (place / "self" / "environ").exists():
        pytest.skip("no /proc")
    for threads in (1, 2):
        server = other_dispatch.server(True, threads)
        assert server.ask("features") == other_dispatch.avx512_in_use()
        told = (place / str(server.process.pid) / "environ").read_bytes().split(b"\0")
        assert b"POLARS_MAX_THREADS=%d" % threads in told


@pytest.mark.slow
def test_a_call_that_takes_much_memory_fails() -> None:
    toy = next(case for case in CASES if case.name == "group_memory").toy()
    if not fresh_memory.CLEAR.exists():
        pytest.skip("the system does not tell a process's peak")

    def prepare(work: GroupWork) -> Call:
        right = ours_groups.simulated(work)()
        return lambda: right + 0 * np.ones(8_000_000)[0]

    greedy = replace(toy, entries=(Entry("greedy", "ours", prepare),))
    with pytest.raises(WrongAnswer, match="bytes"):
        greedy.measure(greedy, measure.TOY)
    modest = replace(toy, entries=(Entry("modest", "ours", ours_groups.simulated),))
    assert modest.measure(modest, measure.TOY).rows[0].median < 8_000_000
