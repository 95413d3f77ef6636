"""Exceptions and warnings. Messages name arguments and requirements, never data."""

from __future__ import annotations


class FastexpError(Exception):
    """Base of every exception that fastexp raises on purpose."""


class ParameterError(FastexpError, ValueError):
    """A public parameter has an invalid value."""


class ParameterTypeError(FastexpError, TypeError):
    """A public parameter, or the form of the data, has a wrong type."""


class InvalidUtilities(FastexpError, ValueError):
    """A utility is NaN or infinite: whether it is raised depends on the data."""


class InvalidRecords(FastexpError, ValueError):
    """A record is missing: whether it is raised depends on the data."""


class ScoreError(FastexpError, RuntimeError):
    """The user's score function failed. Its message is withheld, as it may contain data."""


class NotReleasable(FastexpError, TypeError):
    """A comparator cannot release: it is for simulations only."""


class RandomnessError(FastexpError, RuntimeError):
    """The operating system gave no randomness, or too little: nothing is released."""


class RoundingModeError(FastexpError, RuntimeError):
    """The processor does not round to nearest, or flushes subnormal numbers to zero.

    The error bounds of all draws assume that it does neither. Nothing is drawn. Something is
    charged only where reading the data changed the processor's mode.
    """


class BudgetError(FastexpError, RuntimeError):
    """A budget cannot be used: it was forked or copied, or its file is damaged or inaccessible."""


class BudgetExceeded(BudgetError):
    """A release costs more than remains in the budget: nothing was drawn or charged."""


class LabelError(BudgetError):
    """A label belongs to another question, or was used up by a release that failed."""


class OutputError(FastexpError, OSError):
    """The file of a result cannot be written. What was drawn is in its attribute `answers`."""

    answers: object = None


class PrivacyWarning(UserWarning):
    """What a call does is not covered by its promise."""
