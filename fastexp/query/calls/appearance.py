"""Private groups in a call: their coins as one more answer, or the answer that decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._keys.group_names import Names
from ..._typing import AnyArray
from ...grouped.private_groups import Appearance, Deciding, coin_of, deciding
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
    first = answers[0]
    coin = coin_of(private, first.mechanism, query.person, query.max_rows)
    return *answers, Answer(COIN, coin, first.column, "drop")


def rows_of(query: Scope, answer: Answer) -> int:
    """How many rows of a person an answer counts in a group: coins count persons."""
    return 1 if isinstance(answer.mechanism, Appearance) else query.max_rows


def visible(answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
    """The answers without the coins."""
    return tuple(one for one in answers if not isinstance(one.mechanism, Appearance))


def deciding_of(query: Scope, answers: tuple[Answer, ...]) -> Deciding | None:
    """The answer that decides; None where none does."""
    if query.private is None:
        return None
    return deciding(query.private, [answer.mechanism for answer in answers], query.max_rows)


def appear(query: Scope, answers: tuple[Answer, ...], values: list[Any]) -> AnyArray:
    """Whether each group appears, by its answers."""
    decider = deciding_of(query, answers)
    if decider is None:
        coins: AnyArray = np.asarray(values[-1]) == 1
        return coins
    totals: AnyArray = np.asarray(values[decider.answer])[:, -1]
    return totals >= decider.threshold


def appearing(
    query: Scope, answers: tuple[Answer, ...], names: Names, values: list[Any]
) -> tuple[Names, list[Any]]:
    """The groups that appear, and their answers, without the coins."""
    which = np.flatnonzero(appear(query, answers, values))
    chosen = [
        [one[i] for i in which.tolist()] if isinstance(one, list) else one[which]
        for one in values[: len(visible(answers))]
    ]
    return names.taken(which), chosen
