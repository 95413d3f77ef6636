"""fastexp draws from, releases and analyses the exponential mechanism of differential privacy.

Names are imported at first use: ``import fastexp`` imports neither numba nor numpy and
compiles nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ._warmup import warmup
    from .errors import (
        FastexpError,
        InvalidRecords,
        InvalidUtilities,
        ParameterError,
        ParameterTypeError,
        RandomnessError,
        RoundingModeError,
        ScoreError,
        SensitivityWarning,
    )
    from .laws.bounds import epsilon_for, loss_bound
    from .laws.finite import FiniteLaw, LossTail
    from .mechanisms.exponential import Exponential
    from .mechanisms.most_common import MostCommon
    from .mechanisms.scored import ScoredExponential
    from .privacy import Guarantee

_HOME = {
    "Exponential": "mechanisms.exponential",
    "FastexpError": "errors",
    "FiniteLaw": "laws.finite",
    "Guarantee": "privacy",
    "InvalidRecords": "errors",
    "InvalidUtilities": "errors",
    "LossTail": "laws.finite",
    "MostCommon": "mechanisms.most_common",
    "ParameterError": "errors",
    "ParameterTypeError": "errors",
    "RandomnessError": "errors",
    "RoundingModeError": "errors",
    "ScoreError": "errors",
    "ScoredExponential": "mechanisms.scored",
    "SensitivityWarning": "errors",
    "epsilon_for": "laws.bounds",
    "loss_bound": "laws.bounds",
    "warmup": "_warmup",
}

__all__ = [
    "Exponential",
    "FastexpError",
    "FiniteLaw",
    "Guarantee",
    "InvalidRecords",
    "InvalidUtilities",
    "LossTail",
    "MostCommon",
    "ParameterError",
    "ParameterTypeError",
    "RandomnessError",
    "RoundingModeError",
    "ScoreError",
    "ScoredExponential",
    "SensitivityWarning",
    "epsilon_for",
    "loss_bound",
    "warmup",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'fastexp' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
