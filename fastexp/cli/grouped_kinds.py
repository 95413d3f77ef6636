"""Whether a public list is of integers or of texts, as the column of FILE is."""

from __future__ import annotations

from .._group_keys import names_of
from .._key_names import KeyNames
from .errors import UserMistake
from .files import is_number
from .grouped_keys import is_integer
from .grouped_parquet import INTEGERS, TEXTS
from .public_list import Labels
from .reading import INT64


def names_for(found: Labels, kind: str | None, by: str) -> KeyNames:
    """The list as keys of the kind that the column of FILE has.

    Parameters
    ----------
    found : Labels
    kind : {"integers", "text", None}
        None: CSV, where the list decides.
    by : str
        The column.

    Returns
    -------
    KeyNames

    Raises
    ------
    UserMistake
        If the list is of another kind, or of no kind for sure.
    """
    if not found.written:
        names = names_of(found.labels, "--groups")
        if names.kind not in ("integers", "text"):
            raise UserMistake(f"--groups: {found.source} must hold integers or text")
        if kind is not None and (names.kind == "text") != (kind == TEXTS):
            other = TEXTS if names.kind == "text" else INTEGERS
            raise UserMistake(f"--groups: {found.source} holds {other}, but column {by!r} {kind}")
        return names
    texts: list[str] = found.labels
    if kind == TEXTS:
        return names_of(texts, "--groups")
    odd = [i for i, text in enumerate(texts) if not is_integer(text)]
    if not odd:
        return names_of([int(text) for text in texts], "--groups")
    if kind == INTEGERS:
        long = " of 64 bits" * _is_long(texts[odd[0]])
        raise UserMistake(
            f"--groups: column {by!r} holds integers, but {found.entry(odd[0] + 1)} is none{long}"
        )
    if len(odd) < len(texts) and not _are_codes(texts):
        _check_numbers(found, odd)
    return names_of(texts, "--groups")


def _check_numbers(found: Labels, odd: list[int]) -> None:
    """Refuse numbers beside integers: as text, 13.0 would turn 13 into text, too."""
    number = next((i for i in odd if is_number(found.labels[i])), None)
    if number is not None:
        raise UserMistake(
            f"--groups: {found.entry(number + 1)} is a number, but not written as the integers of "
            "the list are: write it without decimals, + or zeros in front, and within 64 bits "
            "(codes of text: all of the same number of digits, or FILE as Parquet)"
        )


def _are_codes(texts: list[str]) -> bool:
    """Whether all are digits of one width, as 01001 and 10001: they are texts."""
    return len(set(map(len, texts))) == 1 and all(x.isascii() and x.isdigit() for x in texts)


def _is_long(label: str) -> bool:
    return (
        label.removeprefix("-").isdecimal() and len(label) > 18 and int(label[:4000]) not in INT64
    )
