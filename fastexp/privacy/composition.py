"""Composition: the promise of several releases, and of a call with rows, groups and persons."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .._parameters import validate
from .._typing import Membership, Neighbors, Relation
from ..errors import ParameterError, ParameterTypeError
from . import amounts
from .guarantee import Guarantee, _for_groups, checked_guarantee

ONE_STEP = "adding or removing a record costs no more than replacing one"


def total(
    guarantee: Guarantee,
    *,
    rows: int = 1,
    disjoint: bool = False,
    groups: bool = False,
    membership: Membership = "private",
    max_groups: int = 1,
    max_rows: int = 1,
    neighbors: Neighbors | None = None,
) -> Guarantee:
    """Return the promise of a whole batched or grouped call, from that of one draw.

    The rows of a matrix are computed from the same people, which costs rows * epsilon and
    rows * rho. Disjoint rows or groups share no records, so that one record affects one of them:
    the cost is epsilon. A person who is replaced may leave one group and enter another, which
    costs 2 * epsilon unless `membership` is public. A person with several records (up to
    `max_rows` in each of `max_groups` groups) costs max_groups * max_rows * epsilon when added or
    removed, and twice that when replaced.

    Parameters
    ----------
    guarantee : Guarantee
        The promise of one draw.
    rows : int
        The number of draws that read the same records, such as the rows of a matrix.
    disjoint : bool
        Whether the rows are disjoint parts of the data.
    groups : bool
        Whether each draw is made once for each of several disjoint groups (their number does
        not matter).
    membership : {"private", "public"}
        Whether a person who is replaced may change their row or group (private), or stays in
        the same one, which is known (public).
    max_groups : int
        The most groups or disjoint rows that a person can be in.
    max_rows : int
        The most records that a person can have in a group, or in the data if there are no groups.
    neighbors : {"add-remove", "replace"}, optional
        The relation wanted. Default: that of the guarantee. If the caller stated the
        sensitivity, and the relation matters here (disjoint, groups, max_groups, max_rows),
        add-remove.

    Returns
    -------
    Guarantee
        Amounts are multiplied as the decimals that they print, and rounded up.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range, `max_groups` is given without groups, or the
        guarantee does not hold under `neighbors`.

    Notes
    -----
    With g = max_rows and m groups that change, the cost is epsilon * m * g, rho * m * g**2 and
    m * g * exp((g - 1) * epsilon) * delta (group privacy inside a group, sequential
    composition over groups). Dwork and Roth 2014, 2.2 and 3.5; McSherry 2009 (disjoint
    parts); Bun and Steinke 2016, 1.9 (groups under rho).

    Examples
    --------
    >>> import fastexp as fx
    >>> promise = fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee
    >>> fx.privacy.total(promise, rows=3).epsilon
    0.3
    >>> fx.privacy.total(promise, rows=3, disjoint=True).epsilon
    0.1
    >>> fx.privacy.total(promise, groups=True, max_groups=2, max_rows=5).epsilon
    1.0
    """
    count = validate.counting("rows", rows, least=0)
    parted = validate.flag("disjoint", disjoint) | validate.flag("groups", groups)
    public = validate.choice("membership", membership, ("private", "public")) == "public"
    several = validate.counting("max_groups", max_groups)
    each = validate.counting("max_rows", max_rows)
    wanted = None if neighbors is None else validate.neighbors(neighbors)
    if several > 1 and not parted:
        raise ParameterError("max_groups needs groups=True or disjoint=True")
    guarantee = base = checked_guarantee(guarantee)
    text = guarantee.assumes
    if wanted is not None:
        base = guarantee.under(wanted)
    elif guarantee.neighbors in (None, "both") and (parted or each > 1):
        base = guarantee.under("add-remove")
    steps, draws = each, several * (1 if disjoint and count else count)
    relation = base.neighbors
    if relation == "replace" and guarantee.neighbors == "add-remove":
        base, steps = guarantee, 2 * each  # a removal and an addition, in any groups
    elif relation == "replace" and ((parted and not public) or each > 1):
        draws *= 2
        if guarantee.neighbors != "both":
            text += f"; {ONE_STEP}"
    if several > 1 or each > 1:
        parts = f" in each of at most {several} groups" if several > 1 else ""
        text = text.removeprefix("one person is one record; ")
        count_words = "1 record of a person counts"
        if each > 1:
            count_words = f"{each} records of a person count"
        text = f"at most {count_words}{parts}; {text}"
    promise = _for_groups(base, steps)
    if draws == 1 and (relation, text) == (promise.neighbors, promise.assumes):
        return promise
    return Guarantee(
        amounts.times(promise.epsilon, draws),
        relation,
        amounts.times(promise.bounded_range, draws),
        amounts.times(promise.rho, draws),
        min(1.0, amounts.times(promise.delta, draws) or 0.0),
        text,
    )


def sequential(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Return the sequential composition: the sums of the amounts of releases from the same data.

    The sums are Σ epsilon, Σ delta and Σ rho. They hold adaptively in the strongest sense: later
    queries and later *amounts* may depend on earlier answers, as long as the sum stays within a
    limit that was set beforehand. `Budget` counts this sum.

    Parameters
    ----------
    guarantees : iterable of Guarantee
        At least one. Their relations must agree (see `Guarantee.under`); a relation of None
        (stated by the caller) is taken as that of the others.

    Returns
    -------
    Guarantee
        Sums of the decimals that the amounts print, rounded up. `bounded_range` is None: if later
        releases depend on earlier ones, the range need not be bounded by the sum of their ranges.

    Raises
    ------
    ParameterError
        If there are none, or their relations differ.
    ParameterTypeError
        If one is no Guarantee.

    References
    ----------
    Dwork, McSherry, Nissim and Smith 2006; Dwork and Roth 2014, Theorem 3.16 (epsilon and
    delta); Bun and Steinke 2016, Lemma 2.3 (rho); Rogers, Roth, Ullman and Vadhan 2016
    (amounts that depend on answers).

    Examples
    --------
    >>> import fastexp as fx
    >>> promise = fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee
    >>> fx.privacy.sequential([promise] * 3).epsilon
    0.3
    """
    promises = _promises(guarantees)
    return Guarantee(
        amounts.added(g.epsilon for g in promises),
        _common_relation(promises),
        promises[0].bounded_range if len(promises) == 1 else None,
        amounts.added(g.rho for g in promises),
        min(1.0, amounts.added(g.delta for g in promises) or 0.0),
        _common_text(promises),
    )


def parallel(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Return the parallel composition: the largest amounts, for disjoint parts of the data.

    A record is in one part, so that adding or removing it changes one release. Replacing a record
    may move it from one part to another, and change two releases: see `total`.

    Parameters
    ----------
    guarantees : iterable of Guarantee
        At least one, each for adding or removing a record of its part. A relation of None
        (stated by the caller) is taken as add-remove.

    Returns
    -------
    Guarantee
        For add-remove.

    Raises
    ------
    ParameterError
        If there are none, or one does not hold for add-remove.
    ParameterTypeError
        If one is no Guarantee.

    References
    ----------
    McSherry, "Privacy integrated queries", SIGMOD 2009, Theorem 4.

    Examples
    --------
    >>> import fastexp as fx
    >>> north = fx.MostCommon(epsilon=0.5, candidates=["a", "b"]).guarantee
    >>> south = fx.MostCommon(epsilon=0.2, candidates=["a", "b"]).guarantee
    >>> fx.privacy.parallel([north, south]).epsilon
    0.5
    """
    promises = [g.under("add-remove") for g in _promises(guarantees)]
    return Guarantee(
        amounts.greatest(g.epsilon for g in promises),
        "add-remove",
        amounts.greatest(g.bounded_range for g in promises),
        amounts.greatest(g.rho for g in promises),
        max(g.delta for g in promises),
        _common_text(promises) + "; the parts are disjoint, whatever the data are",
    )


def group(guarantee: Guarantee, size: int) -> Guarantee:
    """Return the promise for data sets that differ in up to `size` records: group privacy.

    It is g * epsilon, g * bounded_range, g**2 * rho, and g * exp((g - 1) * epsilon) * delta.

    Parameters
    ----------
    guarantee : Guarantee
        The promise for one record.
    size : int
        g >= 1.

    Returns
    -------
    Guarantee
        Its relation is a chain of up to `size` steps of the given one.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is not as described.

    References
    ----------
    Dwork and Roth 2014, Theorem 2.2 (epsilon); Vadhan, "The complexity of differential
    privacy", 2017, Lemma 2.2 (delta); Bun and Steinke 2016, Proposition 1.9 (rho).

    Examples
    --------
    >>> import fastexp as fx
    >>> promise = fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee
    >>> of_three = fx.privacy.group(promise, 3)
    >>> of_three.epsilon, of_three.rho
    (0.3, 0.01125)
    """
    promise = checked_guarantee(guarantee)
    steps = validate.counting("size", size)
    text = promise.assumes + (f"; for groups of up to {steps} records" if steps > 1 else "")
    return replace(_for_groups(promise, steps), assumes=text)


def advanced(guarantee: Guarantee, rounds: int, *, delta: float) -> Guarantee:
    """Return the advanced composition of many equal releases, for an added delta.

    The epsilon is the smaller of k * epsilon and

        k * epsilon * tanh(epsilon / 2) + epsilon * sqrt(2 k ln(1 / delta)),

    and the delta is 1 - (1 - delta_0)**k * (1 - delta) for releases of delta_0 each. The first
    term is k times the expected privacy loss of the worst pair. Its factor tanh(epsilon / 2) =
    (exp(epsilon) - 1) / (exp(epsilon) + 1) is that of Kairouz, Oh and Viswanath; Dwork, Rothblum
    and Vadhan had exp(epsilon) - 1. Later *queries* may depend on earlier answers; the amounts and
    their number are fixed beforehand. `adaptive_epsilon` is better for the exponential mechanism.

    Parameters
    ----------
    guarantee : Guarantee
        The promise of each release; it must state epsilon.
    rounds : int
        k >= 1.
    delta : float
        The added delta, in (0, 1).

    Returns
    -------
    Guarantee
        Rounded up by a relative 1e-12. It states k * rho, too.

    Raises
    ------
    ParameterError, ParameterTypeError
        If an argument is not as described.

    References
    ----------
    Dwork, Rothblum and Vadhan, "Boosting and differential privacy", FOCS 2010, Theorem
    III.3. Kairouz, Oh and Viswanath, "The composition theorem for differential privacy",
    ICML 2015, Theorem 3.4.

    Examples
    --------
    >>> import fastexp as fx
    >>> promise = fx.MostCommon(epsilon=0.1, candidates=["a", "b"]).guarantee
    >>> round(fx.privacy.advanced(promise, 100, delta=1e-6).epsilon, 4)
    5.7561
    """
    promise = checked_guarantee(guarantee)
    k, slack = validate.counting("rounds", rounds), amounts.open_fraction("delta", delta)
    if promise.epsilon is None:
        raise ParameterError("guarantee must have an epsilon, got one without")
    e = promise.epsilon
    plain = amounts.times(e, k) or 0.0
    drift, spread = k * e * math.tanh(e / 2), e * math.sqrt(-2 * k * math.log(slack))
    total_delta = 1.0
    if promise.delta < 1.0:
        total_delta = amounts.above(
            -math.expm1(k * math.log1p(-promise.delta) + math.log1p(-slack))
        )
    return Guarantee(
        min(plain, amounts.above(drift + spread)),
        promise.neighbors,
        None,
        amounts.times(promise.rho, k),
        min(1.0, total_delta),
        promise.assumes,
    )


def _promises(guarantees: Any) -> list[Guarantee]:
    if not isinstance(guarantees, Iterable) or isinstance(guarantees, (str, bytes)):
        kind = type(guarantees).__name__
        raise ParameterTypeError(f"guarantees must be a sequence of Guarantees, got {kind}")
    promises = validate.items("guarantees", guarantees, validate.MOST_LABELS)
    if not promises:
        raise ParameterError("guarantees must not be empty")
    return [checked_guarantee(one, "each of guarantees") for one in promises]


def _common_relation(guarantees: list[Guarantee]) -> Relation | None:
    stated = {guarantee.neighbors for guarantee in guarantees}
    narrow = stated - {None, "both"}
    if len(narrow) > 1:
        raise ParameterError(
            "guarantees must hold for one relation, got 'add-remove' and 'replace' "
            "(use guarantee.under)"
        )
    if narrow:
        return narrow.pop()
    return None if None in stated else "both"


def _common_text(guarantees: list[Guarantee]) -> str:
    clauses = (clause for g in guarantees for clause in g.assumes.split("; ") if clause)
    return "; ".join(dict.fromkeys(clauses))
