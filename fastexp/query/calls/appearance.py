"""Private groups in a call: coins as one more answer, or an answer whose total decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._keys.group_names import Names
from ..._typing import AnyArray
from ...grouped.private_groups import Appearance, Deciding, coin_of, deciding
from .answers import Answer
from .scope import Scope

NOBODY = -1  # the total of a group without counted records: below every threshold
COIN = ""  # the name of the coins, which no answer can have


def with_coin(query: Scope, answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
    """The answers; for rule A, with the coins of groups as the last one."""
    private = query.private
    if private is None or private.epsilon is None:
        deciding_of(query, answers)  # refuses answers of which none can decide
        return answers
    first = answers[0]
    coin = coin_of(private, first.mechanism, query.person, query.max_rows)
    return *answers, Answer(COIN, coin, first.column, "drop")


def rows_of(query: Scope, answer: Answer) -> int:
    """The most rows of a person that count in a group; 1 for coins, as they count persons."""
    return 1 if isinstance(answer.mechanism, Appearance) else query.max_rows


def visible(answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
    """The answers without the coins."""
    return tuple(answer for answer in answers if not isinstance(answer.mechanism, Appearance))


def deciding_of(query: Scope, answers: tuple[Answer, ...]) -> Deciding | None:
    """The answer that decides by rule B; None for rule A and without private groups."""
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
    group_indices = np.flatnonzero(appear(query, answers, values))
    chosen = [
        [column[i] for i in group_indices.tolist()]
        if isinstance(column, list)
        else column[group_indices]
        for column in values[: len(visible(answers))]
    ]
    return names.taken(group_indices), chosen
