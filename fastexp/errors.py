"""The exceptions and warnings of fastexp. Messages name arguments and requirements, never data."""

from __future__ import annotations

import sys
import warnings
from typing import Any


class FastexpError(Exception):
    """Base of every exception that fastexp raises on purpose."""


class ParameterError(FastexpError, ValueError):
    """A public parameter has an invalid value."""


class ParameterTypeError(FastexpError, TypeError):
    """A public parameter, or the form of the data, has a wrong type."""


class InvalidUtilities(FastexpError, ValueError):
    """A utility is NaN or infinite. The message does not say which or how many.

    Whether it is raised depends on the data, outside the privacy guarantee: see `nan`.
    """


class InvalidRecords(FastexpError, ValueError):
    """The records cannot be counted. The message says nothing about them."""


class ScoreError(FastexpError, RuntimeError):
    """The score function of the user failed. Its message is withheld, as it may contain data."""


class RandomnessError(FastexpError, RuntimeError):
    """The operating system gave no randomness, or the wrong amount: nothing is released."""


class RoundingModeError(FastexpError, RuntimeError):
    """The processor does not round to nearest, or flushes subnormal numbers to zero.

    Error bounds assume that it rounds to nearest. Nothing is read, drawn or charged.
    """


class BudgetError(FastexpError, RuntimeError):
    """A budget cannot be used: it was forked or copied, or its file is damaged or inaccessible."""


class BudgetExceeded(BudgetError):
    """A release costs more than remains in the budget: nothing was drawn or charged."""


class LabelError(BudgetError):
    """A label belongs to another question, was used up by a failure, or has no answers yet."""


class SessionError(FastexpError, RuntimeError):
    """A session cannot answer: its files changed, or a release failed after its charge."""


class NotReleasable(FastexpError, TypeError):
    """A comparator cannot release: it is for simulations only."""


class StudyError(FastexpError, RuntimeError):
    """A study cannot continue: its folder is of another study, a task fails, or a worker dies."""


class OutputError(FastexpError, RuntimeError):
    """Answers could not be written to their file.

    Attributes
    ----------
    answers
        The finished answers, if they were already drawn (and charged); otherwise None.
    """

    answers: Any = None


class PrecisionError(FastexpError, ArithmeticError):
    """A number cannot be computed within its promised error bound."""


class SensitivityWarning(UserWarning):
    """The stated sensitivity may not hold for the numbers as they are represented."""


class PrivacyWarning(UserWarning):
    """A request reveals something about the data that no epsilon covers."""


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line of the user's code that called fastexp."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == "fastexp":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
