"""Checks of benchmarks: right answers pass, wrong ones do not; peers draw from the right law."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from benchmarks.groups import cases as group_cases
from benchmarks.groups import checks as group_checks
from benchmarks.groups.workload import GroupWork
from benchmarks.harness.outcome import WrongAnswer
from benchmarks.harness.workload import Check
from benchmarks.numbers import checks as number_checks
from benchmarks.numbers import rivals
from benchmarks.numbers.workload import CENTER, STUDY, NumberWork
from benchmarks.selection import checks
from benchmarks.selection.workload import SelectionWork
from benchmarks.studies import checks as study_checks
from benchmarks.studies import engines, rivals_smooth, rivals_table1
from benchmarks.studies.cases import smooth
from benchmarks.studies.workload import StudyWork, smooth_rows
from tests.support.each import each


def refuses(check: Check, work: Any, answers: list[Any], *, because: str) -> None:
    """The check says that these answers are wrong, and why."""
    with pytest.raises(WrongAnswer, match=because):
        check(work, answers)


def exact_draws(work: SelectionWork, rate: float, count: int) -> list[Any]:
    """Draws of exp(rate * u) by NumPy, one an answer."""
    weights = np.exp(rate * (work.utilities - 20.0))
    p = weights / weights.sum()
    return list(np.random.default_rng(5).choice(work.k, size=count, p=p))


def test_the_mean_test_has_power() -> None:
    """4,000 draws at the right rate pass; at a rate 20 percent off they do not."""
    work = SelectionWork(300)
    checks.exponential(work, exact_draws(work, 0.5, 4_000))
    for rate in (0.4, 0.6):
        refuses(checks.exponential, work, exact_draws(work, rate, 4_000), because="mean off")


def test_the_mean_test_of_rows_sees_each_rows_own_law() -> None:
    """The right draws, of the wrong rows, fail."""
    work = SelectionWork(30, rows=60)
    weights = np.exp(0.5 * (work.utilities - 20.0))
    rng = np.random.default_rng(5)
    draws = [[rng.choice(30, p=w / w.sum()) for w in weights] for _ in range(50)]
    checks.exponential(work, [np.array(one) for one in draws])
    refuses(checks.exponential, work, [np.roll(one, 1) for one in draws], because="mean off")


def permuted_and_flipped(work: SelectionWork, count: int) -> list[Any]:
    """Draws of permute-and-flip by its definition."""
    rng, accept = np.random.default_rng(5), np.exp(0.5 * (work.utilities - work.utilities.max()))
    orders = [rng.permutation(work.k) for _ in range(count)]
    return [next(int(r) for r in order if rng.random() < accept[r]) for order in orders]


def test_the_mean_test_of_permute_and_flip_has_power() -> None:
    """It knows the law from the exponential mechanism's."""
    work = SelectionWork(10)
    draws = permuted_and_flipped(work, 4_000)
    checks.permute_and_flip(work, draws)
    refuses(checks.exponential, work, draws, because="mean off")
    refuses(checks.permute_and_flip, work, exact_draws(work, 0.5, 4_000), because="mean off")


def gumbel_tops(work: SelectionWork, rate: float, count: int) -> Any:
    """Top-k selections in order by NumPy, one an answer."""
    noise = np.random.default_rng(5).gumbel(size=(count, work.k))
    return np.argsort(-(rate * work.utilities + noise))[:, : work.chosen]


def test_the_check_of_a_top_k_has_power() -> None:
    """The right rate passes; half or twice the rate, the reverse order and repeats do not."""
    work = SelectionWork(30, chosen=5)
    answers = gumbel_tops(work, 0.1, 4_000)
    checks.top_k(work, list(answers))
    for wrong in (gumbel_tops(work, rate, 4_000) for rate in (0.05, 0.2)):
        refuses(checks.top_k, work, list(wrong), because="mean off")
    refuses(checks.top_k, work, list(answers[:, ::-1]), because="mean off")
    refuses(checks.top_k, work, [answers[0][[0, 1, 2, 3, 0]]], because="twice")


def test_the_check_of_responses_looks_at_both_sorts_of_bits() -> None:
    work = SelectionWork(10_000)
    right = work.bits ^ (np.random.default_rng(5).random(work.k) < 1 / (1 + np.e))
    checks.responses(work, [right])
    checks.packed_responses(work, [np.packbits(right).tobytes()])
    for wrong in (~right, right | work.bits, np.where(work.bits, right, False)):
        refuses(checks.responses, work, [wrong], because="flipped")
    refuses(checks.responses, work, [right + 2], because="no bit")
    refuses(checks.responses, work, [right[1:]], because="required")


def test_checks_refuse_wrong_forms() -> None:
    refuses(checks.exponential, SelectionWork(5), [], because="no draw")
    refuses(checks.exponential, SelectionWork(5), [-1], because="range")
    refuses(
        checks.exponential,
        SelectionWork(5, size=3),
        [np.zeros(2, dtype=int)],
        because=r"shape \(3,\)",
    )
    refuses(checks.weights, SelectionWork(5), [np.ones(5)], because="weights")
    refuses(checks.highest, SelectionWork(5), [1.0], because="greatest")


# The checks of private numbers, fed draws by NumPy.


def gap_draws(work: NumberWork, epsilon: float, count: int) -> Any:
    """Draws of the median's density, one an answer."""
    rng, knots = np.random.default_rng(5), work.knots[0]
    weights = np.diff(knots) * np.exp(-epsilon * np.abs(np.arange(work.k + 1) - work.k / 2))
    gap = rng.choice(work.k + 1, size=count, p=weights / weights.sum())
    return rng.uniform(knots[gap], knots[gap + 1])


def test_the_check_of_a_median_has_power() -> None:
    """The right law passes; another rate, one side only and the ends of gaps do not."""
    work = NumberWork(1_000)
    right = gap_draws(work, 1.0, 4_000)
    number_checks.median(work, list(right))
    number_checks.cautious_median(work, list(gap_draws(work, 0.5, 4_000)))
    ends = work.knots[0][np.searchsorted(work.knots[0], right)]
    above = 2 * np.median(work.records) - right
    wrong = gap_draws(work, 0.8, 4_000), gap_draws(work, 1.2, 4_000), ends
    for draws in (*wrong, np.maximum(right, above)):
        refuses(number_checks.median, work, list(draws), because="off")
    refuses(number_checks.cautious_median, work, list(right), because="off")
    refuses(number_checks.median, work, [-1.0], because="bounds")
    refuses(number_checks.median, work, [50], because="floats")
    refuses(number_checks.median, NumberWork(1_000, size=3), [right[:2]], because="shape")


def test_the_check_of_a_study_sees_each_data_set_and_epsilon() -> None:
    """The right draws in another order of the data sets, or of the epsilons, fail."""
    work = NumberWork(100, size=500, rows=10, data="normal")
    answer = [np.empty((10, 500)) for _ in STUDY]
    for row, records in enumerate(work.records):
        one = NumberWork(100, data="normal")
        one.__dict__["records"] = records
        for drawn, epsilon in zip(answer, STUDY, strict=True):
            drawn[row] = gap_draws(one, epsilon, 500)
    number_checks.study(work, [answer])
    for wrong in ([np.roll(one, 1, axis=0) for one in answer], answer[::-1]):
        refuses(number_checks.study, work, [wrong], because="off")
    refuses(number_checks.study, work, [answer[1:]], because="arrays")


def candidate_draws(work: NumberWork, rate: float, count: int) -> Any:
    """Draws of OpenDP's candidates by their scores."""
    points, x = rivals.candidates(work), work.records
    below, above = (x < points[:, None]).sum(axis=1), (x > points[:, None]).sum(axis=1)
    p = np.exp(-rate * np.abs(below - above))
    return np.random.default_rng(5).choice(points, size=count, p=p / p.sum())


def test_the_check_of_candidates_has_power() -> None:
    work = NumberWork(1_000, epsilon=0.1)
    number_checks.candidates(work, list(candidate_draws(work, 0.05, 4_000)))
    for rate in (0.04, 0.06):
        refuses(
            number_checks.candidates, work, list(candidate_draws(work, rate, 4_000)), because="off"
        )
    refuses(number_checks.candidates, work, [50.01], because="no candidate")


def test_the_checks_of_revenues_see_one_bid() -> None:
    """Ours must be exact; a peer may misplace a bid, not two."""
    work = NumberWork(300)
    paying = (work.bids >= work.prices[:, None]).sum(axis=1)
    ticks = paying * np.arange(1, 301)
    number_checks.exact_revenue(work, [ticks, ticks.view(np.uint64)])
    one, two = (paying - bids * (np.arange(300) == 150) for bids in (1, 2))
    for off in (one, two):
        refuses(number_checks.exact_revenue, work, [off * np.arange(1, 301)], because="revenue")
    number_checks.revenue(work, [one * work.prices])
    refuses(number_checks.revenue, work, [two * work.prices], because="revenue")


def price_draws(work: NumberWork, rate: float, count: int) -> Any:
    p = np.exp(rate * (work.revenue - work.revenue.max()) / work.k)
    return np.random.default_rng(5).choice(work.prices, size=count, p=p / p.sum())


def test_the_check_of_prices_has_power() -> None:
    work = NumberWork(300)
    number_checks.price(work, list(price_draws(work, 1.0, 4_000)))
    for rate in (0.5, 2.0):
        refuses(number_checks.price, work, list(price_draws(work, rate, 4_000)), because="off")
    refuses(number_checks.price, work, [0.015], because="no price")


def anywhere_draws(work: NumberWork, rate: float, count: int) -> Any:
    """Draws of the density of a price between the bounds, by rejection."""
    rng, high = np.random.default_rng(5), work.prices[-1]
    prices = rng.uniform(work.prices[0], high, 200 * count)
    paying = work.bids.size - np.searchsorted(np.sort(work.bids), prices)
    utilities = paying * prices / high
    accepted = rng.random(prices.size) < np.exp(rate * (utilities - utilities.max()))
    assert accepted.sum() >= count
    return prices[accepted][:count]


@pytest.mark.slow
def test_the_check_of_prices_anywhere_has_power() -> None:
    """The right law passes; another rate and prices moved to those of the case do not."""
    work = NumberWork(100)
    right = anywhere_draws(work, 1.0, 4_000)
    number_checks.price_anywhere(work, list(right))
    lower = work.prices[np.searchsorted(work.prices, right, "right") - 1]
    for draws in (anywhere_draws(work, 0.8, 4_000), anywhere_draws(work, 1.25, 4_000), lower):
        refuses(number_checks.price_anywhere, work, list(draws), because="off")
    refuses(number_checks.price_anywhere, work, [0.001], because="bounds")


def test_the_check_of_noise_has_power() -> None:
    rng = np.random.default_rng(5)
    work = NumberWork(1, size=10_000)
    number_checks.laplace(work, [rng.laplace(CENTER, 1.0, 10_000)])
    normal = rng.normal(CENTER, 1.0, 10_000)
    for wrong in (rng.laplace(CENTER, 1.2, 10_000), rng.laplace(CENTER + 0.2, 1.0, 10_000), normal):
        refuses(number_checks.laplace, work, [wrong], because="off")


def test_the_checks_of_floors() -> None:
    work = NumberWork(5)
    number_checks.middle(work, [np.median(work.records)])
    number_checks.highest(work, [work.records.max()])
    refuses(number_checks.middle, work, [work.records.min()], because="middle")
    refuses(number_checks.highest, work, [work.records.min()], because="greatest")


# The checks of studies, and the formulas they have.


def test_the_check_of_exact_tables_sees_a_millionth() -> None:
    work = StudyWork(200, size=20, rows=30, data="normal")
    right = engines.exact(work)()
    study_checks.exact_table(work, [right])
    for cell in (0, 11):
        wrong = right * (1 + 1e-6 * (np.arange(12) == cell))
        refuses(study_checks.exact_table, work, [wrong], because="off")
    refuses(study_checks.exact_table, work, [right[:11]], because="cells")


def test_the_checks_of_mean_errors_have_power() -> None:
    """By the size of the standard error that each of them has."""
    work = StudyWork(1_000, size=20, rows=500, data="normal")
    right, (mean, between, noise) = rivals_table1.window(work)(), work.spreads
    study_checks.drawn(work, [right])
    exact = rivals_table1.exact(work)()
    study_checks.expected(work, [exact])
    for cell in range(12):
        here, least = np.arange(12) == cell, np.sqrt(between / 500)
        refuses(study_checks.expected, work, [mean + 12 * least * here], because="off")
        error = np.sqrt((between + noise / 20) / 500)
        refuses(study_checks.drawn, work, [mean + 12 * error * here], because="off")
    refuses(study_checks.drawn, work, [right * np.nan], because="no number")


def test_equal_errors_take_the_data_sets_that_they_take() -> None:
    """With that many, every cell's variance is that of exact figures, or below; one is equal."""
    work = StudyWork(200, size=20, rows=500, data="normal")
    _, between, noise = work.spreads
    many = work.data_sets_for([20] * 12)
    shares = (between + noise / 20) / many / (between / 500)
    assert 0.999 < shares.max() <= 1


@pytest.mark.slow
def test_variances_of_draws_are_those_of_draws() -> None:
    """The noise's part of the spread, from closed forms and from the study's own draws."""
    work = StudyWork(200, size=50, rows=2_000, data="normal")
    rows = engines.table1(work, 50).run(workers=1).rows
    wide = np.array([(row["high"] - row["low"]) / (2 * 1.959964) for row in rows])
    ratio = np.sqrt(work.spreads[2] / (50 * 2_000)) / wide
    assert (np.abs(ratio - 1) < 0.1).all()


@pytest.mark.slow
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
            rows = smooth_rows(x[None], np.array([beta]), (-10.0, 10.0))
            assert rows[0, 0] == pytest.approx(right, rel=1e-12)


def test_the_check_of_smooth_sensitivity_has_power() -> None:
    work = StudyWork(500, data="normal")
    right = smooth(work)()
    study_checks.smooth(work, [right])
    refuses(study_checks.smooth, work, [right, right * (1 + 1e-11)], because="smooth sensitivity")


@pytest.mark.slow
def test_the_window_is_the_exponential_mechanism_on_all_gaps() -> None:
    """Where it leaves gaps out, at both ends or at one, and where it does not."""
    for k, epsilon in ((2_001, 2.0), (2_000, 0.8), (700, 1.1), (5, 1.0)):
        work = NumberWork(k, epsilon=epsilon, data="lognormal")
        call = rivals.window(work)
        number_checks.median(work, [call() for _ in range(3_000)])


@each(
    "mechanism",
    [group_cases.widened, group_cases.mode, group_cases.price],
    ids=lambda m: m.__name__,
)
def test_the_check_of_statistics_by_group_has_power(mechanism: Any) -> None:
    """Draws of other groups are refused, as is what is no point of the grid."""
    work = GroupWork(40, rows=400)
    draws = group_cases.of_segments(work, mechanism)()
    group_checks.of_law(mechanism, work, [draws])
    lowest = np.full_like(draws, mechanism(work).grid.value(0))
    refuses(partial(group_checks.of_law, mechanism), work, [lowest], because="mean off")
    refuses(partial(group_checks.of_law, mechanism), work, [draws + 0.5], because="no point")
