"""Private groups in a call: their coins as one more answer, or the answer that decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._keys.group_names import Names
from ..._typing import AnyArray
from ...grouped.private_groups import Appearance, Deciding, deciding
from .answers import Answer
from .scope import Scope

NOBODY = -1  # a total that reaches no threshold, where no record counts
COIN = ""  # what the coins are called: no answer is


def with_coin(query: Scope, answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
    """The answers; by rule A with the coins of groups behind them."""
    private = query.private
    if private is None or private.epsilon is None:
        deciding_of(query, answers)  # or refuses
        return answers
    first, rows = answers[0], 1 if query.person is not None else query.max_rows
    coin = Appearance(private, rows, first.mechanism)
    return *answers, Answer(COIN, coin, first.column, "drop")


def rows_of(query: Scope, answer: Answer) -> int:
    """How many rows of a person an answer counts in a group: coins count persons."""
    is_coin = isinstance(answer.mechanism, Appearance)
    return 1 if is_coin and query.person is not None else query.max_rows


def visible(answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
    """The answers without the coins."""
    return tuple(one for one in answers if not isinstance(one.mechanism, Appearance))


def deciding_of(query: Scope, answers: tuple[Answer, ...]) -> Deciding | None:
    """The answer that decides; None where none does."""
    if query.private is None:
        return None
    return deciding(query.private, [answer.mechanism for answer in answers], query.max_rows)


def appearing(
    query: Scope, answers: tuple[Answer, ...], names: Names, values: list[Any]
) -> tuple[Names, list[Any]]:
    """The groups that appear, and their answers, without the coins."""
    decider = deciding_of(query, answers)
    if decider is None:
        which = np.flatnonzero(np.asarray(values[-1]) == 1)
    else:
        totals: AnyArray = np.asarray(values[decider.which])[:, -1]
        which = np.flatnonzero(totals >= decider.threshold)
    chosen = [
        [one[i] for i in which.tolist()] if isinstance(one, list) else one[which]
        for one in values[: len(visible(answers))]
    ]
    return names.taken(which), chosen
