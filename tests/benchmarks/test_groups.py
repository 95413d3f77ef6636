"""The benchmarks by group: peers draw from the right law, checks see wrong draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from benchmarks.groups import cases, checks, rivals, rivals_frames
from benchmarks.groups.workload import GroupWork
from benchmarks.harness.workload import Call
from tests.benchmarks.test_checks import refuses
from tests.support.each import each

PEERS: dict[str, Callable[[GroupWork], Call]] = {
    "packed": rivals.packed,
    "packed_segments": partial(rivals.packed, rows=rivals.segmented),
    "looped": rivals.looped,
    "looped_segments": rivals.looped_segments,
    "duckdb": rivals_frames.duckdb_window,
    "fastexp": cases.simulated,
}


def answers(name: str, work: GroupWork, count: int) -> list[Any]:
    call = PEERS[name](work)
    return [call() for _ in range(count)]


# In groups of 2,000 some ranks have weight 0 in float64, in the others none.
SIZES = ((40, 30, 1.0), (12, 2_000, 1.0), (60, 3, 0.2), (3, 2, 1.0))


@pytest.mark.slow
@each(("rows", "k", "epsilon"), SIZES)
@each("name", PEERS)
def test_peers_draw_from_the_exponential_mechanism(
    name: str, rows: int, k: int, epsilon: float
) -> None:
    work = GroupWork(k, rows=rows, epsilon=epsilon)
    checks.medians(work, answers(name, work, 60))


@pytest.mark.slow
def test_records_beyond_the_bounds_are_clamped_by_all_peers() -> None:
    work = GroupWork(6, rows=80, bounds=(900.0, 1_500.0))
    for name in PEERS:
        checks.medians(work, answers(name, work, 40))


def test_the_check_has_power() -> None:
    """Draws at another rate, of other groups, or from the lower ends of gaps, fail."""
    work = GroupWork(30, rows=300)
    right = answers("packed", work, 5)
    checks.medians(work, right)
    for epsilon in (0.8, 1.25):
        refuses(
            checks.medians,
            work,
            answers("packed", replace(work, epsilon=epsilon), 40),
            because="mean off",
        )
    refuses(checks.medians, work, [np.roll(one, 1) for one in right], because="mean off")
    laws = work.gap_laws
    within = zip(laws.starts.tolist(), laws.ends.tolist(), right[0], strict=True)
    ends = [laws.knots[a + laws.knots[a:b].searchsorted(draw) - 1] for a, b, draw in within]
    refuses(checks.medians, work, [np.nextafter(np.array(ends), np.inf)], because="mean off")
    refuses(checks.medians, work, [right[0] - 10_000.0], because="outside the bounds")
    refuses(checks.medians, work, [], because="no draw")


@pytest.mark.engines
def test_answers_of_engines_are_put_in_order() -> None:
    work = GroupWork(5, rows=4)
    groups, draws = np.array([2, 0, 3, 1]), np.array([12.0, 10.0, 13.0, 11.0])
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    forms = (
        {"k": groups, "x": draws},
        polars.DataFrame({"k": groups, "x": draws}),
        pandas.DataFrame({"k": groups, "x": draws}),
        pandas.Series(draws, index=groups),
    )
    for answer in forms:
        assert checks.by_group(work, answer).tolist() == [10.0, 11.0, 12.0, 13.0]
    refuses(checks.by_group, work, {"k": groups[[0, 0, 2, 3]], "x": draws}, because="each group")


def test_exact_medians_are_known() -> None:
    work = GroupWork(7, rows=9)
    for prepare in (rivals_frames.duckdb_median, rivals_frames.polars_streaming):
        checks.exact(work, [prepare(work)()])
    refuses(checks.exact, work, [work.medians * (1 + 1e-9)], because="not the medians")
