"""Studies: the same bytes however they run, exact figures that draws agree with."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from site import addsitedir  # so that workers import this module
from typing import Any

import loky
import numpy as np
import pandas as pd
import pytest

import fastexp as fx
from fastexp import errors, studies

MEDIAN = fx.Median(1.0, (-10, 10))
AGES = np.random.default_rng(1).integers(20, 60, 500)


def spread(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    return 3 * rng.standard_normal(shape)


DATA = {"normal": np.random.Generator.standard_normal, "spread": spread, "ages": AGES}


def small(**changes: Any) -> fx.Study:
    settings: dict[str, Any] = {
        "mechanisms": {
            "median": MEDIAN,
            "noisy": fx.SmoothSensitivityMedian(1.0, bounds=(-10, 10)),
            "both": partial(fx.Quantile, 0.75, bounds=(-10, 10)),
        },
        "data": DATA,
        "epsilon": [0.5, 2.0],
        "n": [20, 101],
        "datasets": 30,
        "draws": 25,
        "block": 8,
    }
    return fx.Study(**{**settings, **changes})


def content(results: fx.StudyResults) -> bytes:
    return np.array(results.figures).tobytes() + repr(results.rows).encode()


@pytest.fixture(scope="module")
def serial() -> fx.StudyResults:
    return small().run()


ROOT = Path(__file__).parents[1]
LOKY = partial(loky.get_reusable_executor, initializer=addsitedir, initargs=(str(ROOT),))


@pytest.mark.parametrize("executor", [ThreadPoolExecutor, ProcessPoolExecutor, LOKY])
def test_executors(executor: Any, serial: fx.StudyResults) -> None:
    """Any order and number of workers give the same bytes."""
    with executor(max_workers=2) as workers:
        assert content(small().run(workers)) == content(serial)


KILLED = """
import os, sys
from pathlib import Path
from site import addsitedir  # so that workers import this module
from tests.test_studies import small
from fastexp.studies import tasks
publish, left = tasks._publish, [int(sys.argv[2])]
def dying(path, content):
    publish(path, content)
    left[0] -= 1
    if left[0] == 0:
        os._exit(9)
tasks._publish = dying
small().run(folder=sys.argv[1])
"""


@pytest.mark.parametrize("last", [1, 2, 7])
def test_a_run_that_was_killed_goes_on(last: int, serial: fx.StudyResults, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    command = [sys.executable, "-c", KILLED, str(folder), str(last)]
    code = subprocess.run(command, check=False, env=os.environ, cwd=ROOT).returncode
    assert code == 9
    (folder / "0-20-8.123.draft").write_bytes(b"half of a ta")  # of a process that was killed
    assert len(list(folder.glob("*.float64"))) == last - 1
    assert content(small().run(folder=folder)) == content(serial)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert content(small().run(folder=folder, progress=True)) == content(serial)
    assert before == {path: path.stat().st_mtime_ns for path in folder.iterdir()}


class Scaled:
    """Data of a user's class, or of a closure."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def draw(self, rng: np.random.Generator, shape: tuple[int, int]) -> Any:
        return self.scale * rng.standard_normal(shape)


def scaled(scale: float) -> Any:
    return lambda rng, shape: scale * rng.standard_normal(shape)


def used(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    return recursive(1, shape) * FACTOR * FRAME.x[0] * rng.standard_normal(shape)


def recursive(depth: int, shape: Any) -> Any:
    return recursive(depth - 1, shape) if depth else SCALE


FACTOR, SCALE, FRAME = np.ones(1), 1.0, pd.DataFrame({"x": [1.0]})  # whose == is no truth value


def of_globals(scale: float) -> Any:
    """A function that uses a number of its module, by another one."""
    global SCALE
    SCALE = scale
    return used


@pytest.mark.parametrize("make", [scaled, lambda scale: Scaled(scale).draw, of_globals])
def test_what_a_function_holds_is_part_of_the_study(make: Any, tmp_path: Path) -> None:
    one = {"epsilon": [1.0], "n": [5], "datasets": 3, "draws": 0}
    first = small(**one, data={"x": make(1.0)}).run(folder=tmp_path)
    assert content(small(**one, data={"x": make(1.0)}).run(folder=tmp_path)) == content(first)
    with pytest.raises(errors.ParameterError, match="folder must be empty or have results"):
        small(**one, data={"x": make(3.0)}).run(folder=tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"block": 16},
        {"data": {**DATA, "normal": spread}},
        {"data": {**DATA, "ages": AGES + 1}},
        {"measures": {"error": partial(studies.error_quantile, probability=0.9)}},
        {"mechanisms": {"median": fx.Median(1.0, grid=[-10, 0, 10]), "noisy": MEDIAN}},
    ],
)
def test_other_settings_do_not_mix(changes: Any, tmp_path: Path) -> None:
    one = {"epsilon": [1.0], "n": [5], "datasets": 3, "draws": 2}
    small(**one).run(folder=tmp_path)
    with pytest.raises(errors.ParameterError, match="folder must be empty or have results"):
        small(**{**one, **changes}).run(folder=tmp_path)


def test_figures(serial: fx.StudyResults) -> None:
    """They are those of the laws, and of the draws; a mechanism more changes no other cell."""
    assert serial.agree
    assert len(serial.rows) == 3 * 2 * 3 * 2
    alone = small(mechanisms={"median": MEDIAN}, epsilon=[2.0], n=[20]).run()
    row, cell = alone.rows[0], {"data": "normal", "n": 20, "mechanism": "median", "epsilon": 2.0}
    assert [one for one in serial.rows if one.items() >= cell.items()] == [row]
    assert row["rho"] == fx.Median(2.0, (-10, 10)).guarantee.rho
    data = np.arange(1.0, 8)
    fixed = small(
        mechanisms={"median": MEDIAN}, data={"fixed": partial(tiled, data)}, n=[7], datasets=2
    )
    for row in fixed.run().rows:
        law = fx.Median(row["epsilon"], (-10, 10)).law(data)
        assert math.isclose(row["exact"], law.expected_error(), rel_tol=1e-9)
        assert row["exact_sd"] < 1e-12


def tiled(values: Any, _: Any, shape: tuple[int, int]) -> Any:
    return np.tile(values, (shape[0], 1))


def wrong_figure(mechanism: Any, rows: Any, answers: Any) -> studies.Measured:
    """A planted error: 20 % too much."""
    one = studies.error(mechanism, rows, answers)
    assert one.exact is not None
    return one._replace(exact=1.2 * one.exact)


def test_wrong_figures_are_seen() -> None:
    assert not small(measures={"error": wrong_figure}, draws=200).run().agree


def test_a_rare_event_is_no_disagreement() -> None:
    """By the draws' own variance, a cell of Cauchy noise would be five standard errors off."""
    noisy = {"noisy": fx.SmoothSensitivityMedian(0.1, bounds=(-1e6, 1e6))}
    for seed in range(5):
        results = small(mechanisms=noisy, epsilon=[0.1], n=[20], seed=seed, draws=3).run()
        assert results.agree


class Stuck:
    """A mechanism that answers the worst candidate only."""

    guarantee = None

    def law(self, data: Any) -> Any:
        return fx.Exponential(9.0, 1).law(data)

    def sample(self, rows: Any, size: int, **_: Any) -> Any:
        return np.full((len(rows), size), np.argmin(rows, axis=1)[:, None])


def test_draws_that_never_differ_are_not_said_to_agree() -> None:
    def gaps(random: Any, shape: Any) -> Any:
        return np.tile([0.0, 30.0], (shape[0], 1))

    def loss(mechanism: Any, rows: Any, answers: Any) -> Any:
        exact = [mechanism.law(row).expected_loss() for row in rows]
        return studies.Measured(exact, drawn=rows.max(axis=1)[:, None] - rows[0][answers])

    results = small(
        mechanisms={"stuck": lambda _: Stuck()}, data={"gaps": gaps}, measures={"loss": loss}
    ).run()
    assert all(row["drawn"] == 30 and math.isnan(row["z"]) for row in results.rows)


def distance(mechanism: Any, rows: Any, answers: Any) -> Any:
    """A user's measure, of draws alone."""
    return np.abs(answers - np.median(rows, axis=1)[:, None])


def test_measures() -> None:
    measures = {
        "error": studies.error,
        "mine": distance,
        "median error": partial(studies.error_quantile, probability=0.5),
    }
    changes = {"mechanisms": {"median": MEDIAN}, "data": {"spread": spread}, "n": [101]}
    rows = small(**changes, measures=measures).run().rows
    for one, mine, middle in zip(*[iter(rows)] * 3, strict=True):
        assert one["drawn"] == pytest.approx(mine["drawn"])
        assert math.isnan(mine["exact"])
        assert math.isnan(mine["z"])
        assert middle["exact"] == pytest.approx(middle["drawn"], rel=0.25)
        assert middle["exact"] < one["exact"]
    two = small(**changes, draws=2, measures={"mine": distance}).run().rows
    assert all(row["se"] > 0 for row in two)


@pytest.mark.parametrize("name", ["table1", "prices", "response", "selection"])
def test_ready_studies(name: str) -> None:
    study = getattr(studies, name)()
    results = replace(study, draws=40, datasets=min(study.datasets, 8)).run()
    assert results.agree
    if name == "table1":
        for row in results.rows:
            if row["printed"]:
                assert row["exact"] == pytest.approx(row["printed"], rel=0.5, abs=0.001)
    if name == "response":
        for row in results.rows[:4:3]:  # randomised response
            assert row["exact"] == pytest.approx(1 / (1 + math.exp(row["epsilon"])))


def test_table_and_picture(serial: fx.StudyResults) -> None:
    pytest.importorskip("matplotlib").use("agg")
    table = serial.to_pandas()
    assert len(table) == len(serial.rows)
    assert list(table.columns[:5]) == ["data", "n", "mechanism", "epsilon", "measure"]
    figure = serial.plot()
    assert len(figure.axes) == 6


SHARED = np.random.default_rng(1)


def holding(mine: Any) -> Any:
    return lambda _, shape: mine.random(shape)


class Holder:
    """A user's class that has a generator."""

    def __init__(self) -> None:
        self.mine = SHARED

    def draw(self, _: Any, shape: Any) -> Any:
        return self.mine.random(shape)


@pytest.mark.parametrize(
    "source",
    [
        lambda _, shape: SHARED.random(shape),
        partial(lambda mine, _, shape: mine.random(shape), SHARED),
        holding(np.random.RandomState(1)),
        Holder().draw,
    ],
)
def test_a_shared_generator_is_warned_of(source: Any) -> None:
    for what in ("data", "mechanisms"):
        with pytest.warns(UserWarning, match="a generator of its own"):
            small(**{what: {"mine": source}})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mechanisms": {}}, "mechanisms must be a mapping"),
        ({"mechanisms": {("median", "lower"): MEDIAN}}, "mechanisms must be a mapping"),
        ({"data": {"x": [[1, 2]]}}, "data must be functions or numbers"),
        ({"data": {"x": []}}, "data must be functions or numbers"),
        ({"epsilon": [1.0, 0]}, "epsilon must be > 0, got 0"),
        ({"n": [0]}, "n must be"),
        ({"datasets": 0}, "datasets must be"),
        ({"epsilon": [Decimal(1), Decimal(-1)]}, "epsilon must be > 0, got Decimal"),
        ({"draws": -1}, "draws must be"),
        ({"seed": 0.5}, "seed must be"),
    ],
)
def test_settings(changes: Any, words: str) -> None:
    with pytest.raises(errors.FastexpError, match=words):
        small(**changes)


class Own:
    """A mechanism of a user, wrong in one way."""

    def __init__(self, _: Any, change: Any = np.asarray) -> None:
        self.change = change

    def sample(self, rows: Any, size: int, *, rng: Any, streams: Any) -> Any:
        assert len(streams) == len(rows)
        noise = np.random.default_rng(rng).standard_normal((len(rows), size))
        return self.change(np.median(rows, axis=1)[:, None] + noise)


def test_mechanisms_of_a_user() -> None:
    """One generator for all rows of a block: noise of blocks is independent."""
    settings = {"measures": {"mine": distance}, "data": {"spread": spread}, "draws": 4}
    results = small(**settings, mechanisms={"own": Own}, block=1, datasets=400, n=[5]).run()
    for row in results.rows:
        assert abs(row["drawn"] - math.sqrt(2 / math.pi)) < 0.06  # 5 standard errors
    for change, words in [(np.transpose, "'own' must return"), (np.sqrt, "none of them NaN")]:
        with np.errstate(invalid="ignore"), pytest.raises(errors.ParameterError, match=words):
            small(**settings, mechanisms={"own": partial(Own, change=change)}).run()
    with pytest.raises(errors.ParameterTypeError, match="'own' is neither"):
        small(**settings, mechanisms={"own": Own(1.0)}).run()
    for wrong in (Own, partial(fx.PermuteAndFlip, sensitivity=1)):
        with pytest.raises(errors.ParameterTypeError, match="with a number, not with"):
            small(mechanisms={"own": wrong}).run()


def test_data_of_another_shape() -> None:
    with pytest.raises(errors.ParameterError, match="a row for each data set"):
        small(data={"x": lambda rng, _: rng.random(3)}).run()
