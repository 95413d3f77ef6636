"""The lines of a budget file: what each may be, and what they say together.

JSON lines: a header with the limit, then one line a charge; of a charge with a label later one
more, for its answers or its failure. Whatever is not exactly one of these is damage.
"""

from __future__ import annotations

import json
import math
import re
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from .terms import RELATIONS, UNITS, Cost, Spent, Terms

FORMAT, VERSION = "fastexp budget", 3
HEADER = {"format", "version", "unit", "limit", "delta", "neighbors", "time"}
WORDS = "name", "about", "note"
CHARGE = {"charge", "delta", "time", *WORDS}
LABELLED = CHARGE | {"label", "question"}
ANSWERS = {"answers", "label", "time"}
BESIDE = {"beside", "key", "label", "time"}  # answers in a file of their own
FAILED = {"failed", "time"}
DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
CHARGED, OPEN, ANSWERED, USED_UP = "charged", "open", "answered", "failed"  # states of a charge


class Entry(NamedTuple):
    """What is charged and for what; all of it is public."""

    cost: Cost
    name: str | None = None  # of the mechanisms
    about: str | None = None  # the question in words
    note: str | None = None  # the user's words
    label: str | None = None
    question: str = ""  # of a label: the digest of its question


@dataclass(frozen=True, slots=True)
class Charge:
    """An entry that was charged, and what became of it."""

    entry: Entry
    time: str
    state: str = CHARGED
    answers: Any = None  # parsed JSON, as `_answers.value` takes it
    beside: tuple[str, str] | None = None  # digest and key of the file that has them


@dataclass(frozen=True)
class History:
    """What complete lines say."""

    lines: bytes
    terms: Terms
    spent: Spent
    charges: tuple[Charge, ...]
    labels: dict[str, int]  # places in `charges`

    def of(self, label: str) -> Charge | None:
        """The charge under a label."""
        place = self.labels.get(label)
        return None if place is None else self.charges[place]

    def then(self, lines: bytes) -> History:
        """And further lines; ValueError if one of them is none."""
        if not lines:
            return self
        charges, labels, spent = list(self.charges), dict(self.labels), self.spent
        for number, line in enumerate(lines[:-1].split(b"\n"), 1 + self.lines.count(b"\n")):
            try:
                fields = _fields(line)
                names = fields.keys()
                if names in (CHARGE, LABELLED):
                    charge = _charge(fields)
                    if charge.entry.label is not None:
                        labels[_new(charge.entry.label, labels)] = len(charges)
                    charges.append(charge)
                    spent = spent.with_one(charge.entry.cost)
                else:
                    place = labels[fields["failed" if names == FAILED else "label"]]
                    charges[place] = _settled(charges[place], fields)
            except (ValueError, TypeError, LookupError):
                raise ValueError(f"line {number} is not one of a budget") from None
        return History(self.lines + lines, self.terms, spent, tuple(charges), labels)


class OtherVersion(Exception):
    """A header of another version of the format."""


def begun(header: bytes) -> History:
    """A history with its first line; ValueError if that is not a header."""
    try:
        fields = _fields(header.removesuffix(b"\n"))
        if fields.get("format") == FORMAT and fields.get("version") != VERSION:
            raise OtherVersion
        limit, delta = _decimal(fields["limit"]), _decimal(fields["delta"])
        terms = Terms(_text(fields["unit"]), limit, delta, _text(fields["neighbors"]))
        good = fields.keys() == HEADER and fields["format"] == FORMAT and limit > 0.0
        good = good and terms.unit in UNITS and terms.neighbors in RELATIONS
        if not good or not 0.0 <= delta < 1.0 or (delta and terms.unit == "rho"):
            raise ValueError
    except (ValueError, TypeError, LookupError):
        raise ValueError("its first line is not the header of a budget") from None
    return History(header, terms, Spent(), (), {})


def header(terms: Terms) -> bytes:
    """The first line."""
    limits = {"limit": repr(terms.limit), "delta": repr(terms.delta)}
    head = {"format": FORMAT, "version": VERSION, "unit": terms.unit}
    return line({**head, **limits, "neighbors": terms.neighbors, "time": now()})


def charged(entry: Entry) -> bytes:
    """The line of a charge."""
    amounts = {"charge": repr(entry.cost.amount), "delta": repr(entry.cost.delta)}
    words = {key: getattr(entry, key) for key in WORDS}
    label = {} if entry.label is None else {"label": entry.label, "question": entry.question}
    return line({**amounts, **words, **label, "time": now()})


def answered(label: str, text: str) -> bytes:
    """The line of a label's answers, which are JSON already."""
    rest = json.dumps({"label": label, "time": now()})
    return f'{{"answers": {text}, {rest[1:]}\n'.encode("ascii")


def answered_beside(label: str, digest: str, key: str) -> bytes:
    """The line of a label's answers in a file of their own."""
    return line({"beside": digest, "key": key, "label": label, "time": now()})


def failed(label: str) -> bytes:
    """The line of a label whose release failed."""
    return line({"failed": label, "time": now()})


def line(fields: dict[str, Any]) -> bytes:
    """JSON in ASCII, with an end."""
    return json.dumps(fields).encode("ascii") + b"\n"


def now() -> str:
    """The time, to a second, as 2026-01-31T23:59:59Z."""
    return written(time.time())


def written(moment: float) -> str:
    """A time in seconds since 1970, as text."""
    text = datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
    return text.replace("+00:00", "Z")  # a fifth of strftime's time


def _new(label: str, labels: dict[str, int]) -> str:
    if label in labels:
        raise ValueError
    return label


def _charge(fields: dict[str, Any]) -> Charge:
    cost, moment = (
        Cost(_decimal(fields["charge"]), _decimal(fields["delta"])),
        _text(fields["time"]),
    )
    name, about, note = (None if fields[key] is None else _text(fields[key]) for key in WORDS)
    if "label" not in fields:
        return Charge(Entry(cost, name, about, note), moment)
    label, question = _text(fields["label"]), _digest(fields["question"])
    return Charge(Entry(cost, name, about, note, label, question), moment, OPEN)


def _settled(charge: Charge, fields: dict[str, Any]) -> Charge:
    """An open charge with what became of it."""
    names = fields.keys()
    _text(fields["time"])
    if charge.state != OPEN:
        raise ValueError
    if names == FAILED:
        return replace(charge, state=USED_UP)
    if names == BESIDE:
        file = _digest(fields["beside"]), _digest(fields["key"])
        return replace(charge, state=ANSWERED, beside=file)
    if names != ANSWERS:
        raise ValueError
    return replace(charge, state=ANSWERED, answers=fields["answers"])


def _fields(text: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except RecursionError:
        raise ValueError from None
    if not isinstance(fields, dict):
        raise ValueError
    return fields


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _digest(value: object) -> str:
    if not DIGEST.fullmatch(_text(value)):
        raise ValueError
    return str(value)


def _decimal(value: object) -> float:
    """A number >= 0 as `repr` writes it."""
    number = float(_text(value))
    if not 0.0 <= number < math.inf or repr(abs(number)) != value:  # nor -0.0
        raise ValueError
    return number
