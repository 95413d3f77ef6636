"""The mechanisms that a study can name, with their parameters, and how each is built."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

from ..._numbers.distance import HALF, as_quantile, order_ranks, quantile_ranks
from ..._parameters import validate
from ...errors import ParameterError
from ...mechanisms.approximate_quantiles import ApproximateQuantiles
from ...mechanisms.exponential import Exponential
from ...mechanisms.joint_exponential import JointExponentialQuantiles
from ...mechanisms.joint_top_k import JointTopK
from ...mechanisms.laplace import Laplace
from ...mechanisms.laplace_median import LaplaceMedian
from ...mechanisms.maximum import Maximum
from ...mechanisms.median import Median
from ...mechanisms.mode import Mode
from ...mechanisms.order_statistic import OrderStatistic
from ...mechanisms.permute_and_flip import PermuteAndFlip
from ...mechanisms.price import Price
from ...mechanisms.quantile import Quantile
from ...mechanisms.quantiles import Quantiles
from ...mechanisms.randomized_response import RandomizedResponse
from ...mechanisms.report_noisy_max import ReportNoisyMax
from ...mechanisms.smooth_sensitivity_median import SmoothSensitivityMedian
from ...mechanisms.top_k import TopK
from ..subjects import selections, top_selections
from ..subjects.by_law import LaplaceSubject, ModeSubject, PriceSubject, Statistic
from ..subjects.many_quantiles import UNITS, ByMarginals, Drawn, Independent, part_of
from ..subjects.noisy import Noisy, Smooth
from ..subjects.ranked import Ranked
from ..subjects.subject import Studied, TrueNumber
from ..subjects.users import studied
from .generators import Spec

Bounds = tuple[Any, Any] | None
Build = Callable[[float, Bounds, Spec], Studied[Any]]
M = TypeVar("M")
FAR = 1024.0  # widths of the bounds that records which are not clamped may be beyond them


@dataclass(frozen=True)
class Entry:
    """A mechanism: how it is built, its parameters, what data it takes."""

    build: Build
    parameters: tuple[str, ...]
    about: str
    takes: str = "records"
    needs_bounds: bool = True  # where it takes records


def _plain(bounds: Bounds) -> tuple[float, float]:
    if bounds is None:
        return 0.0, 1.0
    return float(bounds[0]), float(bounds[1])


def _parametrized(
    kind: Callable[..., M], epsilon: float, bounds: Bounds, p: Spec, **required: object
) -> M:
    """A mechanism with a study's parameters, which it checks itself."""
    return kind(epsilon=epsilon, bounds=bounds, **required, **p)


def _median(epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    truth = p.pop("truth", None)
    mechanism = _parametrized(Median, epsilon, bounds, p)
    target = partial(quantile_ranks, HALF, _truth(truth) or mechanism.convention)
    return Ranked(mechanism, _plain(bounds), target)


def _truth(word: object) -> str | None:
    if word not in (None, "lower", "upper", "midpoint"):
        raise ParameterError(f"truth must be one of 'lower', 'upper', 'midpoint', got {word!r}")
    return None if word is None else str(word)


def _quantile(epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    q = _exact(_required(p, "q"))
    mechanism = _parametrized(Quantile, epsilon, bounds, p, q=q)
    return Ranked(mechanism, _plain(bounds), partial(quantile_ranks, as_quantile(q), "lower"))


def _exact(q: Any) -> Any:
    """Quantiles as they are given; fractions, "1/3", are text in a file."""
    if isinstance(q, list):
        return [_exact(one) for one in q]
    fraction = isinstance(q, str) and re.fullmatch("[0-9]{1,10}/[1-9][0-9]{0,9}", q)
    return Fraction(q) if fraction else q


def _several(
    subject: type[Drawn], kind: Callable[..., Any], epsilon: float, bounds: Bounds, p: Spec
) -> Studied[Any]:
    mechanism = _parametrized(kind, epsilon, bounds, {**p, "q": _exact(p.get("q"))})
    return subject(mechanism, _plain(bounds), mechanism._q)


def _independent(epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    unit = validate.choice("unit", p.pop("unit", "epsilon"), UNITS)
    several = _parametrized(Quantiles, epsilon, bounds, {**p, "q": _exact(p.get("q"))})
    grid: dict[str, Any] = {
        "step": several.step,
        "grid": several.grid.points,
        "neighbors": several.neighbors,
    }
    share: Any = part_of(epsilon, len(several._q), unit)
    parts = tuple(Quantile(q, share, several.bounds, **grid) for q in several._q)
    return Drawn(Independent(parts), _plain(bounds), several._q)


def _order(epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    r = _required(p, "r")
    mechanism = _parametrized(OrderStatistic, epsilon, bounds, p, r=r)
    return Ranked(mechanism, _plain(bounds), partial(order_ranks, r))


def _maximum(epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    mechanism = _parametrized(Maximum, epsilon, bounds, p)
    return Ranked(mechanism, _plain(bounds), partial(order_ranks, 1))


def _number(
    subject: Callable[..., Studied[Any]],
    kind: Callable[..., Any],
    epsilon: float,
    bounds: Bounds,
    p: Spec,
) -> Studied[Any]:
    return subject(_parametrized(kind, epsilon, bounds, p), _plain(bounds))


STATISTICS: dict[str, Statistic] = {
    "value": lambda block: block.first,
    "sum": lambda block: block.ordered.sum(axis=1),
    "mean": lambda block: block.ordered.mean(axis=1),
}


def _laplace(epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    word, inside = p.pop("statistic", "value"), validate.flag("bounded", p.pop("bounded", False))
    if word not in STATISTICS:
        raise ParameterError(f"statistic must be one of {', '.join(STATISTICS)}, got {word!r}")
    if inside and bounds is None:
        raise ParameterError("bounded needs bounds")
    sensitivity, step = _required(p, "sensitivity"), _required(p, "step")
    mechanism = Laplace(epsilon, sensitivity, step=step, bounds=bounds if inside else None)
    return LaplaceSubject(mechanism, _plain(bounds), STATISTICS[word])


def _smooth(epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    return _number(Smooth, SmoothSensitivityMedian, epsilon, bounds, {"delta": 0, **p})


def _selection(kind: Callable[..., Any], epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    return selections.Selection(kind(epsilon, p.pop("sensitivity", 1.0), **p))


def _noisy_max(epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    mechanism = ReportNoisyMax(epsilon, p.pop("sensitivity", 1.0), **p)
    kind = selections.NoisyMax if mechanism.noise == "laplace" else selections.Selection
    return kind(mechanism)


def _response(epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    return selections.Response(RandomizedResponse(epsilon, **p))


def _top_k(epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    k, sensitivity = _required(p, "k"), p.pop("sensitivity", 1.0)
    unit = validate.choice("unit", p.pop("unit", "epsilon"), ("epsilon", "rho"))
    by_rho = unit == "rho"
    total, rho = (None, epsilon**2 / 8) if by_rho else (epsilon, None)
    return top_selections.TopSelection(TopK(k, total, sensitivity, rho=rho, **p))


def _joint_top_k(epsilon: float, bounds: Bounds, p: Spec) -> Studied[Any]:
    return top_selections.JointSelection(JointTopK(_required(p, "k"), epsilon, **p))


def _rival(
    kind: type[top_selections.RivalSelection], epsilon: float, bounds: Bounds, p: Spec
) -> Studied[Any]:
    top = TopK(_required(p, "k"), epsilon, p.pop("sensitivity", 1.0), **p)  # which checks them
    return kind(top_selections.Rival(top.k, epsilon, top.sensitivity, top.monotonic))


def _required(p: Spec, name: str) -> Any:
    if name not in p:
        raise ParameterError(f"{name} is missing")
    return p.pop(name)


GRID = ("bounds", "step", "grid")
RANKS = (*GRID, "neighbors", "convention", "widen")
MANY = ("q", "count", *GRID, "neighbors")
CHOICE = ("sensitivity", "monotonic")
MECHANISMS: dict[str, Entry] = {
    "median": Entry(_median, (*RANKS, "truth"), "Median"),
    "quantile": Entry(_quantile, ("q", *RANKS), "Quantile; q"),
    "quantiles": Entry(partial(_several, ByMarginals, Quantiles), MANY, "Quantiles; q or count"),
    "joint-exponential-quantiles": Entry(
        partial(_several, ByMarginals, JointExponentialQuantiles),
        ("q", "count", *GRID, "ties"),
        "JointExponentialQuantiles; q or count",
    ),
    "approximate-quantiles": Entry(
        partial(_several, Drawn, ApproximateQuantiles), MANY, "ApproximateQuantiles; q or count"
    ),
    "independent-quantiles": Entry(
        _independent,
        (*MANY, "unit"),
        "Quantile for each of q or count, with equal parts of epsilon, or of rho (unit)",
    ),
    "order-statistic": Entry(_order, ("r", *GRID, "widen"), "OrderStatistic; r"),
    "maximum": Entry(_maximum, (*GRID, "widen"), "Maximum"),
    "mode": Entry(partial(_number, ModeSubject, Mode), (*GRID, "widen"), "Mode"),
    "price": Entry(partial(_number, PriceSubject, Price), (*GRID, "scaling"), "Price"),
    "laplace": Entry(
        _laplace,
        ("statistic", "sensitivity", "step", "bounded", "bounds"),
        "Laplace around the first record, the sum or the mean",
        needs_bounds=False,
    ),
    "smooth-sensitivity-median": Entry(
        _smooth,
        ("bounds", "delta", "noise", "calibration", "neighbors", "midpoint"),
        "SmoothSensitivityMedian",
    ),
    "laplace-median": Entry(partial(_number, Noisy, LaplaceMedian), ("bounds",), "LaplaceMedian"),
    "exponential": Entry(partial(_selection, Exponential), CHOICE, "Exponential", "utilities"),
    "permute-and-flip": Entry(
        partial(_selection, PermuteAndFlip), CHOICE, "PermuteAndFlip", "utilities"
    ),
    "report-noisy-max": Entry(_noisy_max, (*CHOICE, "noise"), "ReportNoisyMax", "utilities"),
    "top-k": Entry(_top_k, ("k", "unit", "delta", *CHOICE), "TopK; k", "utilities"),
    "joint-top-k": Entry(
        _joint_top_k, ("k", "sensitivity", "neighbors"), "JointTopK; k", "utilities"
    ),
    "permute-and-flip-top-k": Entry(
        partial(_rival, top_selections.PeeledFlips),
        ("k", *CHOICE),
        "k rounds of permute-and-flip at epsilon / k; k",
        "utilities",
    ),
    "laplace-top-k": Entry(
        partial(_rival, top_selections.NoisySelection),
        ("k", *CHOICE),
        "the k greatest of utilities with Laplace noise; k",
        "utilities",
    ),
    "randomized-response": Entry(_response, (), "RandomizedResponse on two utilities", "utilities"),
}


def build(spec: Spec, epsilon: float, bounds: Bounds) -> Studied[Any]:
    """What a study's mechanism describes, at one epsilon; its own bounds go before the study's."""
    parameters = {key: value for key, value in spec.items() if key not in ("name", "label")}
    if "subject" in spec:
        ends = None if bounds is None else _plain(bounds)
        value = spec["subject"].value
        return studied(value, epsilon, ends, spec["takes"], spec["parts"])
    entry, ends = MECHANISMS[spec["name"]], parameters.pop("bounds", bounds)
    if entry.takes == "records" and entry.needs_bounds and ends is None:
        raise ParameterError("bounds are missing: this mechanism needs them")
    subject = entry.build(epsilon, ends if ends is None else tuple(ends), parameters)
    if isinstance(subject, TrueNumber) and ends is not bounds:
        low, high = _plain(ends)
        least, most = (low, high) if bounds is None else _plain(bounds)
        far = 1.0 if bounds is not None else FAR
        subject.farthest = far * (max(high, most) - min(low, least))
    return subject
