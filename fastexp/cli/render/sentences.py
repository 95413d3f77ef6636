"""What a call promises, and to whom: as sentences, and as facts for ``--json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._parameters.descriptions import amount, at_most

if TYPE_CHECKING:
    from ...privacy import Guarantee
    from ...query.calls.scope import Scope
    from ..request.input_file import PublicCall

NOT_PRIVATE = "NOT PRIVATE: computed from the data without noise. For analysis, never to publish."
FROM_DATA = """\
WARNING: {what} were taken from FILE: that one of them occurs at all
WARNING: is not protected, so that the output does not keep the promise of
WARNING: epsilon. Use it for public data only."""
PERSON = "--person COLUMN"
STATED = "one person changes as --sensitivity was stated for"
CHANGES = {
    "add-remove": "joins or leaves",
    "replace": "changes",
    "both": "joins, leaves or changes",
}


def promises(promise: Guarantee, query: Scope, each: float) -> str:
    """Return what a whole call promises; `each` is the cost of one row of a person."""
    epsilon = amount(promise)
    if promise.neighbors is None:
        return f"promises {epsilon}-differential privacy: {STATED}"
    column = "" if query.person is None else f" (column {query.person})"
    who = f"one {_who(query)}{column} {CHANGES[promise.neighbors]}{_limits(query)}"
    factor = (promise.epsilon or 0.0) / each
    # Answers under different relations may have no common factor. Coins of groups are not rows.
    is_whole = abs(factor - round(factor)) < 1e-9
    has_coins = query.private is not None and query.private.epsilon is not None
    is_product = factor > 1.5 and is_whole and not has_coins
    times = f" ({factor:.0f} x {at_most(each)})" if is_product else ""
    return f"promises {epsilon}-differential privacy{times}: {who}"


def _who(query: Scope) -> str:
    single = query.max_groups == query.max_rows == 1 and query.person is None and not query.by
    return "record" if single else "person"


def _limits(query: Scope) -> str:
    if _who(query) == "record":
        return ""
    rows = f"{query.max_rows} row{'s' * (query.max_rows != 1)}"
    groups = "1 group" if query.max_groups == 1 else f"each of {query.max_groups} groups"
    in_groups = f" in {groups}" if query.by else ""
    if query.person is not None:
        counts = f"count{'s' * (query.max_rows == 1)}"
        return f"; at most {rows} of a person {counts}{in_groups}"
    stays = ", whose groups are public" * (query.membership == "public")
    return f", with {rows}{in_groups}{stays} (your claim, not checked; {PERSON} would enforce it)"


def hint_of_step(call: PublicCall) -> str:
    """Return a hint if the bounds of an answer are integers, but its grid is the default one."""
    names = [name for name, (mechanism, _) in call.answers.items() if _is_fine(mechanism)]
    if not names:
        return ""
    which, step = ("answers", "--step 1")
    if call.origin is not None:
        which, step = f"answers of {', '.join(names)}", "step = 1"
    return f"{which} lie on 2^40 points between the bounds: for whole numbers add {step}"


def _is_fine(mechanism: Any) -> bool:
    bounds = getattr(mechanism, "bounds", None)
    if bounds is None or mechanism.step is not None or mechanism.grid.parameter is not None:
        return False
    return all(isinstance(bound, int) for bound in bounds)


def promise_facts(promise: Guarantee) -> dict[str, Any]:
    """Return the facts of a promise, for ``--json``."""
    names = "epsilon", "delta", "rho", "neighbors"
    return {name: getattr(promise, name) for name in names}


def query_facts(query: Scope) -> dict[str, Any]:
    """Return the public parameters of a query, for ``--json``."""
    groups: Any = "from-data" if query.private is None else "private"
    if query.groups is not None or not query.by:
        groups = query.groups and query.groups.size
    private = query.private
    rule = {} if private is None else {"delta": private.delta, "groups_epsilon": private.epsilon}
    return {
        "by": list(query.by),
        "groups": groups,
        **rule,
        "person": query.person,
        "max_groups": query.max_groups,
        "max_rows": query.max_rows,
        "membership": query.membership,
    }
