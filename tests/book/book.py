"""The chapters of the book, their files, and the comparison with what is today."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.book import (
    answers,
    commands,
    docstrings,
    draws,
    functions,
    groups,
    guarantees,
    laws,
    resumed,
    studies,
)
from tests.book.compare import NOTHING, differences
from tests.book.entries import Entry

FOLDER = Path(__file__).parents[1] / "data" / "book"
CHAPTERS: dict[str, Callable[[], Iterator[Entry]]] = {
    "answers": answers.entries,
    "commands": commands.entries,
    "docstrings": docstrings.entries,
    "draws": draws.entries,
    "functions": functions.entries,
    "groups": groups.entries,
    "guarantees": guarantees.entries,
    "laws": laws.entries,
    "resumed": resumed.entries,
    "studies": studies.entries,
}


def path_of(chapter: str) -> Path:
    """Where a chapter is kept."""
    return FOLDER / f"{chapter}.json.xz"


def compared(chapter: str) -> list[str]:
    """How today's package differs from the book, a line a change."""
    return list(_changes(chapter, _entries_of(chapter)))


def write(chapter: str) -> bool:
    """Write a chapter anew, if it changed; say whether it did."""
    entries, path = _entries_of(chapter), path_of(chapter)
    if path.exists() and not any(_changes(chapter, entries)):
        return False
    values = _rounded({name: entry.value for name, entry in entries.items()})
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    return True


def _entries_of(chapter: str) -> dict[str, Entry]:
    """The entries of today's package by name."""
    entries: dict[str, Entry] = {}
    for entry in CHAPTERS[chapter]():
        if entry.name in entries:
            raise ValueError(f"{chapter} has two entries {entry.name!r}")
        entries[entry.name] = entry
    return entries


def _changes(chapter: str, entries: dict[str, Entry]) -> Iterator[str]:
    """How today's entries differ from those of the book."""
    book = json.loads(lzma.decompress(path_of(chapter).read_bytes()))
    for name in sorted({*book, *entries}):
        old, new, place = book.get(name, NOTHING), NOTHING, f"{chapter} / {name}"
        if name in entries:
            new = json.loads(json.dumps(entries[name].value))  # tuples are lists
            place += f": {entries[name].about}" * bool(entries[name].about)
        yield from differences(place, old, new)


def _rounded(value: Any) -> Any:
    """Figures in 14 digits, a tenth of what a comparison allows."""
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(part) for part in value]
    return float(f"{value:.13e}") if isinstance(value, float) else value
