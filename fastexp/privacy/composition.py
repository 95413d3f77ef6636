"""The promise of several releases together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

from ..errors import ParameterError, ParameterTypeError
from ..parameters import checks
from ..types import Number, Relation
from .conversion import zcdp_epsilon
from .guarantee import Guarantee, chained, genuine, up


def sequential(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Return the sequential composition: sums of the amounts of releases from the same data.

    Parameters
    ----------
    guarantees : iterable of Guarantee
        One or more, for one relation (see `Guarantee.under`); None is taken as that of the others.

    Returns
    -------
    Guarantee
        Sums of epsilon, of rho and of delta, as decimals, rounded up. They hold even if queries and
        amounts depend on earlier answers, within a limit that was set before. The range is
        promised for a single release only: that of several need not be bounded by the sum.

    Raises
    ------
    ParameterError, ParameterTypeError
        If there are none, one is no Guarantee, or relations differ.

    References
    ----------
    Dwork and Roth 2014, Theorem 3.16. Bun and Steinke, TCC 2016, Lemma 2.3 (rho). Rogers, Roth,
    Ullman and Vadhan, NeurIPS 2016 (amounts that depend on answers).

    Examples
    --------
    >>> import fastexp as fx
    >>> promise = fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee
    >>> fx.privacy.sequential([promise] * 3).epsilon
    0.3
    """
    promises = _promises(guarantees)
    relations = {promise.neighbors for promise in promises}
    stated = relations - {None, "both"}
    if len(stated) > 1:
        raise ParameterError(
            "guarantees must have one relation, got 'add-remove' and 'replace': use .under"
        )
    relation: Relation | None = None if None in relations else "both"
    return Guarantee(
        _sum([promise.epsilon for promise in promises]),
        stated.pop() if stated else relation,
        promises[0].bounded_range if len(promises) == 1 else None,
        _sum([promise.rho for promise in promises]),
        min(1.0, _sum([promise.delta for promise in promises])),
        _texts(promises),
    )


def parallel(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Return the parallel composition: the greatest amounts, for disjoint parts of the data.

    Parameters
    ----------
    guarantees : iterable of Guarantee
        One or more; a relation of None is taken as add-remove.

    Returns
    -------
    Guarantee
        For add-remove: a record that is added or removed changes one part. One that is replaced may
        change two parts.

    Raises
    ------
    ParameterError, ParameterTypeError
        If there are none, one is no Guarantee, or one holds for replace only.

    References
    ----------
    McSherry, "Privacy integrated queries", SIGMOD 2009, Theorem 4.

    Examples
    --------
    >>> import fastexp as fx
    >>> north, south = (fx.MostCommon(e, ["a", "b"]).guarantee for e in (0.5, 0.2))
    >>> fx.privacy.parallel([north, south]).epsilon
    0.5
    """
    promises = [promise.under("add-remove") for promise in _promises(guarantees)]
    ranges = [promise.bounded_range for promise in promises]
    return Guarantee(
        max(promise.epsilon for promise in promises),
        "add-remove",
        None if None in ranges else max(width or 0.0 for width in ranges),
        max(promise.rho for promise in promises),
        max(promise.delta for promise in promises),
        _texts(promises) + "; the parts are disjoint, whatever the data are",
    )


def total(guarantees: Iterable[Guarantee], *, delta: Number = 0.0) -> Guarantee:
    """Return the least epsilon that several releases from the same data have for a delta.

    It is the sum of epsilons or, if that is less, the epsilon of the sum of rhos, plus the epsilons
    of releases without rho.

    Parameters
    ----------
    guarantees : iterable of Guarantee
        As for `sequential`. Later queries may depend on earlier answers.
    delta : float
        In [0, 1); 0: the releases must be pure.

    Returns
    -------
    Guarantee
        (epsilon, delta), and the sum of rhos.

    Raises
    ------
    ParameterError, ParameterTypeError
        As `sequential`, and if delta is outside its range or less than the releases need.

    References
    ----------
    Bun and Steinke, TCC 2016, Lemma 2.3. Canonne, Kamath and Steinke, NeurIPS 2020, Proposition 12.

    Examples
    --------
    >>> import fastexp as fx
    >>> promise = fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee
    >>> round(fx.privacy.total([promise] * 100, delta=1e-6).epsilon, 3)
    2.419
    """
    promises = _promises(guarantees)
    basic, allowed = sequential(promises), checks.decimal("delta", delta)
    if not 0 <= allowed < 1:
        raise ParameterError(f"delta must be in [0, 1), got {delta!r}")
    rhos = [promise.rho for promise in promises if promise.rho < inf]
    others = [promise for promise in promises if promise.rho == inf]
    needed, ways = _sum([promise.delta for promise in others]), []
    if checks.decimal("delta", basic.delta) <= allowed:
        ways.append((basic.epsilon, basic.delta))
    slack = float(allowed - checks.decimal("delta", needed)) * (1 - 1e-15)  # no more than is left
    if slack > 0 and rhos:
        epsilons = [promise.epsilon for promise in others]
        ways.append((_sum([*epsilons, zcdp_epsilon(_sum(rhos), slack)]), up(allowed)))
    epsilon, spent = min(ways, default=(inf, 0.0))
    if epsilon == inf:
        raise ParameterError(f"delta must be more than {needed!r}, what the releases need")
    return replace(basic, epsilon=epsilon, delta=spent)


def group(guarantee: Guarantee, size: int) -> Guarantee:
    """Return the promise for data sets that differ in up to `size` records: group privacy.

    Parameters
    ----------
    guarantee : Guarantee
        The promise for one record.
    size : int
        g, in [1, 2**53].

    Returns
    -------
    Guarantee
        g * epsilon, g * bounded_range, g**2 * rho, g * exp((g - 1) * epsilon) * delta.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is not as described.

    References
    ----------
    Dwork and Roth 2014, Theorem 2.2. Vadhan, "The complexity of differential privacy", 2017, Lemma
    2.2 (delta). Bun and Steinke, TCC 2016, Proposition 1.9 (rho).

    Examples
    --------
    >>> import fastexp as fx
    >>> promise = fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee
    >>> fx.privacy.group(promise, 3).epsilon
    0.3
    """
    return chained(genuine(guarantee), checks.whole("size", size, 1, checks.MAX_EXACT))


def _promises(guarantees: Any) -> list[Guarantee]:
    if not isinstance(guarantees, Iterable):
        kind = type(guarantees).__name__
        raise ParameterTypeError(f"guarantees must be a sequence of Guarantees, got {kind}")
    promises = [genuine(guarantee) for guarantee in guarantees]
    if not promises:
        raise ParameterError("guarantees must be one or more")
    return promises


def _texts(promises: list[Guarantee]) -> str:
    clauses = [clause for promise in promises for clause in promise.assumes.split("; ") if clause]
    return "; ".join(dict.fromkeys(clauses))


def _sum(amounts: list[float]) -> float:
    """Return a sum of decimals, rounded up."""
    if inf in amounts:
        return inf
    return up(sum((checks.decimal("amount", amount) for amount in amounts), Fraction(0)))
