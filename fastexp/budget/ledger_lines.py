"""The lines of a budget file: their forms and their meaning.

The lines are JSON: a header with the limit, then a line for each charge. A charge with a label has
a later line for its answers or its failure. Each line ends with a check, a digest of the line and
of the check before it, so that a line that was changed, removed or moved is detected. A file with
any other line is damaged.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from .._parameters import validate
from .terms import Cost, Entry, History, Outcome, Terms, terms_of

FORMAT, VERSION = "fastexp budget", 4
HEADER = {"format", "version", "unit", "limit", "delta", "neighbors", "time"}
WORDS = "name", "about", "note"
CHARGE = {"charge", "delta", "time", *WORDS}
LABELLED = CHARGE | {"label", "question"}
ANSWERS = {"answers", "label", "time"}
BESIDE = {"beside", "key", "label", "time"}  # answers in a separate file
FAILED = {"failed", "time"}
DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
CHECK = ', "check": "'
DOMAIN = b"fastexp.line"  # of checks, by BLAKE2b-128


@dataclass(frozen=True)
class Lines:
    """Complete lines, and the history that they record."""

    raw: bytes
    check: str  # of the last line
    terms: Terms
    history: History = field(default_factory=History)

    def then(self, raw: bytes) -> Lines:
        """Return these lines with further ones; ValueError if one of them is malformed."""
        if not raw:
            return self
        check, before = self.check, self.history
        history = History(before.charges.copy(), before.labels.copy())
        for number, line in enumerate(raw[:-1].split(b"\n"), 1 + self.raw.count(b"\n")):
            try:
                fields, check = _unsealed(line, check)
                history.add(_step(fields), _text(fields["time"]))
            except (ValueError, TypeError, LookupError):
                raise ValueError(f"line {number} was not written by a budget") from None
        return Lines(self.raw + raw, check, self.terms, history)

    def check_rest(self, rest: bytes) -> None:
        """Raise ValueError if the rest is a line of which only the last byte was changed."""
        if rest[-1:] != b"\0":  # zeros: the disk has not written these bytes yet
            try:
                _unsealed(rest[:-1], self.check)
            except ValueError:
                return
            raise ValueError("the end of its last line was changed")


class OtherVersion(Exception):
    """A header of another version of the format."""


def from_header(header: bytes) -> Lines:
    """Read the first line; ValueError if it is not a header."""
    try:
        line = header.removesuffix(b"\n")
        fields = _fields(line)
        if fields.get("format") == FORMAT and fields.get("version") != VERSION:
            raise OtherVersion
        fields, check = _unsealed(line, "")
        limit, delta = _decimal(fields["limit"]), _decimal(fields["delta"])
        epsilon, rho = (limit if fields["unit"] == unit else None for unit in ("epsilon", "rho"))
        terms = terms_of(epsilon, delta, rho, validate.neighbors(fields["neighbors"]))
        if terms is None or fields.keys() != HEADER or fields["format"] != FORMAT:
            raise ValueError
    except (ValueError, TypeError, LookupError):
        raise ValueError("its first line is not the header of a budget") from None
    return Lines(header, check, terms)


def header(terms: Terms) -> bytes:
    """Return the first line."""
    fields = {
        "format": FORMAT,
        "version": VERSION,
        "unit": terms.unit,
        "limit": repr(terms.limit),
        "delta": repr(terms.delta),
        "neighbors": terms.neighbors,
        "time": now(),
    }
    return sealed(json.dumps(fields), "")


def line(step: Entry | Outcome, check: str) -> bytes:
    """Return the line of a charge or of its outcome; `check` is that of the line before."""
    answers, fields = "", {"label": step.label}
    if isinstance(step, Entry):
        fields = {"charge": repr(step.cost.amount), "delta": repr(step.cost.delta)}
        fields |= {key: getattr(step, key) for key in WORDS}
        if step.label is not None:
            fields |= {"label": step.label, "question": step.question}
    elif step.text is not None:
        answers = f'"answers": {step.text}, '  # already JSON
    elif step.beside is not None:
        digest, key = step.beside
        fields = {"beside": digest, "key": key, "label": step.label}
    else:
        fields = {"failed": step.label}
    return sealed("{" + answers + json.dumps({**fields, "time": now()})[1:], check)


def sealed(text: str, check: str) -> bytes:
    """Return JSON as a line with its check; `check` is that of the line before."""
    words = f"{check}{text[:-1]}".encode("ascii")
    digest = hashlib.blake2b(words, digest_size=16, person=DOMAIN).hexdigest()
    return f'{text[:-1]}{CHECK}{digest}"}}\n'.encode("ascii")


def now() -> str:
    """Return the time to the second, as 2026-01-31T23:59:59Z."""
    return _written(int(time.time()))


@lru_cache(maxsize=1)
def _written(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _unsealed(line: bytes, before: str) -> tuple[dict[str, Any], str]:
    """Return the content of a line and its check; ValueError if the check is wrong."""
    head, _, check = line.decode("ascii").rpartition(CHECK)
    if line + b"\n" != sealed(head + "}", before):
        raise ValueError
    return _fields(head + "}"), check[:-2]


def _step(fields: dict[str, Any]) -> Entry | Outcome:
    names = fields.keys()
    if names in (CHARGE, LABELLED):
        cost = Cost(_decimal(fields["charge"]), _decimal(fields["delta"]))
        name, about, note = (None if fields[key] is None else _text(fields[key]) for key in WORDS)
        entry = Entry(cost, name, about, note)
        if names == CHARGE:
            return entry
        return entry._replace(label=_text(fields["label"]), question=_digest(fields["question"]))
    if names == FAILED:
        return Outcome(_text(fields["failed"]))
    if names == BESIDE:
        beside = _digest(fields["beside"]), _digest(fields["key"])
        return Outcome(_text(fields["label"]), beside=beside)
    if names != ANSWERS:
        raise ValueError
    return Outcome(_text(fields["label"]), json.dumps(fields["answers"]))


def _fields(text: bytes | str) -> dict[str, Any]:
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
    """Return a number >= 0 from its `repr`."""
    number = float(_text(value))
    if not 0.0 <= number < math.inf or repr(abs(number)) != value:  # and not -0.0
        raise ValueError
    return number
