"""fastexp draws from, releases and analyses the exponential mechanism of differential privacy.

Names are imported at first use: ``import fastexp`` imports neither numba nor numpy and
compiles nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._compiler import stamps as _stamps  # noqa: F401 - first: they are of before all other imports
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from ._compiler.warmup import warmup
    from ._keys.product import product
    from ._randomness.release_key import ReleaseKey, release_key
    from .budget.budget import Budget
    from .errors import (
        BudgetError,
        BudgetExceeded,
        FastexpError,
        InvalidRecords,
        InvalidUtilities,
        LabelError,
        NotReleasable,
        OutputError,
        ParameterError,
        ParameterTypeError,
        PrecisionError,
        PrivacyWarning,
        RandomnessError,
        RoundingModeError,
        ScoreError,
        SensitivityWarning,
        SessionError,
        StudyError,
    )
    from .laws.continuous import ContinuousLaw
    from .laws.error_bound import error_bound
    from .laws.finite import FiniteLaw, LossTail
    from .laws.grid import GridLaw
    from .laws.loss_bounds import epsilon_for, loss_bound
    from .laws.noise import NoiseLaw
    from .laws.permute_flip import PermuteAndFlipLaw
    from .laws.top_k import TopKLaw
    from .mechanisms.exponential import Exponential, ScoredExponential
    from .mechanisms.laplace import Laplace
    from .mechanisms.laplace_median import LaplaceMedian
    from .mechanisms.maximum import Maximum
    from .mechanisms.median import Median
    from .mechanisms.mode import Mode
    from .mechanisms.most_common import MostCommon
    from .mechanisms.order_statistic import OrderStatistic
    from .mechanisms.permute_and_flip import PermuteAndFlip
    from .mechanisms.price import Price
    from .mechanisms.quantile import Quantile
    from .mechanisms.randomized_response import RandomizedResponse
    from .mechanisms.report_noisy_max import ReportNoisyMax
    from .mechanisms.smooth_sensitivity_median import SmoothSensitivityMedian
    from .mechanisms.top_k import TopK
    from .privacy import Guarantee
    from .query.query import Query
    from .query.session import Session
    from .sensitivity import SensitivityLowerBound, check_sensitivity
    from .smooth import smooth_sensitivity
    from .studies.report.results import StudyResults
    from .studies.study import Study

_HOME = {
    "Budget": "budget.budget",
    "BudgetError": "errors",
    "BudgetExceeded": "errors",
    "ContinuousLaw": "laws.continuous",
    "Exponential": "mechanisms.exponential",
    "FastexpError": "errors",
    "FiniteLaw": "laws.finite",
    "GridLaw": "laws.grid",
    "Guarantee": "privacy",
    "InvalidRecords": "errors",
    "InvalidUtilities": "errors",
    "LabelError": "errors",
    "Laplace": "mechanisms.laplace",
    "LaplaceMedian": "mechanisms.laplace_median",
    "LossTail": "laws.finite",
    "Maximum": "mechanisms.maximum",
    "Median": "mechanisms.median",
    "Mode": "mechanisms.mode",
    "MostCommon": "mechanisms.most_common",
    "NoiseLaw": "laws.noise",
    "NotReleasable": "errors",
    "OutputError": "errors",
    "OrderStatistic": "mechanisms.order_statistic",
    "ParameterError": "errors",
    "ParameterTypeError": "errors",
    "PermuteAndFlip": "mechanisms.permute_and_flip",
    "PermuteAndFlipLaw": "laws.permute_flip",
    "PrecisionError": "errors",
    "Price": "mechanisms.price",
    "PrivacyWarning": "errors",
    "Quantile": "mechanisms.quantile",
    "Query": "query.query",
    "RandomizedResponse": "mechanisms.randomized_response",
    "RandomnessError": "errors",
    "ReleaseKey": "_randomness.release_key",
    "ReportNoisyMax": "mechanisms.report_noisy_max",
    "RoundingModeError": "errors",
    "ScoreError": "errors",
    "ScoredExponential": "mechanisms.exponential",
    "SensitivityLowerBound": "sensitivity",
    "SensitivityWarning": "errors",
    "Session": "query.session",
    "SessionError": "errors",
    "SmoothSensitivityMedian": "mechanisms.smooth_sensitivity_median",
    "Study": "studies.study",
    "StudyError": "errors",
    "StudyResults": "studies.report.results",
    "TopK": "mechanisms.top_k",
    "TopKLaw": "laws.top_k",
    "check_sensitivity": "sensitivity",
    "epsilon_for": "laws.loss_bounds",
    "error_bound": "laws.error_bound",
    "loss_bound": "laws.loss_bounds",
    "product": "_keys.product",
    "release_key": "_randomness.release_key",
    "smooth_sensitivity": "smooth",
    "warmup": "_compiler.warmup",
}

__all__ = [
    "Budget",
    "BudgetError",
    "BudgetExceeded",
    "ContinuousLaw",
    "Exponential",
    "FastexpError",
    "FiniteLaw",
    "GridLaw",
    "Guarantee",
    "InvalidRecords",
    "InvalidUtilities",
    "LabelError",
    "Laplace",
    "LaplaceMedian",
    "LossTail",
    "Maximum",
    "Median",
    "Mode",
    "MostCommon",
    "NoiseLaw",
    "NotReleasable",
    "OrderStatistic",
    "OutputError",
    "ParameterError",
    "ParameterTypeError",
    "PermuteAndFlip",
    "PermuteAndFlipLaw",
    "PrecisionError",
    "Price",
    "PrivacyWarning",
    "Quantile",
    "Query",
    "RandomizedResponse",
    "RandomnessError",
    "ReleaseKey",
    "ReportNoisyMax",
    "RoundingModeError",
    "ScoreError",
    "ScoredExponential",
    "SensitivityLowerBound",
    "SensitivityWarning",
    "Session",
    "SessionError",
    "SmoothSensitivityMedian",
    "Study",
    "StudyError",
    "StudyResults",
    "TopK",
    "TopKLaw",
    "check_sensitivity",
    "epsilon_for",
    "error_bound",
    "loss_bound",
    "product",
    "release_key",
    "smooth_sensitivity",
    "warmup",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if _HOME.get(name) != "errors":
        from ._compiler.rounding import check_rounding

        check_rounding()  # modules compute constants when they are imported, and keep them
    if name == "privacy":  # a module of public functions
        return import_module(".privacy", __name__)
    if name not in _HOME:
        raise AttributeError(f"module 'fastexp' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__", "privacy"]
