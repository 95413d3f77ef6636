"""Exit codes, messages of errors (never with values of the data), and missing packages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

OK, FAILURE, MISTAKE, NO_ROOM, NO_ANSWERS = 0, 1, 2, 3, 4

# Words in messages of the package, and the same in terms of options and of a publication's keys.
TERMS = (
    ("pass any_epsilon=True", "add --any-epsilon", "add any_epsilon = true"),
    ("pass force=True", "add --force", "add --force"),
    ("frame is a path: reading files needs", "FILE needs", "the file needs"),
    ("a file of the frame", "FILE", "source"),
    ("between its columns?)", "between its columns? see --delimiter)", "between its columns?)"),
    ("(epsilon=...)", "(--groups-epsilon)", "(groups_epsilon)"),
    ("with_total=True", "--with-total", "with_total = true"),
    (
        "grid must lie within the bounds",
        "--grid or --digits must lie within --bounds",
        "grid must lie within bounds",
    ),
    ("convert=True", "--convert", "convert=True"),
    ("give grid=fastexp.digits(3)", "give --digits 3", "give grid = {digits = 3}"),
    ("must be True or False", "must be true or false", "must be true or false"),
    ("a sequence of tuples of", "a list of lists of", "a list of lists of"),
    (
        "use it under 'replace', or create the mechanism with neighbors='add-remove'",
        "take a budget made with --neighbors replace, or add --neighbors add-remove",
        "take a budget made with --neighbors replace, or write neighbors = 'add-remove'",
    ),
    ("see nan=", "see --nan", "see nan"),
    ("the argument nan", "--nan", "nan"),
)
DAMAGED = "is damaged, or not a budget"  # another run has the same error
KINDS = {  # of values, in the words of TOML
    "str": "text",
    "list": "a list",
    "tuple": "a list",
    "dict": "a table",
    "bool": "true or false",
    "int": "an integer",
    "Decimal": "a decimal",
}
SUBJECTS = {"frame ": ("FILE ", "the file "), "output ": ("--output ", "output ")}


class UserMistake(Exception):
    """A mistake that the user can correct: options, parameters, the file. Exit code 2."""


class Failure(Exception):
    """A failure at run time. Exit code 1."""


class NoAnswers(Exception):
    """A release failed after its charge, by this error. Exit code 4."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


def report(error: Exception, publication: bool = False) -> tuple[str, int]:
    """Return the message and the exit code for an error that a command raised.

    Only texts that contain no data by construction are shown: those of the command line and of the
    package. Others are withheld. For a publication, messages name its keys instead of options.
    """
    from ... import errors

    if isinstance(error, NoAnswers):
        return report(error.error, publication)[0], NO_ANSWERS
    if isinstance(error, errors.InvalidUtilities):
        return "error: the utilities must be finite: NaN or infinity found", MISTAKE
    if isinstance(error, (UserMistake, errors.LabelError)):
        return f"error: {error}", MISTAKE
    if isinstance(error, errors.BudgetExceeded):
        return f"error: {error}", NO_ROOM
    mistakes = errors.ParameterError, errors.ParameterTypeError, errors.InvalidRecords
    if isinstance(error, (*mistakes, Failure, errors.FastexpError)):
        is_mistake = isinstance(error, mistakes) or DAMAGED in str(error)
        code = MISTAKE if is_mistake else FAILURE
        return f"error: {in_terms(str(error), publication)}", code
    if isinstance(error, OSError):  # after a charge: of rows on disk
        return f"error: {reason_of(error, 'system error')}", FAILURE
    if isinstance(error, MemoryError):
        return "error: not enough memory", FAILURE
    return f"error: {_withheld(error)}", FAILURE


def in_terms(text: str, publication: bool) -> str:
    """Return a message of the package in terms of options, or of a publication's keys."""
    for word, option, key in TERMS:
        text = text.replace(word, key if publication else option)
    subject = "output " if text.startswith("cannot write output ") else text.partition(" ")[0] + " "
    if subject in SUBJECTS:
        text = text.replace(subject, SUBJECTS[subject][publication], 1)
    if publication:
        text = re.sub(r"\bgot (?:an (?:object|entry) of type )?(\w+)$", _of_kind, text)
    else:
        text = re.sub(r"^answers\[.*\] must be a column", "--column must be a column", text)
    if "must be a path that ends in" in text and not publication:
        text += "; CSV of another name can be given by stdin: - < FILE"
    return text


def _of_kind(got: re.Match[str]) -> str:
    return f"got {KINDS.get(got[1], got[1])}"


def did_you_mean(word: str, known: Iterable[str], mark: str = "") -> str:
    """Return the end of a message about an unknown word; empty if no known word is similar.

    `mark` is a prefix of all known words, which `known` leaves out as it makes no words similar.
    """
    from difflib import get_close_matches

    alike = get_close_matches(word[:100], list(known), 1)
    return f": did you mean {mark + alike[0]!r}?" if alike else ""


def reason_of(error: Exception, otherwise: str = "not a path") -> str:
    """Return the system's words for an error, which contain no data."""
    return getattr(error, "strerror", None) or otherwise


def _withheld(error: Exception) -> str:
    """Return the type and the place of an unforeseen error, without its text."""
    place, trace = "", error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if "fastexp" in path.parts[:-1]:
            place = f" at {path.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    kind = type(error).__name__
    return f"unexpected {kind}{place}; its message is withheld as it may hold data"


def optional(name: str) -> Any:
    """Import an optional module; return None if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def needed(name: str, option: str) -> Any:
    """Import an optional module that an option needs."""
    module = optional(name)
    if module is None:
        raise Failure(f"{option} needs a package that is not installed: pip install {name}")
    return module
