"""The exceptions and warnings of fastexp. Messages name arguments and requirements, never data."""

from __future__ import annotations

import sys
import warnings
from typing import Any


class FastexpError(Exception):
    """Base of every exception that fastexp raises on purpose."""


class ParameterError(FastexpError, ValueError):
    """A public parameter has a value that is not allowed."""


class ParameterTypeError(FastexpError, TypeError):
    """A public parameter, or the form of the data, has a type that is not allowed."""


class InvalidUtilities(FastexpError, ValueError):
    """Some utility is NaN or infinite. The message says nothing about which or how many.

    Raising depends on the data and lies outside the privacy guarantee: see `nan`.
    """


class InvalidRecords(FastexpError, ValueError):
    """The records cannot be counted. The message says nothing about them."""


class ScoreError(FastexpError, RuntimeError):
    """The user's score function failed. Its own message is withheld: it may hold data."""


class RandomnessError(FastexpError, RuntimeError):
    """The operating system gave no randomness, or the wrong amount: nothing is released."""


class RoundingModeError(FastexpError, RuntimeError):
    """The processor does not round to nearest, or flushes subnormal numbers to zero.

    Error bounds assume that it does not. Nothing is read, drawn or charged.
    """


class BudgetError(FastexpError, RuntimeError):
    """A budget cannot be used: a forked or copied one, a file that is damaged or locked away."""


class BudgetExceeded(BudgetError):
    """The rest of a budget does not cover a release: nothing was drawn, nothing charged."""


class LabelError(BudgetError):
    """A label that names another question, was used up by a failure, or has no answers yet."""


class SessionError(FastexpError, RuntimeError):
    """A session cannot answer: its files changed, or a release failed after its charge."""


class NotReleasable(FastexpError, TypeError):
    """A comparator does not release: it is for simulations only."""


class StudyError(FastexpError, RuntimeError):
    """A study cannot go on: its folder is another study's, a task fails, a worker dies."""


class OutputError(FastexpError, RuntimeError):
    """Answers could not be written to their file.

    Attributes
    ----------
    answers
        The finished answers, where they were drawn already (and charged); else None.
    """

    answers: Any = None


class PrecisionError(FastexpError, ArithmeticError):
    """A number cannot be given with the error bound that is promised for it."""


class SensitivityWarning(UserWarning):
    """The stated sensitivity may not hold for the numbers as they are represented."""


class PrivacyWarning(UserWarning):
    """What was asked for tells something of the data that no epsilon covers."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of the caller's code that called fastexp."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == "fastexp":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
