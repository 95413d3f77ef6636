"""A row of the table of messages: its name, error and text, and the calls that get it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

GAP = re.compile(r"\.\.\.|\{(\w+)\}")
Fields = dict[str, object]


@dataclass(frozen=True)
class Call:
    """A function of public names, the values that it is called with in turn, and fields."""

    function: Callable[..., object]
    values: tuple[object, ...]
    fields: Fields


def call(function: Callable[..., object], *values: object, **fields: object) -> Call:
    """Return a call, or one for each of the values, whose message has these fields."""
    return Call(function, values, fields)


class Message:
    """A message, where "..." stands for anything, as does a {field} that is not given.

    A call is a function of public names and small values. One in words is made by a test in
    another file, as it needs a file, a process or data; that test names the row.
    """

    def __init__(
        self,
        name: str,
        error: type[Exception],
        text: str,
        *calls: str | Callable[[], object] | Call,
    ) -> None:
        self.name, self.error, self.text, self._calls = name, error, text, calls
        self.fields = list(dict.fromkeys(gap[1] for gap in GAP.finditer(text) if gap[1]))

    def calls(self) -> Iterator[tuple[Callable[[], object], Fields]]:
        """Yield the calls that are made here, each with the fields of its message."""
        for one in self._calls:
            if isinstance(one, Call):
                for values in [(value,) for value in one.values] or [()]:
                    yield partial(one.function, *values), one.fields
            elif not isinstance(one, str):
                yield one, {}

    def pattern(self, fields: Fields) -> str:
        """Return a regular expression of the message with these fields."""
        parts, at = [], 0
        for gap in GAP.finditer(self.text):
            parts += re.escape(self.text[at : gap.start()]), _expression(fields.get(gap[1], "..."))
            at = gap.end()
        return "".join(parts) + re.escape(self.text[at:])


def _expression(value: object) -> str:
    if isinstance(value, re.Pattern):
        return f"(?:{value.pattern})".replace("(?:^", "(?:").replace(r"\Z)", ")")
    return ".*".join(map(re.escape, str(value).split("...")))
