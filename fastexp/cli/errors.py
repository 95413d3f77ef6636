"""Exit codes, and what is said about an error: never a value of the data."""

from __future__ import annotations

from pathlib import Path

OK, FAILURE, MISTAKE, NO_ROOM, INTERRUPTED = 0, 1, 2, 3, 130


class UserMistake(Exception):
    """Something that the user can mend: options, parameters, the file. Exit code 2."""


class UnreadableRows(UserMistake):
    """A mistake that one row of the data can make: a budget is charged for learning of it."""


class Failure(Exception):
    """Something that went wrong at run time. Exit code 1."""


def report(error: Exception) -> tuple[str, int]:
    """The message and the exit code for an error.

    Parameters
    ----------
    error : Exception
        What a command raised. Only texts that hold no data by construction are repeated:
        the command line's own and those of the package. Others are withheld.

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
        return f"error: {_as_option(str(error))}", MISTAKE
    if isinstance(error, errors.LabelError):
        return f"error: {error}", MISTAKE
    if isinstance(error, errors.InvalidRecords):
        return f"error: {_as_option(str(error))}", MISTAKE
    if isinstance(error, errors.BudgetExceeded):
        return f"error: {error}", NO_ROOM
    if isinstance(error, (Failure, errors.FastexpError)):
        return f"error: {_as_option(str(error))}", FAILURE
    if isinstance(error, MemoryError):
        return "error: not enough memory", FAILURE
    return f"error: {_withheld(error)}", FAILURE


def _as_option(text: str) -> str:
    text = text.replace("pass any_epsilon=True", "add --any-epsilon")
    if text.startswith(("output ", "cannot write output ")):
        text = text.replace("output ", "--output ", 1).replace("pass force=True", "add --force")
    if text.startswith("frame must be "):
        text = text.replace("frame", "FILE", 1)
    text = text.replace("must be in the frame, once", "must be in FILE, once")
    if "must be a path that ends in" in text:
        text += "; CSV of another name can be given by stdin: - < FILE"
    text = text.replace("'fastexp[files]'", "'fastexp[cli]'").replace("see nan=", "see --nan")
    return text.replace("the argument nan", "--nan").replace("grid=", "--grid")


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
