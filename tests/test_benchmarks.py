"""The benchmarks at toy size: every case runs, every check can fail, reports tell the truth."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import (
    bench_kernels,
    checks,
    checks_numbers,
    checks_study,
    floors_numbers,
    leak,
    measure,
    other_dispatch,
    ours_study,
    report,
    rivals_numbers,
    rivals_smooth,
    rivals_table1,
    run,
    schema,
    sorted_file,
    study_engines,
    workload_study,
)
from benchmarks.cases import CASES, select
from benchmarks.checks import WrongAnswer
from benchmarks.startup import Absent
from benchmarks.workload import Call, Case, Entry, Work
from benchmarks.workload_numbers import CENTER, STUDY, NumberWork
from benchmarks.workload_study import StudyWork

TOY = measure.TOY
BY_ID = {case.id: case for case in CASES}


def test_case_ids_are_unique() -> None:
    assert len(BY_ID) == len(CASES)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_case_runs_at_toy_size(case: Case) -> None:
    """Each entry is measured and checked, or declared absent with a reason."""
    toy = case.toy()
    outcome = toy.measure(toy, TOY)
    found = [row.name for row in outcome.rows] + list(outcome.absent)
    assert sorted(found) == sorted(toy.row_names)
    assert all(outcome.absent.values())
    assert all(row.repeats and row.checked for row in outcome.rows)
    assert [row.role for row in outcome.rows].count("ours") >= 1


@pytest.mark.parametrize("name", bench_kernels.KERNELS)
def test_kernel_benchmarks_run(name: str) -> None:
    kernel, arguments = bench_kernels.KERNELS[name]
    kernel(*arguments(1_100))


# Each case's check, fed a wrong answer through the whole way of a measurement.


def wrong_entry(case: Case, answer: Any) -> Case:
    """The toy case with one entry, of its first entry's role, that always gives `answer`."""

    def prepare(_work: Work) -> Call:
        return lambda: answer

    entry = replace(case.entries[0], prepare=prepare, needs="", check=None)
    return replace(case.toy(), entries=(entry,))


def worst(case: Case) -> Any:
    """The least likely answer of the right form."""
    found = np.argsort(case.work().utilities)[..., : case.chosen]
    return int(found[0]) if found.size == 1 else found


WRONG: dict[str, Callable[[Case], Any]] = {
    "release": worst,
    "release_2t": lambda _case: 0.5,
    "single": worst,
    "rows": lambda case: worst(case)[:, 0],
    "rows_2t": lambda case: np.zeros(case.rows - 1, dtype=np.int64),
    "many_rows": lambda case: np.tile(np.arange(case.size) % case.k, (case.rows, 1)),
    "gumbel": worst,
    "top_k": worst,
    "top_k_release": lambda case: np.zeros(case.chosen, dtype=np.int64),
    "permute_and_flip": worst,
    "permute_and_flip_release": worst,
    "randomized_response": lambda case: case.work().bits,
    "randomized_response_release": lambda case: ~case.work().bits,
    "many": lambda case: np.arange(case.size) % case.k,
    "logsumexp": lambda _case: 1.0,
    "cold_start": lambda _case: ("True", "False"),
    "constant_time": lambda _case: 0,
    "memory": lambda case: case.k,
    "median_release": lambda case: case.work().bounds[0],
    "median_threads": lambda _case: 0,
    "median_memory": lambda case: case.work().bounds[1],
    "median_study": lambda case: [np.zeros((case.rows, case.size))] * len(STUDY),
    "many_draws": lambda case: np.linspace(*case.work().bounds, case.size),
    "revenue_law": lambda case: np.zeros(case.k),
    "price_release": lambda case: case.work().prices[0],
    "laplace": lambda case: np.full(case.size, CENTER),
    "laplace_release": lambda _case: CENTER,
    "table1": lambda _case: np.zeros(len(workload_study.CELLS)),
    "table1_draws": lambda case: 3 * case.work().spreads[0],
    "table1_2t": lambda case: case.work().spreads[0][1:],
    "smooth_sensitivity": lambda _case: 0.0,
    "smooth_sensitivity_sorted": lambda _case: float("nan"),
    "group_median": lambda case: np.zeros(case.rows),
    "group_median_2t": lambda case: case.work().medians[1:],
    "group_offsets": lambda case: case.work().medians,
    "group_offsets_2t": lambda case: np.full(case.rows, np.nan),
    "engine_polars": lambda case: case.work().medians,
    "engine_polars_streaming": lambda case: {"k": np.arange(1), "x": np.ones(1)},
    "engine_duckdb": lambda case: {"k": np.arange(case.rows), "x": case.work().medians},
    "engine_pandas": lambda case: np.full(case.rows, 5_000.0),
    "group_memory": lambda case: np.full(case.rows, 10_000.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", dict.fromkeys(case.name for case in CASES))
def test_every_check_can_fail(name: str) -> None:
    toy = next(case for case in CASES if case.name == name).toy()
    broken = wrong_entry(toy, WRONG[name](toy))
    with pytest.raises(WrongAnswer):
        broken.measure(broken, TOY)


def exact_draws(work: Work, rate: float, count: int) -> list[Any]:
    """Draws of exp(rate * u) by NumPy, one an answer."""
    weights = np.exp(rate * (work.utilities - 20.0))
    p = weights / weights.sum()
    return list(np.random.default_rng(5).choice(work.k, size=count, p=p))


def test_the_mean_test_has_power() -> None:
    """4,000 draws at the right rate pass; at a rate 20 percent off they do not."""
    work = Work(300)
    checks.drawn(work, exact_draws(work, 0.5, 4_000))
    for rate in (0.4, 0.6):
        with pytest.raises(WrongAnswer, match="mean utility off"):
            checks.drawn(work, exact_draws(work, rate, 4_000))


def test_the_mean_test_of_rows_sees_each_rows_own_law() -> None:
    """The right draws, of the wrong rows, fail."""
    work = Work(30, rows=60)
    weights = np.exp(0.5 * (work.utilities - 20.0))
    rng = np.random.default_rng(5)
    draws = [[rng.choice(30, p=w / w.sum()) for w in weights] for _ in range(50)]
    checks.drawn(work, [np.array(one) for one in draws])
    with pytest.raises(WrongAnswer, match="mean utility off"):
        checks.drawn(work, [np.roll(one, 1) for one in draws])


def permuted_and_flipped(work: Work, count: int) -> list[Any]:
    """Draws of permute-and-flip by its definition."""
    rng, accept = np.random.default_rng(5), np.exp(0.5 * (work.utilities - work.utilities.max()))
    orders = [rng.permutation(work.k) for _ in range(count)]
    return [next(int(r) for r in order if rng.random() < accept[r]) for order in orders]


def test_the_mean_test_of_permute_and_flip_has_power() -> None:
    """It knows the law from the exponential mechanism's."""
    work = Work(10)
    draws = permuted_and_flipped(work, 4_000)
    checks.flipped(work, draws)
    with pytest.raises(WrongAnswer, match="mean utility off"):
        checks.drawn(work, draws)
    with pytest.raises(WrongAnswer, match="mean utility off"):
        checks.flipped(work, exact_draws(work, 0.5, 4_000))


def gumbel_tops(work: Work, rate: float, count: int) -> Any:
    """Top-k selections in order by NumPy, one an answer."""
    noise = np.random.default_rng(5).gumbel(size=(count, work.k))
    return np.argsort(-(rate * work.utilities + noise))[:, : work.chosen]


def test_the_check_of_a_top_k_has_power() -> None:
    """The right rate passes; half or twice the rate, the reverse order and repeats do not."""
    work = Work(30, chosen=5)
    answers = gumbel_tops(work, 0.1, 4_000)
    checks.ranked(work, list(answers))
    for wrong in (gumbel_tops(work, rate, 4_000) for rate in (0.05, 0.2)):
        with pytest.raises(WrongAnswer, match="mean utility off"):
            checks.ranked(work, list(wrong))
    with pytest.raises(WrongAnswer, match="mean utility off"):
        checks.ranked(work, list(answers[:, ::-1]))
    with pytest.raises(WrongAnswer, match="twice"):
        checks.ranked(work, [answers[0][[0, 1, 2, 3, 0]]])


def test_the_check_of_responses_looks_at_both_sorts_of_bits() -> None:
    work = Work(10_000)
    right = work.bits ^ (np.random.default_rng(5).random(work.k) < 1 / (1 + np.e))
    checks.responses(work, [right])
    checks.packed_responses(work, [np.packbits(right).tobytes()])
    for wrong in (~right, right | work.bits, np.where(work.bits, right, False)):
        with pytest.raises(WrongAnswer, match="flipped"):
            checks.responses(work, [wrong])
    with pytest.raises(WrongAnswer, match="no bit"):
        checks.responses(work, [right + 2])
    with pytest.raises(WrongAnswer, match="asked for"):
        checks.responses(work, [right[1:]])


def test_checks_refuse_wrong_forms() -> None:
    with pytest.raises(WrongAnswer, match="no draw"):
        checks.drawn(Work(5), [])
    with pytest.raises(WrongAnswer, match="range"):
        checks.drawn(Work(5), [-1])
    with pytest.raises(WrongAnswer, match=r"shape \(3,\)"):
        checks.drawn(Work(5, size=3), [np.zeros(2, dtype=int)])
    with pytest.raises(WrongAnswer, match="sum"):
        checks.weight_sum(Work(5), [1.0])
    with pytest.raises(WrongAnswer, match="greatest"):
        checks.highest(Work(5), [1.0])


# The checks of private numbers, fed draws by NumPy.


def gap_draws(work: NumberWork, epsilon: float, count: int) -> Any:
    """Draws of the median's density, one an answer."""
    rng, knots = np.random.default_rng(5), work.knots[0]
    weights = np.diff(knots) * np.exp(-epsilon * np.abs(np.arange(work.k + 1) - work.k / 2))
    found = rng.choice(work.k + 1, size=count, p=weights / weights.sum())
    return rng.uniform(knots[found], knots[found + 1])


def test_the_check_of_a_median_has_power() -> None:
    """The right law passes; another rate, one side only and the ends of gaps do not."""
    work = NumberWork(1_000)
    right = gap_draws(work, 1.0, 4_000)
    checks_numbers.median(work, list(right))
    checks_numbers.cautious_median(work, list(gap_draws(work, 0.5, 4_000)))
    ends = work.knots[0][np.searchsorted(work.knots[0], right)]
    above = 2 * np.median(work.records) - right
    wrong = gap_draws(work, 0.8, 4_000), gap_draws(work, 1.2, 4_000), ends
    for draws in (*wrong, np.maximum(right, above)):
        with pytest.raises(WrongAnswer, match="off"):
            checks_numbers.median(work, list(draws))
    with pytest.raises(WrongAnswer, match="off"):
        checks_numbers.cautious_median(work, list(right))
    with pytest.raises(WrongAnswer, match="bounds"):
        checks_numbers.median(work, [-1.0])
    with pytest.raises(WrongAnswer, match="floats"):
        checks_numbers.median(work, [50])
    with pytest.raises(WrongAnswer, match="shape"):
        checks_numbers.median(NumberWork(1_000, size=3), [right[:2]])


def test_the_check_of_a_study_sees_each_data_set_and_epsilon() -> None:
    """The right draws in another order of the data sets, or of the epsilons, fail."""
    work = NumberWork(100, size=500, rows=10, data="normal")
    answer = [np.empty((10, 500)) for _ in STUDY]
    for row, records in enumerate(work.records):
        one = NumberWork(100, data="normal")
        one.__dict__["records"] = records
        for drawn, epsilon in zip(answer, STUDY, strict=True):
            drawn[row] = gap_draws(one, epsilon, 500)
    checks_numbers.study(work, [answer])
    for wrong in ([np.roll(one, 1, axis=0) for one in answer], answer[::-1]):
        with pytest.raises(WrongAnswer, match="off"):
            checks_numbers.study(work, [wrong])
    with pytest.raises(WrongAnswer, match="arrays"):
        checks_numbers.study(work, [answer[1:]])


def candidate_draws(work: NumberWork, rate: float, count: int) -> Any:
    """Draws of OpenDP's candidates by their scores."""
    own, x = rivals_numbers.candidates(work), work.records
    below, above = (x < own[:, None]).sum(axis=1), (x > own[:, None]).sum(axis=1)
    p = np.exp(-rate * np.abs(below - above))
    return np.random.default_rng(5).choice(own, size=count, p=p / p.sum())


def test_the_check_of_candidates_has_power() -> None:
    work = NumberWork(1_000, epsilon=0.1)
    checks_numbers.candidates(work, list(candidate_draws(work, 0.05, 4_000)))
    for rate in (0.04, 0.06):
        with pytest.raises(WrongAnswer, match="off"):
            checks_numbers.candidates(work, list(candidate_draws(work, rate, 4_000)))
    with pytest.raises(WrongAnswer, match="no candidate"):
        checks_numbers.candidates(work, [50.01])


def test_the_checks_of_revenues_see_one_bid() -> None:
    """Ours must be exact; a peer may misplace a bid, not two."""
    work = NumberWork(300)
    paying = (work.bids >= work.prices[:, None]).sum(axis=1)
    ticks = paying * np.arange(1, 301)
    checks_numbers.exact_revenue(work, [ticks, ticks.view(np.uint64)])
    for bids, wrong in ((1, False), (2, True)):
        off = paying - bids * (np.arange(300) == 150)
        with pytest.raises(WrongAnswer, match="revenue"):
            checks_numbers.exact_revenue(work, [off * np.arange(1, 301)])
        if not wrong:
            checks_numbers.revenue(work, [off * work.prices])
            continue
        with pytest.raises(WrongAnswer, match="revenue"):
            checks_numbers.revenue(work, [off * work.prices])


def price_draws(work: NumberWork, rate: float, count: int) -> Any:
    p = np.exp(rate * (work.revenue - work.revenue.max()) / work.k)
    return np.random.default_rng(5).choice(work.prices, size=count, p=p / p.sum())


def test_the_check_of_prices_has_power() -> None:
    work = NumberWork(300)
    checks_numbers.price(work, list(price_draws(work, 1.0, 4_000)))
    for rate in (0.5, 2.0):
        with pytest.raises(WrongAnswer, match="off"):
            checks_numbers.price(work, list(price_draws(work, rate, 4_000)))
    with pytest.raises(WrongAnswer, match="no price"):
        checks_numbers.price(work, [0.015])


def test_the_check_of_noise_has_power() -> None:
    rng = np.random.default_rng(5)
    work = NumberWork(1, size=10_000)
    checks_numbers.laplace(work, [rng.laplace(CENTER, 1.0, 10_000)])
    normal = rng.normal(CENTER, 1.0, 10_000)
    for wrong in (rng.laplace(CENTER, 1.2, 10_000), rng.laplace(CENTER + 0.2, 1.0, 10_000), normal):
        with pytest.raises(WrongAnswer, match="off"):
            checks_numbers.laplace(work, [wrong])


# The checks of studies, and the formulas they have.


def test_the_check_of_exact_tables_sees_a_millionth() -> None:
    work = StudyWork(200, size=20, rows=30, data="normal")
    right = ours_study.exact(work)()
    checks_study.exact_table(work, [right])
    for cell in (0, 11):
        wrong = right * (1 + 1e-6 * (np.arange(12) == cell))
        with pytest.raises(WrongAnswer, match="off"):
            checks_study.exact_table(work, [wrong])
    with pytest.raises(WrongAnswer, match="cells"):
        checks_study.exact_table(work, [right[:11]])


def test_the_checks_of_mean_errors_have_power() -> None:
    """By the size of the standard error that each of them has."""
    work = StudyWork(1_000, size=20, rows=500, data="normal")
    right, (mean, between, noise) = rivals_table1.window(work)(), work.spreads
    checks_study.drawn(work, [right])
    exact = rivals_table1.exact(work)()
    checks_study.expected(work, [exact])
    for cell in range(12):
        here, least = np.arange(12) == cell, np.sqrt(between / 500)
        with pytest.raises(WrongAnswer, match="off"):
            checks_study.expected(work, [mean + 12 * least * here])
        error = np.sqrt((between + noise / 20) / 500)
        with pytest.raises(WrongAnswer, match="off"):
            checks_study.drawn(work, [mean + 12 * error * here])
    with pytest.raises(WrongAnswer, match="no number"):
        checks_study.drawn(work, [right * np.nan])


def test_equal_errors_take_the_data_sets_that_they_take() -> None:
    """With that many, every cell's variance is that of exact figures, or below; one is equal."""
    work = StudyWork(200, size=20, rows=500, data="normal")
    _, between, noise = work.spreads
    many = work.data_sets_for_equal_error([20] * 12)
    shares = (between + noise / 20) / many / (between / 500)
    assert 0.999 < shares.max() <= 1


def test_variances_of_draws_are_those_of_draws() -> None:
    """The noise's part of the spread, from closed forms and from the study's own draws."""
    work = StudyWork(200, size=50, rows=2_000, data="normal")
    rows = ours_study.table1(work, 50).run(workers=1).rows
    wide = np.array([(row["high"] - row["low"]) / (2 * 1.959964) for row in rows])
    ratio = np.sqrt(work.spreads[2] / (50 * 2_000)) / wide
    assert (np.abs(ratio - 1) < 0.1).all()


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("n", [3, 4, 5, 40, 401])
def test_rivals_agree_on_smooth_sensitivity(
    n: int, in_order: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All three and the rows' form are the definition, for skewed records with ties too."""
    rng = np.random.default_rng(n)
    for beta in (0.02, 0.3, 3.0):
        monkeypatch.setattr(rivals_smooth, "RATE", beta)
        for records in (rng.standard_normal(n), np.floor(rng.lognormal(0, 2, n)) / 10 - 1):
            work = StudyWork(n, data="normal", in_order=in_order)
            x = np.sort(np.clip(records, -10, 10))
            work.__dict__["records"] = np.sort(records) if in_order else records
            knots, m = np.concatenate([[-10], x, [10]]), (n + 1) // 2
            windows = [(i, j) for i in range(m + 1) for j in range(m, n + 2) if i < j]
            right = max((knots[j] - knots[i]) * np.exp(-beta * (j - i - 1)) for i, j in windows)
            for rival in ("quadratic", "divide_and_conquer", "stopping"):
                assert getattr(rivals_smooth, rival)(work)() == pytest.approx(right, rel=1e-12)
            rows = workload_study.smooth_rows(x[None], np.array([beta]), (-10.0, 10.0))
            assert rows[0, 0] == pytest.approx(right, rel=1e-12)


def test_the_check_of_smooth_sensitivity_has_power() -> None:
    work = StudyWork(500, data="normal")
    right = ours_study.smooth(work)()
    checks_study.smooth(work, [right])
    with pytest.raises(WrongAnswer, match="smooth sensitivity"):
        checks_study.smooth(work, [right, right * (1 + 1e-11)])


def test_engines_are_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On those that start no processes; an engine with another table is an error."""
    plain = {name: getattr(study_engines, name) for name in ("one_thread", "folder", "threads")}
    made = {"bare loop": study_engines.bare, "one thread": plain.pop("one_thread"), **plain}
    monkeypatch.setattr(study_engines, "engines", lambda _stack: made)
    sizes = ["--datasets", "40", "--draws", "3", "--rounds", "2"]
    assert study_engines.main(sizes) == 0
    assert capsys.readouterr().out.count("\n| ") == 1 + len(made)
    made["other"] = lambda study: study_engines.bare(replace(study, seed=1))
    with pytest.raises(WrongAnswer, match="other"):
        study_engines.main(sizes)


def test_the_checks_of_floors() -> None:
    work = NumberWork(5)
    checks_numbers.middle(work, [np.median(work.records)])
    checks_numbers.highest(work, [work.records.max()])
    with pytest.raises(WrongAnswer, match="middle"):
        checks_numbers.middle(work, [work.records.min()])
    with pytest.raises(WrongAnswer, match="greatest"):
        checks_numbers.highest(work, [work.records.min()])


@pytest.mark.process
def test_calls_without_avx512_code_are_made_elsewhere() -> None:
    """The other process has none, answers, times itself, and hands its errors on."""
    prepare = other_dispatch.without_avx512(floors_numbers.numpy_max)
    if not other_dispatch.avx512_in_use():
        with pytest.raises(Absent, match="no AVX-512"):
            prepare(NumberWork(1_000))
        return
    work = NumberWork(1_000)
    call = prepare(work)
    assert call() == work.records.max()
    assert other_dispatch.server().ask("features") == []
    wall, cpu = measure.clock(call, 20)
    assert 0 < wall < 1
    assert cpu >= 0
    with pytest.raises(RuntimeError, match="no attribute 'records'"):
        prepare(Work(10))
    assert call() == work.records.max()


def test_calls_elsewhere_share_inputs_and_end() -> None:
    calls, works = other_dispatch.Calls(), [NumberWork(50), NumberWork(50), NumberWork(60)]
    numbers = [calls.prepare([], floors_numbers.numpy_sort, work) for work in works]
    held = [calls.held[number][1] for number in numbers]
    assert held[0] is held[1] is not held[2]
    assert calls.call(numbers[2]) == np.sort(works[2].records)[30]
    calls.prepare(numbers[:2], floors_numbers.numpy_max, works[2])
    assert list(calls.held) == [numbers[2], numbers[2] + 1]


def test_the_window_is_the_exponential_mechanism_on_all_gaps() -> None:
    """Where it leaves gaps out, at both ends or at one, and where it does not."""
    for k, epsilon in ((2_001, 2.0), (2_000, 0.8), (700, 1.1), (5, 1.0)):
        work = NumberWork(k, epsilon=epsilon, data="lognormal")
        call = rivals_numbers.window(work)
        checks_numbers.median(work, [call() for _ in range(3_000)])


@pytest.mark.process
@pytest.mark.slow
def test_draws_from_a_sorted_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--records", "20000", "--rounds", "1", "--folder", str(tmp_path)]
    assert sorted_file.main(sizes) == 0
    shown = capsys.readouterr().out
    assert "| cold, mapped |" in shown
    assert "| warm |" in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["memory", "median_memory"])
def test_a_release_that_takes_much_memory_fails(name: str) -> None:
    toy = BY_ID[f"{name}/k=10000000"].toy()
    right = toy.entries[0].prepare(toy.work())()

    def prepare(_work: Work) -> Call:
        return lambda: right + 0 * np.zeros(1_000_000, dtype=np.int64)[0]

    greedy = replace(toy, entries=(Entry("greedy", "ours", prepare),))
    with pytest.raises(WrongAnswer, match="bytes"):
        greedy.measure(greedy, TOY)


def test_the_leak_test_finds_a_difference_and_no_other() -> None:
    """Welch's t of two classes, one of them slower by half a standard deviation."""
    rng = np.random.default_rng(1)
    times = {name: 1_000 + 10 * rng.standard_normal(4_000) for name in leak.CLASSES}
    times["far"] += 5
    found = leak.welch(times)
    assert set(found) == set(leak.SUFFIXES)
    for pair, t in found.items():
        assert (t > leak.THRESHOLD) == ("far" in pair)


def test_the_leak_test_crops_outliers() -> None:
    times = {name: np.full(1_000, 100.0) + np.arange(1_000) % 7 for name in leak.CLASSES}
    times["far"][:5] = 1e9
    assert max(leak.welch(times).values()) < leak.THRESHOLD


def test_rivals_that_are_not_installed_are_listed_as_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(_name: str) -> None:
        return None

    monkeypatch.setattr(measure, "find_spec", nothing)
    toy = BY_ID["release/k=10"].toy()
    outcome = toy.measure(toy, TOY)
    assert outcome.absent["opendp"] == "opendp is not installed"
    assert outcome.absent["diffprivlib"] == "diffprivlib is not installed"
    assert "fastexp" in [row.name for row in outcome.rows]


def test_rivals_that_cannot_be_imported_are_listed_as_absent() -> None:
    def prepare(_work: Work) -> Call:
        raise ImportError("no such name")

    toy = BY_ID["release/k=10"].toy()
    broken = replace(toy, entries=(replace(toy.entries[1], prepare=prepare, needs="numpy"),))
    outcome = broken.measure(broken, TOY)
    assert outcome.rows == []
    assert "no such name" in outcome.absent["numpy_gumbel"]


def test_slow_entries_have_one_call_only() -> None:
    toy = replace(BY_ID["release/k=10"].toy(), slow_s=0.0)
    outcome = toy.measure(toy, TOY)
    assert {len(row.repeats) for row in outcome.rows} == {1}


def test_long_calls_have_every_second_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "LONG", 0)
    toy = BY_ID["single/k=100000"].toy()
    outcome = toy.measure(toy, replace(TOY, repeats=5))
    assert {len(row.repeats) for row in outcome.rows} == {3}


def test_select() -> None:
    assert [case.id for case in select(["release"], 1_000)] == ["release/k=1000"]
    assert select([], None) == list(CASES)
    with pytest.raises(ValueError, match="no such case"):
        select(["relaese"], None)
    with pytest.raises(ValueError, match="k = 7"):
        select(["release"], 7)


# Records, reports and the schema, on a record made by hand.


def row(name: str, role: str, repeats: list[float], ratio: float | None) -> dict[str, Any]:
    return {
        "case": "release/k=1000",
        "k": 1_000,
        "size": 1,
        "threads": 1,
        "name": name,
        "role": role,
        "unit": "s",
        "repeats": repeats,
        "median": sorted(repeats)[1],
        "spread": 0.02,
        "ratio": ratio,
        "checked": 50,
        "calls": 9,
        "first_s": 0.25,
        "cpu_share": 1.0,
    }


@pytest.fixture
def record() -> dict[str, Any]:
    names = ["fastexp", "winner", "loser", "gone"]
    versions = {"fastexp": "0", "numpy": "2", "numba": "1", "llvmlite": "1", "opendp": None}
    return {
        "format": 1,
        "provenance": {
            "date": "2026-01-02T03:04:05Z",
            "commit": "0123456789abcdef",
            "dirty": True,
            "cpu": "a CPU",
            "cores": 2,
            "system": "a system",
            "python": "3.11.7",
            "versions": versions,
        },
        "options": {"repeats": 3, "sample_s": 0.1, "check_s": 0.3, "runs": 20},
        "load": [0.1, None],
        "cases": [{"id": "release/k=1000", "names": names}],
        "rows": [
            row("fastexp", "ours", [1.2345e-5, 1.2e-5, 1.3e-5], 1.0),
            row("winner", "rival", [4.938e-6, 4.9e-6, 5e-6], 0.4),
            row("loser", "rival", [0.9996e-3, 0.9e-3, 1.1e-3], 80.97),
        ],
        "absent": [{"case": "release/k=1000", "name": "gone", "reason": "not installed"}],
    }


def test_the_report_shows_every_row_with_lost_ones_in_bold(record: dict[str, Any]) -> None:
    text = report.markdown(record)
    assert "| 1,000 | fastexp | ours | 12.3 µs | 1.00x | 2% | 250 ms | 3 x 9 |" in text
    assert "| 1,000 | winner | rival | **4.94 µs** | **0.400x** | 2% | 250 ms | 3 x 9 |" in text
    assert "| 1,000 | loser | rival | 1.00 ms | 81.0x | 2% | 250 ms | 3 x 9 |" in text
    assert "absent: not installed" in text
    assert "commit 0123456789 with changes" in text


def test_the_summary_shows_the_best_peer_even_if_it_won(record: dict[str, Any]) -> None:
    assert "| release | 1,000 | 12.3 µs | winner | 4.94 µs | **0.400x** |" in report.summary(record)


def test_the_summary_has_headlines_and_whatever_is_lost(record: dict[str, Any]) -> None:
    assert BY_ID.keys() >= report.HEADLINES
    record["cases"][0]["id"] = "other/k=1000"
    for entry in [*record["rows"], *record["absent"]]:
        entry["case"] = "other/k=1000"
    assert "winner" in report.summary(record)
    record["rows"][1]["ratio"] = 1.5
    assert "winner" not in report.summary(record)
    assert "winner" in report.summary(record, every=True)


def test_rows_of_utilities_are_shown(record: dict[str, Any]) -> None:
    for entry in record["rows"]:
        entry["rows"] = 10_000
    schema.validate(record)
    assert "| 1e4 x 1,000 | fastexp | ours |" in report.markdown(record)
    assert "| release | 1e4 x 1,000 |" in report.summary(record)


def test_titles_say_what_the_inputs_are() -> None:
    made = BY_ID["median_release/uniform/eps=0.01/k=10000000"], BY_ID["rows/rows=10000/k=1000"]
    assert [report.title({"id": case.id}) for case in made] == [
        "median_release uniform eps=0.01",
        "rows",
    ]


def test_noisy_rows_are_marked(record: dict[str, Any]) -> None:
    record["rows"][0]["spread"] = 0.2
    assert "| 12.3 µs ~ |" in report.markdown(record)


def test_missing_rows_raise(record: dict[str, Any]) -> None:
    for part, count in (("rows", 3), ("absent", 1)):
        for i in range(count):
            broken = copy.deepcopy(record)
            del broken[part][i]
            with pytest.raises(schema.BrokenRecord, match="missing"):
                report.markdown(broken)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.2345e-5, "s", "12.3 µs"),
        (9.996e-4, "s", "1.00 ms"),
        (3.2e-10, "s", "0.320 ns"),
        (999.4e-9, "s", "999 ns"),
        (123.4, "s", "123 s"),
        (1234.0, "s", "1230 s"),
        (239_616.0, "B", "240 kB"),
        (0.0, "|t|", "0"),
        (0.1234, "|t|", "0.123"),
    ],
)
def test_figures_have_three_digits(value: float, unit: str, text: str) -> None:
    assert report.quantity(value, unit) == text


def test_a_measurement_of_zero_raises() -> None:
    with pytest.raises(ValueError, match="> 0"):
        report.quantity(0.0, "s")


def test_the_report_goes_between_markers(record: dict[str, Any], tmp_path: Path) -> None:
    result, page = tmp_path / "r.json", tmp_path / "page.md"
    result.write_text(json.dumps(record))
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    into = [str(result), "--summary", "--into", str(page)]
    assert report.main([*into, "--check"]) == 1
    assert report.main(into) == 0
    assert report.main([*into, "--check"]) == 0
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "winner" in text
    assert "old" not in text
    with pytest.raises(ValueError, match="once each"):
        report.put_between("no markers", "table")


BREAKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no provenance": lambda r: r.pop("provenance"),
    "an unknown entry": lambda r: r.update(more=1),
    "format": lambda r: r.update(format=2),
    "a commit of 3 letters": lambda r: r["provenance"].update(commit="abc"),
    "dirty as a number": lambda r: r["provenance"].update(dirty=1),
    "no core": lambda r: r["provenance"].update(cores=0),
    "True as a number": lambda r: r["provenance"].update(cores=True),
    "a version as a number": lambda r: r["provenance"]["versions"].update(numpy=2),
    "an unknown role": lambda r: r["rows"][0].update(role="enemy"),
    "no repeats": lambda r: r["rows"][0].update(repeats=[]),
    "a negative repeat": lambda r: r["rows"][0]["repeats"].append(-1.0),
    "NaN": lambda r: r["rows"][0].update(first_s=float("nan")),
    "a ratio of 0": lambda r: r["rows"][0].update(ratio=0),
    "rows as a text": lambda r: r["rows"][0].update(rows="2"),
    "another median": lambda r: r["rows"][0].update(median=1e-9),
    "unchecked": lambda r: r["rows"][0].update(checked=0),
    "a row twice": lambda r: r["rows"].append(r["rows"][0]),
    "an unplanned row": lambda r: r["cases"][0]["names"].remove("loser"),
    "a missing row": lambda r: r["rows"].pop(),
    "absent without a reason": lambda r: r["absent"][0].update(reason=""),
}


def test_the_schema_accepts_a_right_record(record: dict[str, Any]) -> None:
    schema.validate(record)


@pytest.mark.parametrize("name", BREAKS)
def test_the_schema_rejects(record: dict[str, Any], name: str) -> None:
    BREAKS[name](record)
    with pytest.raises(schema.BrokenRecord):
        schema.validate(record)


def test_an_unknown_word_in_the_schema_raises() -> None:
    with pytest.raises(schema.BrokenRecord, match="unknown words"):
        schema.check("text", {"type": "string", "pattern": "^a"}, {}, "here")


def test_a_run_writes_a_valid_file_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy = BY_ID["release/k=10"].toy()
    made = run.measure_all([toy], TOY)
    path = tmp_path / "result.json"
    run.write(made, path)
    assert schema.read(path) == made
    assert run.default_path(made).name.startswith(made["provenance"]["date"][:10])
    with pytest.raises(FileExistsError):
        run.write(made, path)
    assert report.main([str(path)]) == 0
    assert "numpy_gumbel" in capsys.readouterr().out


def test_committed_results_are_valid() -> None:
    for path in schema.SCHEMA.parent.glob("20*.json"):
        schema.read(path)
