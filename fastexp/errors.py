"""The exceptions of fastexp. Messages name arguments and requirements, never data."""

from __future__ import annotations


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
    """The processor does not round to nearest, as the error bounds assume."""


class SensitivityWarning(UserWarning):
    """The stated sensitivity may not hold for the numbers as they are represented."""
