"""Families of messages with one cause and one remedy, of docs/reference/errors/errors.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

PAGES = Path(__file__).parents[1] / "reference" / "errors"
TABLE = PAGES / "errors.toml"
PLACE = re.compile(r"\{(\w+)\}")  # in a message, of what varies


@dataclass(frozen=True)
class Family:
    """Messages with one cause and one remedy, and the names of their classes."""

    section: str
    title: str
    errors: tuple[str, ...]
    messages: tuple[str, ...]
    cause: str
    remedy: str

    @property
    def anchor(self) -> str:
        """Its name in a link."""
        return slug(self.title)


def slug(title: str) -> str:
    """A title as a part of an address; a section's is the name of its page."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def families() -> list[Family]:
    """The families of the table, in its order."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["family"]
    return [
        Family(
            row["section"],
            row["title"],
            tuple(row["errors"]),
            tuple(row["messages"]),
            row["cause"],
            row["remedy"],
        )
        for row in rows
    ]
