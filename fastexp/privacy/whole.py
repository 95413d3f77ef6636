"""The promise of a whole call: rows of a matrix, disjoint groups, several records a person."""

from __future__ import annotations

from dataclasses import replace

from .._compiler.rounding import check_rounding
from .._parameters import validate
from .._typing import Membership, Neighbors
from ..errors import ParameterError
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
    """The promise of a whole batched or grouped call, from that of one draw.

    Rows of a matrix are computed from the same people: rows * epsilon, rows * rho. Disjoint
    rows or groups share no records, so that one record touches one of them: epsilon. A person
    who is replaced may leave one and enter another: 2 * epsilon, unless `membership` is
    public. A person with several records (up to `max_rows` in each of `max_groups` groups)
    costs max_groups * max_rows * epsilon when added or removed, twice that when replaced.

    Parameters
    ----------
    guarantee : Guarantee
        The promise of one draw.
    rows : int
        How many draws look at the same records; how many rows a matrix has.
    disjoint : bool
        The rows are disjoint parts of the data.
    groups : bool
        Each draw is made once for each of several disjoint groups (the number of groups does
        not matter).
    membership : {"private", "public"}
        Whether somebody who is replaced may change their row or group (private), or stays in
        the same one, which is known (public).
    max_groups : int
        In how many groups or disjoint rows one person can be.
    max_rows : int
        How many records one person can have in a group; in the data where there are none.
    neighbors : {"add-remove", "replace"}, optional
        The relation wanted. Default: the guarantee's own; where the caller stated the
        sensitivity and the relation matters here (disjoint, groups, max_groups, max_rows),
        add-remove.

    Returns
    -------
    Guarantee
        Amounts are multiplied as the decimals that print, and rounded up.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a parameter is outside its range, `max_groups` is given without groups, or the
        guarantee does not hold under `neighbors`.

    Notes
    -----
    With g = max_rows and m groups that change: epsilon * m * g, rho * m * g**2 and
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
    check_rounding()
    count = validate.counting("rows", rows, least=0)
    parted = validate.flag("disjoint", disjoint) | validate.flag("groups", groups)
    public = validate.choice("membership", membership, ("private", "public")) == "public"
    several = validate.counting("max_groups", max_groups)
    each = validate.counting("max_rows", max_rows)
    wanted = None if neighbors is None else validate.neighbors(neighbors)
    if several > 1 and not parted:
        raise ParameterError("max_groups needs groups=True or disjoint=True")
    guarantee = checked_guarantee(guarantee)
    base = _relation(guarantee, wanted, matters=parted or each > 1)
    moves = base.neighbors == "replace" and ((parted and not public) or each > 1)
    if base.neighbors == "replace" and guarantee.neighbors == "add-remove":
        inside, outside = 2 * each, several  # a removal and an addition, wherever they are
        base = guarantee
    else:
        inside, outside = each, several * (2 if moves else 1)
    draws = 1 if disjoint and count else count
    whole = _repeated(_for_groups(base, inside), outside * draws)
    one_step = moves and guarantee.neighbors in (None, "replace")
    text = _assumes(guarantee.assumes, one_step, several, each)
    relation = wanted or base.neighbors
    if (relation, text) == (whole.neighbors, whole.assumes):
        return whole
    return replace(whole, neighbors=relation, assumes=text)


def _relation(guarantee: Guarantee, wanted: Neighbors | None, matters: bool) -> Guarantee:
    """The guarantee under the relation wanted, or under its own."""
    if wanted is not None:
        return guarantee.under(wanted)
    unsettled = guarantee.neighbors in (None, "both")
    return guarantee.under("add-remove") if unsettled and matters else guarantee


def _repeated(guarantee: Guarantee, times: int) -> Guarantee:
    """`times` draws that are chosen beforehand: everything adds up, the range as well."""
    if times == 1:
        return guarantee
    return replace(
        guarantee,
        epsilon=amounts.times(guarantee.epsilon, times),
        bounded_range=amounts.times(guarantee.bounded_range, times),
        rho=amounts.times(guarantee.rho, times),
        delta=min(1.0, amounts.times(guarantee.delta, times) or 0.0),
    )


def _assumes(text: str, one_step: bool, groups: int, rows: int) -> str:
    """What else must hold."""
    if one_step:
        text += f"; {ONE_STEP}"
    if groups > 1 or rows > 1:
        parts = f" in each of at most {groups} groups" if groups > 1 else ""
        text += f"; counted here: a person has at most {rows} such records{parts}"
    return text
