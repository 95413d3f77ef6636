"""Families of messages with one cause and one remedy, of docs/reference/errors/errors.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from message_texts import Message, messages

PAGES = Path(__file__).parents[1] / "reference" / "errors"
TABLE = PAGES / "errors.toml"
PACKAGE = Path(__file__).parents[2] / "fastexp"


@dataclass(frozen=True)
class Family:
    """Messages with one cause and one remedy; `patterns` are whole messages, * is anything."""

    section: str
    title: str
    patterns: tuple[str, ...]
    cause: str
    remedy: str

    def has(self, text: str) -> bool:
        """Whether a message belongs to it."""
        return any(_matches(pattern, text) for pattern in self.patterns)

    @property
    def anchor(self) -> str:
        """Its name in a link."""
        return slug(self.title)


def slug(title: str) -> str:
    """A title as a part of an address; a section's is the name of its page."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


@cache  # each pattern meets each message
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", ".*"), re.DOTALL)


def _matches(pattern: str, text: str) -> bool:
    return bool(_compiled(pattern).fullmatch(text))


def families(table: Path = TABLE) -> list[Family]:
    """The families of the table, in its order."""
    rows = tomllib.loads(table.read_text(encoding="utf-8"))["family"]
    return [
        Family(row["section"], row["title"], tuple(row["messages"]), row["cause"], row["remedy"])
        for row in rows
    ]


def sorted_into(
    kinds: Iterable[Family], said: Iterable[Message]
) -> tuple[dict[Family, list[Message]], list[str]]:
    """The messages of each family, and what is wrong: a message of no family or of two."""
    members: dict[Family, list[Message]] = {family: [] for family in kinds}
    faults = []
    for message in said:
        homes = [family for family in members if family.has(message.text)]
        for family in homes[:1]:
            members[family].append(message)
        if len(homes) != 1:
            names = " and ".join(repr(family.title) for family in homes) or "no family"
            faults.append(f"{message.place}: {message.text!r} belongs to {names}")
    for family, its in members.items():
        texts = [message.text for message in its]
        vain = [p for p in family.patterns if not any(_matches(p, text) for text in texts)]
        faults += [f"{family.title!r}: no message is {pattern!r}" for pattern in vain]
    return members, faults


@cache  # the pages are several, the package is read once
def of_package() -> tuple[dict[Family, list[Message]], list[str]]:
    """`sorted_into` of the table and of what the package says."""
    return sorted_into(families(), messages(PACKAGE))
