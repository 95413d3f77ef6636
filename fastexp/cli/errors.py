"""Exit codes, and what is said about an error: never a value of the data."""

from __future__ import annotations

from pathlib import Path

OK, FAILURE, MISTAKE, NO_ROOM = 0, 1, 2, 3


# What the package calls something, and what options and a publication call it.
TERMS = (
    ("pass any_epsilon=True", "add --any-epsilon", "add any_epsilon = true"),
    ("pass force=True", "add --force", "add --force"),
    ("frame is a path, which needs", "FILE needs", "the file needs"),
    ("another file than the frame's", "another file than FILE", "another file than source"),
    ("must be in the frame, once", "must be in FILE, once", "must be in the file, once"),
    ("between its columns?)", "between its columns? see --delimiter)", "between its columns?)"),
    ("'fastexp[files]'", "'fastexp[cli]'", "'fastexp[cli]'"),
    ("see nan=", "see --nan", "see nan"),
    ("the argument nan", "--nan", "nan"),
    ("grid=", "--grid", "grid"),
)
SUBJECTS = {"frame ": ("FILE ", "the file "), "output ": ("--output ", "output ")}


class UserMistake(Exception):
    """Something that the user can mend: options, parameters, the file. Exit code 2."""


class UnreadableRows(UserMistake):
    """A mistake that one row of the data can make: a budget is charged for learning of it."""


class Failure(Exception):
    """Something that went wrong at run time. Exit code 1."""


def report(error: Exception, publication: bool = False) -> tuple[str, int]:
    """The message and the exit code for an error.

    Parameters
    ----------
    error : Exception
        What a command raised. Only texts that hold no data by construction are repeated:
        the command line's own and those of the package. Others are withheld.
    publication : bool
        Whether it was asked by a publication, which has keys instead of options.

    Returns
    -------
    tuple of (str, int)
        (message, exit code).
    """
    from .. import errors

    if isinstance(error, UserMistake):
        return f"error: {error}", MISTAKE
    if isinstance(error, errors.InvalidUtilities):
        return "error: the utilities must be finite: NaN or infinity found", MISTAKE
    if isinstance(error, (errors.ParameterError, errors.ParameterTypeError)):
        return f"error: {in_terms(str(error), publication)}", MISTAKE
    if isinstance(error, errors.LabelError):
        return f"error: {error}", MISTAKE
    if isinstance(error, errors.InvalidRecords):
        return f"error: {in_terms(str(error), publication)}", MISTAKE
    if isinstance(error, errors.BudgetExceeded):
        return f"error: {error}", NO_ROOM
    if isinstance(error, (Failure, errors.FastexpError)):
        return f"error: {in_terms(str(error), publication)}", FAILURE
    if isinstance(error, MemoryError):
        return "error: not enough memory", FAILURE
    return f"error: {_withheld(error)}", FAILURE


def in_terms(text: str, publication: bool) -> str:
    """An error of the package with the words of who asked for an option or wrote a key."""
    for word, option, key in TERMS:
        text = text.replace(word, key if publication else option)
    subject = "output " if text.startswith("cannot write output ") else text.partition(" ")[0] + " "
    if subject in SUBJECTS:
        text = text.replace(subject, SUBJECTS[subject][publication], 1)
    if "must be a path that ends in" in text and not publication:
        text += "; CSV of another name can be given by stdin: - < FILE"
    return text


def _withheld(error: Exception) -> str:
    """Type and place of an error that nobody foresaw, without its text."""
    place, trace = "", error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if "fastexp" in path.parts[:-1]:
            place = f" at {path.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    kind = type(error).__name__
    return f"unexpected {kind}{place}; its message is withheld as it may hold data"
