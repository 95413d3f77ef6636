"""Exact figures of laws: a thousand random mechanisms and data sets, with some figures of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np

import fastexp as fx
from tests.book.entries import Entry, outcome

CASES = 1000
EACH = 4  # figures of a case


def entries() -> Iterator[Entry]:
    """All of them."""
    for number in range(CASES):
        yield _case(number)


def _case(number: int) -> Entry:
    """The figures of one case, which its number decides."""
    rng = Random(f"law {number}")  # noqa: S311  # for test data
    kind = list(KINDS)[number % len(KINDS)]
    mechanism, data = KINDS[kind](rng)
    continuous = hasattr(mechanism, "continuous_law") and rng.random() < 0.2
    try:
        law = mechanism.continuous_law(data) if continuous else mechanism.law(data)
    except fx.FastexpError as error:
        return Entry(f"case {number:03}", type(error).__name__, repr(mechanism))
    figures = _figures(law, rng)
    if not continuous:
        figures |= _losses(mechanism, law, _neighbor(data, rng))
        figures["accuracy"] = lambda: _accuracy(mechanism, data)
    names = [list(figures)[rng.randrange(len(figures))] for _ in range(EACH)]
    values = {name: _plain(outcome(figures[name])) for name in names}
    about = f"{mechanism!r}.{'continuous_' * continuous}law({_short(data)})"
    return Entry(f"case {number:03}", values, about)


def _accuracy(mechanism: Any, data: Any) -> Any:
    accuracy = mechanism.accuracy(data)
    return [part.expected for part in accuracy] if isinstance(accuracy, list) else accuracy.expected


def _plain(value: Any) -> Any:
    """A figure as a float, or as a list of them."""
    if isinstance(value, str):
        return value
    return [float(x) for x in value] if np.ndim(value) else float(value)


def _short(data: Any) -> str:
    text = str(data.tolist() if isinstance(data, np.ndarray) else data)
    return text if len(text) < 60 else f"{text[:56]}...]"


# Mechanisms and their data, by a random source.
def _epsilon(rng: Random) -> float:
    return float(f"{10 ** rng.uniform(-2, 1):.3g}")


def _utilities(rng: Random) -> Any:
    size, scale = rng.randrange(2, 40), rng.choice((3, 30, 300))
    whole = [rng.randrange(scale) for _ in range(size)]
    return whole if rng.random() < 0.5 else [x / 8 for x in whole]


def _counts(rng: Random) -> Any:
    return [rng.randrange(30) for _ in range(rng.randrange(4, 20))]


def _records(rng: Random, highest: int, least: int = 0) -> Any:
    size = max(least, rng.choice((0, 1, 2, 7, 30, 101, 400)))
    whole = rng.random() < 0.6
    return [rng.randrange(highest + 1) if whole else rng.uniform(0, highest) for _ in range(size)]


def _grid(rng: Random) -> tuple[int, dict[str, Any]]:
    """The highest point, and the options of a grid of one form or another."""
    highest = rng.choice((10, 120, 1000))
    form = rng.randrange(4)
    if form == 0:
        return highest, {"bounds": (0, highest)}
    if form == 1:
        return highest, {"grid": tuple(highest * i * i / 900 for i in range(31))}
    return highest, {"bounds": (0, highest), "step": 1 if form == 2 else 0.25}


def _relation(rng: Random) -> Any:
    return rng.choice(("add-remove", "replace"))


def _widen(rng: Random) -> Any:
    return rng.choice((0, 0, 1, 0.5))


def _exponential(rng: Random) -> tuple[Any, Any]:
    utilities = _utilities(rng)
    base = [rng.randrange(4) / 2 for _ in utilities[1:]] + [1.0] if rng.random() < 0.3 else None
    monotonic = rng.random() < 0.4
    return fx.Exponential(
        _epsilon(rng), rng.choice((1, 2.5)), monotonic=monotonic, base=base
    ), utilities


def _flips(rng: Random) -> tuple[Any, Any]:
    return fx.PermuteAndFlip(_epsilon(rng), 1.0, monotonic=rng.random() < 0.4), _utilities(rng)


def _top(rng: Random) -> tuple[Any, Any]:
    delta = rng.choice((0.0, 1e-6))
    return fx.TopK(2, _epsilon(rng), 1.0, delta=delta), _utilities(rng)


def _joint_top(rng: Random) -> tuple[Any, Any]:
    return fx.JointTopK(rng.randrange(1, 4), _epsilon(rng), neighbors=_relation(rng)), _counts(rng)


def _noisy_maximum(rng: Random) -> tuple[Any, Any]:
    noise = rng.choice(("exponential", "gumbel"))
    return fx.ReportNoisyMax(_epsilon(rng), 1.0, noise=noise), _utilities(rng)


def _commonest(rng: Random) -> tuple[Any, Any]:
    mechanism = rng.choice(("exponential", "permute-and-flip"))
    choices = range(rng.randrange(2, 9))
    records = [rng.randrange(10) for _ in range(rng.randrange(200))]
    relation = _relation(rng)
    return fx.MostCommon(_epsilon(rng), choices, neighbors=relation, mechanism=mechanism), records


def _median(rng: Random) -> tuple[Any, Any]:
    highest, grid = _grid(rng)
    mechanism = fx.Median(
        _epsilon(rng),
        **grid,
        neighbors=_relation(rng),
        convention=rng.choice(("weak", "lower", "upper", "strict")),
        widen=_widen(rng),
    )
    return mechanism, _records(rng, highest)


def _quantile(rng: Random) -> tuple[Any, Any]:
    highest, grid = _grid(rng)
    mechanism = fx.Quantile(
        rng.randrange(1, 100) / 100,
        _epsilon(rng),
        **grid,
        neighbors=_relation(rng),
        convention=rng.choice(("weak", "lower")),
        widen=_widen(rng),
    )
    return mechanism, _records(rng, highest)


def _order_statistic(rng: Random) -> tuple[Any, Any]:
    highest, grid = _grid(rng)
    r = rng.randrange(1, 9)
    return fx.OrderStatistic(r, _epsilon(rng), **grid, widen=_widen(rng)), _records(rng, highest)


def _maximum(rng: Random) -> tuple[Any, Any]:
    highest, grid = _grid(rng)
    return fx.Maximum(_epsilon(rng), **grid, widen=_widen(rng)), _records(rng, highest)


def _mode(rng: Random) -> tuple[Any, Any]:
    highest, grid = _grid(rng)
    return fx.Mode(_epsilon(rng), **grid), _records(rng, highest)


def _price(rng: Random) -> tuple[Any, Any]:
    highest, grid = _grid(rng)
    scaling = rng.choice(("tight", "textbook"))
    return fx.Price(_epsilon(rng), **grid, scaling=scaling), _records(rng, highest)


def _laplace(rng: Random) -> tuple[Any, Any]:
    bounds = (0, 20) if rng.random() < 0.5 else None
    step = rng.choice((1, 0.25))
    return fx.Laplace(_epsilon(rng), 1, step=step, bounds=bounds), rng.randrange(1, 80) / 4


def _bit(rng: Random) -> tuple[Any, Any]:
    return fx.RandomizedResponse(_epsilon(rng)), rng.randrange(2)


def _laplace_median(rng: Random) -> tuple[Any, Any]:
    return fx.LaplaceMedian(_epsilon(rng), (0, 120)), _records(rng, 120, 1)


def _smooth_median(rng: Random) -> tuple[Any, Any]:
    noise, delta = rng.choice((("cauchy", 0.0), ("student-t", 0.0), ("laplace", 1e-5)))
    epsilon, relation = _epsilon(rng), _relation(rng)
    mechanism = fx.SmoothSensitivityMedian(
        epsilon, delta, bounds=(0, 120), noise=noise, calibration="tight", neighbors=relation
    )
    return mechanism, _records(rng, 120, 1)


def _quantiles(rng: Random) -> tuple[Any, Any]:
    q = sorted({rng.randrange(1, 100) / 100 for _ in range(rng.randrange(1, 4))})
    records = [rng.randrange(61) for _ in range(rng.choice((0, 3, 20, 60)))]
    options: dict[str, Any] = {"bounds": (0, 60), "step": 1}
    if rng.random() < 0.4:
        return fx.JointExponentialQuantiles(q, _epsilon(rng), **options), records
    return fx.Quantiles(q, _epsilon(rng), **options, neighbors=_relation(rng)), records


KINDS: dict[str, Callable[[Random], tuple[Any, Any]]] = {
    function.__name__: function
    for function in (
        _exponential,
        _flips,
        _top,
        _joint_top,
        _noisy_maximum,
        _commonest,
        _median,
        _quantile,
        _order_statistic,
        _maximum,
        _mode,
        _price,
        _laplace,
        _bit,
        _laplace_median,
        _smooth_median,
        _quantiles,
    )
}


# Figures of a law, by their names, at random places.
def _figures(law: Any, rng: Random) -> dict[str, Callable[[], Any]]:
    p, share = round(rng.uniform(0.01, 0.99), 4), round(rng.random(), 4)
    if isinstance(law, fx.QuantilesLaw):
        return {**_of_marginal(law, p), **_several(law)}
    if isinstance(law, (fx.TopKLaw, fx.JointTopKLaw)):
        figures = _of_places(law)
        return (
            {**figures, **_of_losses(law, rng, p)} if isinstance(law, fx.JointTopKLaw) else figures
        )
    if isinstance(law, (fx.FiniteLaw, fx.PermuteAndFlipLaw)):
        return {**_of_candidates(law), **_of_losses(law, rng, p)}
    figures = _of_number(law, p, share)
    return figures if isinstance(law, fx.NoiseLaw) else {**figures, **_of_losses(law, rng, p)}


def _of_number(law: Any, p: float, share: float) -> dict[str, Callable[[], Any]]:
    low, high = (float(law.ppf(x)) for x in (0.001, 0.999))
    x = low + share * (high - low)
    figures: dict[str, Callable[[], Any]] = {
        "cdf": lambda: law.cdf(x),
        "ppf": lambda: law.ppf(p),
        "mean": law.mean,
        "sd": law.sd,
        "expected_error": lambda: law.expected_error(x),
        "error_quantile": lambda: law.error_quantile(p, x),
        "epsilon_for an error": lambda: law.epsilon_for(error=3 + x / 50, probability=p, truth=x),
        "epsilon_for an expected error": lambda: law.epsilon_for(expected_error=x / 9 + 1, truth=x),
    }
    if isinstance(law, fx.GridLaw):
        figures |= {
            "pmf": lambda: law.pmf(law.ppf(p)),
            "log_normalizer": lambda: law.log_normalizer,
        }
        figures |= {"utility": lambda: law.utility(law.ppf(p))}
    elif isinstance(law, fx.ContinuousLaw):
        figures |= {"pdf": lambda: law.pdf(x), "log_normalizer": lambda: law.log_normalizer}
    return figures


def _of_losses(law: Any, rng: Random, p: float) -> dict[str, Callable[[], Any]]:
    limit = rng.randrange(20) / 4
    return {
        "expected_loss": law.expected_loss,
        "expected_utility": law.expected_utility,
        "loss_cdf": lambda: law.loss_cdf(limit),
        "loss_tail": lambda: law.loss_tail(limit),
        "loss_quantile": lambda: law.loss_quantile(p),
        "epsilon_for a loss": lambda: law.epsilon_for(loss=limit, probability=p),
        "epsilon_for an expected loss": lambda: law.epsilon_for(expected_loss=limit + 0.5),
    }


def _of_candidates(law: Any) -> dict[str, Callable[[], Any]]:
    return {
        "probabilities": lambda: law.probabilities[:2],
        "greatest probability": lambda: max(law.probabilities),
        "log_probabilities": lambda: min(law.log_probabilities),
        "log_normalizer": lambda: law.log_normalizer,
        "loss_variance": law.loss_variance,
        "theorem_6": lambda: law.theorem_6(2.0),
        "with_epsilon": lambda: law.with_epsilon(0.7).expected_loss(),
    }


def _of_places(law: Any) -> dict[str, Callable[[], Any]]:
    figures: dict[str, Callable[[], Any]] = {
        "log_probability": lambda: law.log_probability(range(law.k)),
        "first_place_probabilities": lambda: law.first_place_probabilities[:2],
    }
    if isinstance(law, fx.JointTopKLaw):
        figures |= {
            "place_probabilities": lambda: law.place_probabilities(0)[:2],
            "loss_pmf": lambda: law.loss_pmf([0, 1]),
            "log_normalizer": lambda: law.log_normalizer,
        }
    else:
        figures["epsilon_for a loss"] = lambda: law.epsilon_for(expected_loss=0.5)
    return figures


def _several(law: Any) -> dict[str, Callable[[], Any]]:
    return {
        "expected_error": lambda: law.expected_error([20.0] * len(law.q)),
        "expected_rank_error": law.expected_rank_error,
        "log_normalizer": lambda: law.log_normalizer,
        "total": lambda: law.total().mean(),
    }


def _of_marginal(law: Any, p: float) -> dict[str, Callable[[], Any]]:
    return {
        "marginal(0).mean": lambda: law.marginal(0).mean(),
        "marginal(0).ppf": lambda: law.marginal(0).ppf(p),
        "marginal(0).pmf": lambda: law.marginal(0).pmf(20),
    }


# The loss of privacy against a neighbor.
def _neighbor(data: Any, rng: Random) -> Any:
    """Data that differ in a record, a count, or what the data are."""
    if isinstance(data, (int, float)):
        return data + 1 if data != 1 else 0
    data = list(data)
    if not data:
        return [3]
    place = rng.randrange(len(data))
    return [*data[:place], data[place] + 1, *data[place + 1 :]]


def _losses(mechanism: Any, law: Any, neighbor: Any) -> dict[str, Callable[[], Any]]:
    """Losses are differences of logarithms, right to an absolute error: their exponentials."""

    def loss() -> Any:
        return law.privacy_loss(mechanism.law(neighbor))

    return {
        "exp(privacy_loss.epsilon)": lambda: math.exp(loss().epsilon()),
        "exp(privacy_loss.epsilon(1e-3))": lambda: math.exp(loss().epsilon(1e-3)),
        "1 + privacy_loss.delta": lambda: 1 + loss().delta(0.01),
        "exp(privacy_loss.renyi)": lambda: math.exp(loss().renyi(2.0)),
        "exp(privacy_loss.reverse)": lambda: math.exp(loss().reverse.epsilon()),
    }
