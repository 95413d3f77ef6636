"""Laws of numbers and simulated draws, in numbers and tables; the true statistic beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import output
from .number_question import Question

if TYPE_CHECKING:
    from .._typing import AnyArray
    from ..laws.grid import GridLaw

LEVELS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
NAMES = {"median": "true median", "price": "best price"}


def facts(question: Question, law: GridLaw) -> dict[str, Any]:
    """What there is to say about a law.

    Parameters
    ----------
    question : Question
    law : GridLaw
        Of its records.

    Returns
    -------
    dict
        The truth, moments and quantiles, errors, losses.
    """
    true = truth(question)
    error = None if true is None else law.expected_error(true)
    tail = None if true is None else law.error_quantile(0.95, true)
    return {
        "truth": true,
        **moments(law),
        "expected_error": error,
        "error_95": tail,
        "expected_loss": law.expected_loss(),
        "loss_95": law.loss_quantile(0.95),
    }


def moments(law: GridLaw) -> dict[str, Any]:
    """Mean, standard deviation and quantiles of the output."""
    cast = int if law.grid.whole else float
    quantiles = {f"{p:g}": cast(law.ppf(p)) for p in LEVELS}
    return {"mean": law.mean(), "sd": math.sqrt(law.var()), "quantiles": quantiles}


def observed(drawn: AnyArray, true: Any) -> dict[str, Any]:
    """The same of draws, and their mean error."""
    found = np.quantile(drawn, LEVELS, method="inverted_cdf").tolist()
    quantiles = {f"{p:g}": x for p, x in zip(LEVELS, found, strict=True)}
    error = None if true is None else float(np.abs(drawn - float(true)).mean())
    shown = {"mean": float(drawn.mean()), "sd": float(drawn.std()), "quantiles": quantiles}
    return {**shown, "expected_error": error}


def rows(law: GridLaw, drawn: AnyArray | None = None) -> list[dict[str, Any]]:
    """One object a grid point."""
    values, exact = law.points.tolist(), law.probabilities.tolist()
    if drawn is None:
        return [{"value": v, "probability": p} for v, p in zip(values, exact, strict=True)]
    counts = np.bincount(np.searchsorted(law.points, drawn), minlength=len(values)).tolist()
    return [
        {"value": v, "observed": c, "frequency": c / drawn.size, "probability": p}
        for v, c, p in zip(values, counts, exact, strict=True)
    ]


def truth(question: Question) -> Any:
    """The true statistic: the lower quantile, or the price of highest revenue.

    Parameters
    ----------
    question : Question

    Returns
    -------
    int, float or None
        None without records. A missing record that counts as a bound is that bound.
    """
    known = _treated(question.data, question.nan)
    if known.size == 0:
        return None
    if question.name == "price":
        return _best_price(known, question.mechanism.grid)
    rank = _rank(question, known.size)
    found = np.partition(known, rank - 1)[rank - 1].item()
    low, high = question.mechanism.bounds
    return found if math.isfinite(found) else _plain(low if found < 0 else high)


def _plain(number: Any) -> Any:
    return number if isinstance(number, int) else float(number)


def _rank(question: Question, n: int) -> int:
    """The rank of the true record, from 1."""
    from .._distance import as_quantile

    if question.mechanism.convention == "upper":
        return n // 2 + 1
    q = as_quantile(question.q)
    return max(1, -(-q.numerator * n // q.denominator))


def _treated(data: AnyArray, nan: str) -> AnyArray:
    """Without NaN: dropped, or as the number below or above all."""
    if data.dtype.kind != "f" or not (missing := np.isnan(data)).any():
        return data
    if nan == "drop":
        return np.asarray(data[~missing])
    return np.where(missing, -np.inf if nan == "lower" else np.inf, data)


def _best_price(bids: AnyArray, grid: Any) -> Any:
    """The lowest of the best prices: only a price that is somebody's whole bid can be best."""
    points, counts = np.unique(grid.index(bids), return_counts=True)
    buyers = counts[::-1].cumsum()[::-1]
    revenue = grid.values(points) * buyers.astype(np.float64)
    near = np.flatnonzero(revenue >= revenue.max() * (1 - 1e-12)).tolist()
    best = max(near, key=lambda i: (grid.exact(int(points[i])) * int(buyers[i]), -i))
    return grid.value(int(points[best]))


def print_facts(question: Question, found: dict[str, Any]) -> None:
    """The table of a law."""
    true = NAMES.get(question.name, f"true {question.q}-quantile")
    lines = [(true, found["truth"]), ("mean", found["mean"]), ("standard deviation", found["sd"])]
    lines += [(f"{float(p):.0%} quantile", x) for p, x in found["quantiles"].items()]
    unit = "revenue" if question.name == "price" else "records"
    lines += [
        ("expected error", found["expected_error"]),
        ("error in 95% of draws at most", found["error_95"]),
        (f"expected loss against the best point ({unit})", found["expected_loss"]),
        ("loss in 95% of draws at most", found["loss_95"]),
    ]
    print()
    output.table(("output", "exact law"), [(name, number(x)) for name, x in lines])


def print_comparison(seen: dict[str, Any], exact: dict[str, Any]) -> None:
    """The table of simulated draws beside the law."""
    names = {"mean": "mean", "sd": "standard deviation"}
    lines = [(text, seen[key], exact[key]) for key, text in names.items()]
    quantiles = zip(seen["quantiles"].items(), exact["quantiles"].values(), strict=True)
    lines += [(f"{float(p):.0%} quantile", x, y) for (p, x), y in quantiles]
    lines.append(("mean error", seen["expected_error"], exact["expected_error"]))
    cells = [(name, number(x), number(y)) for name, x, y in lines]
    output.table(("output", "observed", "exact law"), cells)


def number(x: Any) -> str:
    """A number for a table: integers in full, others with 6 digits."""
    if x is None:
        return "-"
    return str(x) if isinstance(x, int) else f"{x:.6g}"
