"""Do quantiles by recursion promise what is proved, and answer alike in every form of data?"""

from __future__ import annotations

import numpy as np
import pytest

import fastexp as fx
from tests.messages import raises
from tests.support.checks.groups import restored_key
from tests.support.checks.records import ways_of
from tests.support.each import each

Q = [0.25, 0.5, 0.75]
GRID = {"bounds": (0, 12), "step": 1}
RECORDS = np.array([1.0, 2, 3, 3, 4, 5, 5, 7, 8, 8, 9, 11])


def quartiles(epsilon=1.0, **settings):
    return fx.ApproximateQuantiles(Q, epsilon, **(GRID | settings))


@each(("count", "levels"), [(2, 2), (3, 2), (9, 4), (99, 7)])
@each("neighbors", ["add-remove", "replace"])
def test_rho_is_shared_by_levels(count, levels, neighbors):
    several = fx.ApproximateQuantiles(count=count, epsilon=1.5, neighbors=neighbors, **GRID)
    promise = several.guarantee
    assert (promise.epsilon, promise.bounded_range, promise.neighbors) == (1.5, None, neighbors)
    assert 0 <= promise.rho - 1.5**2 / (8 * levels) < 1e-15


def test_one_quantile_is_the_quantile():
    one, quantile = fx.ApproximateQuantiles([0.3], 1.0, **GRID), fx.Quantile(0.3, 1.0, **GRID)
    assert one.guarantee == quantile.guarantee
    drawn = quantile.sample(RECORDS, 50, rng=1)
    assert (one.sample(RECORDS, 50, rng=1)[:, 0] == drawn).all()


def test_answers_are_points_in_order():
    drawn = quartiles(0.3).sample(RECORDS, 300, rng=1)
    assert (np.diff(drawn, axis=1) >= 0).all()
    assert drawn.min() == 0
    assert drawn.max() == 12
    assert quartiles(1e4, any_epsilon=True).release(np.repeat(RECORDS, 400)) == [3, 5, 8]
    released = quartiles().release([])
    assert released == sorted(released)


@pytest.mark.slow
@each("way", sorted(ways_of(RECORDS)))
def test_bytes_do_not_depend_on_the_form(way):
    options = {"nan": "drop"} if way == "masked" else {}
    drawn = quartiles().sample(ways_of(RECORDS)[way], 20, rng=3, **options)
    assert drawn.tobytes() == quartiles().sample(RECORDS, 20, rng=3).tobytes()


def test_groups_rows_and_keys():
    mechanism, rows = quartiles(), np.tile(RECORDS, (4, 1))
    drawn = mechanism.sample(rows, 6, rng=2)
    assert drawn.shape == (4, 6, 3)
    assert (mechanism.sample(rows[:, ::-1], 6, rng=2, threads=2) == drawn).all()
    by = np.repeat([1, 2, 3, 4], 12)
    grouped = mechanism.sample(rows.reshape(-1), by=by, groups=[3, 9, 1], rng=2)
    assert grouped.shape == (3, 3)
    assert (
        mechanism.sample(rows.reshape(-1), by=by, groups=[1, 3], rng=2) == grouped[[2, 0]]
    ).all()
    key = {"key": restored_key(), "label": "quartiles"}
    first, again = (mechanism.release(rows.reshape(-1), by=by, groups=[1, 2], **key) for _ in "ab")
    assert (first == again).all()
    assert len({*map(tuple, mechanism.release(np.tile(rows, (9, 1)), **key).tolist())}) > 1


def test_a_query_has_lists():
    frame = {"city": ["a", "b", "a"] * 40, "age": list(range(12)) * 10}
    answers = fx.Query(by="city", groups=["a", "b"]).release(
        frame, {"quartiles": (quartiles(), "age")}
    )
    assert [len(answer) for answer in answers["quartiles"]] == [3, 3]


def test_no_law():
    with raises("approximate quantiles without a law"):
        quartiles().law(RECORDS)
    with raises("approximate quantiles without a law"):
        quartiles().accuracy(RECORDS)
