"""The table of messages: what the package says, by names that stay when its words change.

A test asks for a message by name, `says("labels: true or false")`, so that a reworded
message is one changed row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from tests.messages.message import Message
from tests.messages.table import MESSAGES

TABLE = {message.name: message for message in MESSAGES}
SHORT = re.compile(r"(?:(?P<first>.*?): )?(?P<name>.*?)(?:, got (?P<last>.*))?", re.DOTALL)


def says(*names: str | re.Pattern[str], **fields: object) -> re.Pattern[str]:
    """Return the pattern of a message, or of any of several, with these values of its fields.

    Before the name may be the first field, and behind it the last one: `says("q: real number")`,
    `says("q: real number, got str")`. A pattern is returned as it is.
    """
    if isinstance(names[0], re.Pattern):
        return names[0]
    note = r"(?:\n[^\n]* was charged to [^\n]*)?"  # of an error after a charge
    return re.compile("|".join(rf"^{part}{note}\Z" for part in _patterns(names, fields)), re.DOTALL)


def heard(text: str, *names: str, **fields: object) -> bool:
    """Return whether a message, or one of several, is in a longer text, such as stderr."""
    return re.search("|".join(_patterns(names, fields)), text, re.DOTALL) is not None


def raises(*names: str, **fields: object) -> pytest.RaisesExc[Exception]:
    """Return the context of an error of the row's class with its message (see `says`)."""
    errors = {_row(name, {})[0].error for name in names}
    return pytest.raises(tuple(errors), match=says(*names, **fields))


def _patterns(names: Iterable[str], fields: dict[str, object]) -> list[str]:
    rows = [_row(name, fields) for name in names]
    if unknown := fields.keys() - {field for message, _ in rows for field in message.fields}:
        raise KeyError(f"{names} have no fields {unknown}")
    return [message.pattern(values) for message, values in rows]


def _row(short: str, fields: dict[str, object]) -> tuple[Message, dict[str, object]]:
    parts = SHORT.fullmatch(short)
    message = TABLE[parts["name"]]
    ends = {0: parts["first"], -1: parts["last"]}
    named = {message.fields[end]: value for end, value in ends.items() if value is not None}
    return message, {**fields, **named}
