"""Deterministic checks of studies and comparators: small enough for the interpreter.

Plain functions, so that `tests/mutants` can run them against broken copies of the
package (`python -m tests.support.checks.studies`).
"""

from __future__ import annotations

import math

import numpy as np

import fastexp as fx
from fastexp import StudyResults
from tests.doors.kernels import smooth
from tests.doors.numbers import distance, rank_errors
from tests.doors.privacy import smooth_noise
from tests.doors.studies import ExactMoments, Totals, line_of, parsed, run_task, sketch
from tests.support.altered import changed

SMOOTH = "smooth-sensitivity-median"
DATA = [
    [1.0, 2.0, 4.0, 7.0, 8.0],
    [3.0, 3.0, 3.0, 5.0],
    [-5.0, 2.0, 2.0, 20.0],
    [0.5],
    [0.1, 0.2, 0.2, 0.3, 6.0, 6.1, 6.3, 9.0, 9.9],
]


def near(found: float, wanted: float, rel: float = 1e-12) -> None:
    """Equal except for rounding."""
    assert abs(found - wanted) <= rel * max(abs(found), abs(wanted)) + 1e-300, (found, wanted)


def windows(x: list[float], beta: float, m: int) -> float:
    """Smooth sensitivity where a record is replaced, by its formula."""
    padded = [0.0, *(min(max(v, 0.0), 10.0) for v in sorted(x)), 10.0]
    pairs = [(i, j) for i in range(m + 1) for j in range(m, len(padded)) if i < j]
    return max((padded[j] - padded[i]) * math.exp(-beta * (j - i - 1)) for i, j in pairs)


def come_and_go(x: list[float], beta: float) -> float:
    """The lower median's where records are added or removed, by its formula."""
    n, ordered = len(x), sorted(min(max(v, 0.0), 10.0) for v in x)

    def at(i: int) -> float:
        return 0.0 if i < 1 else 10.0 if i > n else ordered[i - 1]

    most = 0.0
    for k in range(n + 2):
        if k < n:
            spread = max(
                at((n + k) // 2 + 1) - at(-(-(n - k) // 2)),
                at((n + k + 1) // 2) - at(-(-(n - k - 1) // 2)),
            )
        else:
            spread = max(at(n), 10.0 - at(1)) if k == n else 10.0
        most = max(most, spread * math.exp(-beta * k))
    return most


def smooth_sensitivities() -> None:
    """Both relations, all ranks, small and large betas; one row and more ranks than pairs."""
    rng = np.random.default_rng(5)
    far = 0.001 * np.cumsum(np.exp(rng.normal(0.1, 0.9, (2, 60)) * np.linspace(0, 3, 60)), axis=1)
    wide = np.concatenate([5 - far[0], 5 + far[1]]).tolist()  # many ranks matter: an envelope
    for x in [*DATA, rng.normal(5, 2, 40).tolist(), rng.exponential(0.01, 30).tolist(), wide]:
        for beta in (0.01, 0.1, 1.0):
            for m in range(1 + len(x) // 9, len(x) + 1, 1 + len(x) // 3):
                found = fx.smooth_sensitivity(x, beta, bounds=(0, 10), rank=m)
                near(found, windows(x, beta, m))
            found = fx.smooth_sensitivity(x, beta, bounds=(0, 10), neighbors="add-remove")
            near(found, come_and_go(x, beta))


def calibrations() -> None:
    """Published numbers, and that the tight ones lie on the exact frontier."""
    made = smooth_noise.calibrate("cauchy", "paper", 1.0, 0.0)
    near(made.alpha, 1 / 6, 1e-9)
    near(made.beta, 1 / 6, 1e-9)
    near(smooth_noise.calibrate("laplace", "paper", 1.0, 0.001).beta, 0.0634370262276295, 1e-9)
    near(smooth_noise.calibrate("student-t", "paper", 1.0, 0.0).beta, 1 / 8, 1e-9)
    near(smooth_noise.calibrate("pareto-tail", "paper", 1.0, 0.0).beta, 1 / 4, 1e-9)
    for noise in ("cauchy", "student-t", "pareto-tail"):
        for epsilon in (0.3, 1.0, 2.5):
            made = smooth_noise.calibrate(noise, "tight", epsilon, 0.0)
            worst = ratio(noise, made.alpha, made.beta)
            assert epsilon * (1 - 1e-3) <= worst <= epsilon * (1 + 1e-9), (noise, worst)
    guarantee = fx.SmoothSensitivityMedian(1.0, bounds=(0, 1), noise="arsinh-normal").guarantee
    assert guarantee.epsilon is None
    near(guarantee.rho or 0.0, 0.5, 1e-9)


LOG_DENSITIES = {
    "cauchy": lambda z: -np.log1p(z * z),
    "student-t": lambda z: -2 * np.log1p(z * z / 3),
    "pareto-tail": lambda z: np.where(z < 3, -z, -3 - 3 * np.log(np.maximum(z, 3) / 3)),
}


def ratio(noise: str, alpha: float, beta: float) -> float:
    """The greatest log-ratio of densities, over shifts and scales at their limits."""
    z = np.concatenate([np.linspace(-20, 20, 4001), np.geomspace(20, 1e9, 300)])
    z = np.concatenate([z, -z])
    log, worst = LOG_DENSITIES[noise], 0.0
    for t in (-beta, -beta / 2, 0.0, beta / 2, beta):
        shift = alpha * min(1.0, math.exp(t))
        other = log(np.abs((z - shift) * math.exp(-t))) - t
        worst = max(worst, float(np.abs(log(np.abs(z)) - other).max()))
    return worst


def noises() -> None:
    """Clamped expectations by a sum over quantiles."""
    u = (np.arange(200_000) + 0.5) / 200_000
    for noise, delta in (("cauchy", 0), ("laplace", 0.1), ("student-t", 0), ("pareto-tail", 0)):
        mechanism = fx.SmoothSensitivityMedian(1.0, delta, bounds=(0, 10), noise=noise)
        law = mechanism.law(DATA[0])
        (centre,), (scale,) = mechanism._centres_and_scales(np.array([DATA[0]]))
        assert centre == 4.0
        near(scale, windows(DATA[0], mechanism.beta, 3) / mechanism.alpha)
        outputs = np.clip(centre + scale * mechanism._noise.quantile(u), 0, 10)
        assert mechanism._centres_and_scales(np.array([[1.0, 2.0, 4.0, 7.0]]))[0] == 2.0
        near(law.expected_error(4.0), float(np.abs(outputs - 4).mean()), 1e-4)
        near(law.mean(), float(outputs.mean()), 1e-4)
        near(law.var(), float(outputs.var()), 1e-4)
        near(law.cdf(6.0), float((outputs <= 6).mean()), 1e-4)
        drawn = mechanism.sample(DATA[0], 400, rng=1)
        assert abs(drawn.mean() - law.mean()) < 5 * law.sd() / 20


def medians_of_rows() -> None:
    """Figures of many data sets are those of their laws."""
    rng = np.random.default_rng(6)
    for n, step, way in ((1, 1, "weak"), (8, 1, "strict"), (9, 0.25, "lower"), (70, 0.001, "weak")):
        rows = np.sort(rng.normal(5, 2, (3, n)), axis=1)
        study_of = fx.Median(0.8, (0, 10), step=step, convention=way)
        truths = np.array([5.0, 4.3, 11.0])
        edges = np.array([0.0, 0.5, 2.0, 6.5])
        found = rank_errors.figures(study_of._statistic, rows, truths)
        inside = rank_errors.masses(study_of._statistic, rows, truths, edges)
        for r, truth in enumerate(truths.tolist()):
            law = study_of.law(rows[r])
            near(found.error[r], law.expected_error(truth), 1e-11)
            near(found.loss[r], law.expected_loss(), 1e-11)
            bias = law.mean() - truth
            assert abs(found.bias[r] - bias) < 1e-10
            near(found.error_square[r], law.var() + bias * bias, 1e-8)
            below = law.cdf(np.nextafter(truth - edges, -np.inf))
            assert np.allclose(inside[r], law.cdf(truth + edges) - below, rtol=0, atol=1e-11)
            drawn = study_of.sample(rows[r], 5, rng=2)
            losses = rank_errors.distances(study_of._statistic, rows[r : r + 1], drawn[None, :])
            known = -np.log(law.pmf(drawn) / law.pmf(law.ppf(np.linspace(0, 1, 999))).max()) / 0.4
            assert np.allclose(losses[0], known, atol=1e-6)


def medians_of_long_rows() -> None:
    """The same where not all ranks are looked at, but those that count."""
    rng = np.random.default_rng(8)
    mechanism = fx.Median(4.0, (0, 10), step=0.001)
    rows = np.sort(rng.normal(5, 2, (8, 400)), axis=1)
    rows[1] = np.repeat(rows[1, ::2], 2)
    rows[2, 150:300] = rows[2, 150]
    rows[3] = np.r_[rows[3, :100], np.full(299, 8.0), 9.5]
    rows[4] = rows[4].round(2)
    rows[5, 195:197], rows[6, 203:205] = rows[5, 195], rows[6, 203]
    rows[7] = 0.002 * np.arange(400)
    rows[7, 200:] -= 0.001
    truths, edges = np.median(rows, axis=1), np.array([0.0, 0.001, 0.01, 0.02, 2.0, 10.0])
    statistic = mechanism._statistic
    figures = rank_errors.figures(statistic, rows, truths)
    inside = rank_errors.masses(statistic, rows, truths, edges)
    losses = rank_errors.distances(statistic, rows, np.tile([0.0, 3.0, 5.0, 10.0], (8, 1)))
    for r, truth in enumerate(truths.tolist()):
        law = mechanism.law(rows[r])
        error = law._weights.error(*law._around(np.array([truth]))).item() * law._scale
        assert abs(figures.error[r] - error) <= 1e-11 * error
        assert abs(figures.loss[r] - law.expected_loss()) <= 1e-11 * law.expected_loss()
        (below, _), (upto, _) = law._window(np.full(edges.shape, truth), edges)
        assert np.allclose(inside[r], upto - below, rtol=0, atol=1e-12)
        points = rows[r, :, None].round(3)
        less, more = (points < [0, 3, 5, 10]).sum(axis=0), (points > [0, 3, 5, 10]).sum(axis=0)
        known = distance.distance(statistic.form_of(400), less, 400 - less - more, more)
        assert (losses[r] - losses[r].min()).tolist() == (known - known.min()).tolist()


def study(**changes: object) -> fx.Study:
    """A small study of everything that is drawn and added up."""
    settings = {
        "name": "check",
        "data": [{"name": "normal", "mean": 5.0}, {"name": "leader", "lead": 2.0}],
        "n": 7,
        "bounds": (0, 10),
        "epsilon": 1.0,
        "mechanisms": ["median", SMOOTH, "exponential"],
        "figures": ("error", "bias", "loss", "error_quantile"),
        "datasets": 10,
        "draws": 40,
        "block": 4,
    }
    return fx.Study(**{**settings, **changes})  # type: ignore[arg-type]


def studies() -> None:
    """Tasks are pure, merge in any order, and agree with what they estimate."""
    made = study()
    results = [run_task(made, number) for number in range(made.tasks)]
    assert results == [run_task(made, number) for number in reversed(range(made.tasks))][::-1]
    first, second = (result["cells"][0]["error"]["moments"] for result in results[:2])
    assert first["exact"] != second["exact"]
    tables = []
    for order in (results, results[::-1]):
        totals = Totals(made)
        for result in order:
            kept = parsed(line_of(result))
            assert kept == result
            assert parsed(line_of(result).replace(b"rows", b"wors")) is None
            totals.add(kept, result["task"] // 3)
        tables.append(StudyResults(made, totals))
    assert tables[0].to_csv() == tables[1].to_csv()
    assert tables[0].agree
    assert {row["datasets"] for row in tables[0].rows} == {10}
    exact = [row["exact"] for row in tables[0].rows if row["figure"] == "error"]
    assert all(0 < x < 10 for x in exact)
    wrong = study(mechanisms=["median"], data="normal", datasets=30, draws=200)
    subject = wrong.cells[0].subject
    subject.mechanism, kept_one = fx.Median(2.0, (0, 10)), subject.mechanism
    drawn = subject.draw
    subject.mechanism = kept_one

    def other(block: object, size: int, key: int) -> object:
        subject.mechanism = fx.Median(2.0, (0, 10))
        found = drawn(block, size, key)
        subject.mechanism = kept_one
        return found

    subject.draw = other
    assert not wrong.run(workers=1).agree


def sketches() -> None:
    """Quantiles within a bin; merged bins are all bins."""
    edges = sketch.edges_below(10.0)
    sample = np.random.default_rng(7).exponential(1.0, 4000)
    sums = np.cumsum(sketch.counts(sample, edges)).astype(float)
    for p in (0.1, 0.5, 0.9):
        near(sketch.quantile(sums, edges, p, 0.0), float(np.quantile(sample, p)), 0.01)
    whole = np.floor(sample * 3)
    sums = np.cumsum(sketch.counts(whole, edges)).astype(float)
    for p in (0.1, 0.5, 0.9):
        known = np.quantile(whole, p, method="inverted_cdf")
        assert sketch.quantile(sums, edges, p, 1.0) == known
    assert sketch.packed(np.array([0, 3, 0, 5, 0])) == [[1, 3], [3, 5]]


def moments() -> None:
    """Of groups that are equal within, and of one."""
    made = ExactMoments()
    for group in (1.0, 3.0):
        made.add(2, 2 * group, 0.0)
    near(made.deviation or 0.0, math.sqrt(4 / 3))
    made.add(3, 6.0, 2.0)
    near(made.deviation or 0.0, 1.0)
    assert made.mean == 2.0


def theorem_1() -> None:
    """The factor of the smooth sensitivity for a known slope."""
    x = np.linspace(-10, 10, 1001)
    found = fx.error_bound(x, 1.0, bounds=(-10, 10), failure=0.05, slope=0.0025)
    beta = 0.0257471991
    known = fx.smooth_sensitivity(x, beta, bounds=(-10, 10), neighbors="add-remove")
    near(found, 66.73665052 * known, 1e-7)


def run() -> None:
    """Everything."""
    sketches()
    moments()
    theorem_1()
    calibrations()
    smooth_sensitivities()
    with changed((smooth, "DIRECT", 0)):  # the envelope alone; only the interpreter sees this
        smooth_sensitivities()
    noises()
    medians_of_rows()
    medians_of_long_rows()
    with changed((rank_errors, "BITS", 1)):  # too few ranks at first
        medians_of_long_rows()
    studies()


if __name__ == "__main__":
    run()
