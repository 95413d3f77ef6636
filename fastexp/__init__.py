"""fastexp draws from the exponential mechanism of differential privacy: exactly, and fast.

>>> import fastexp as fx
>>> ages = [23, 31, 35, 35, 38, 41, 44, 52, 58, 67] * 50
>>> fx.Median(epsilon=1.0, bounds=(0, 120), step=1).release(ages) in range(121)  # private
True
>>> fx.Exponential(epsilon=1.0, sensitivity=1).sample([3.0, 250.0], rng=1)  # a simulation
1

A private choice     Exponential MostCommon PermuteAndFlip TopK
A private number     Median Quantile Quantiles Price Laplace digits
A private bit        RandomizedResponse
Accuracy             Law expected_errors error_bound loss_bound
Checks               audit check_sensitivity
Weights              log_normalizer probabilities median_utilities revenue
Answers by group     Query PrivateGroups CSV Session
Comparators          SmoothSensitivityMedian smooth_sensitivity
Promises, limits     Guarantee Budget, and the module privacy
Errors               FastexpError and its subclasses, in the module errors
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0.dev0"

# Names are imported at first use; __init__.pyi lists them for type checkers.
_MODULES = {
    "Budget": "privacy.budget",
    "CSV": "query.files",
    "Exponential": "mechanisms.candidates",
    "Guarantee": "privacy.guarantee",
    "Laplace": "mechanisms.laplace",
    "Law": "mechanisms.law",
    "Median": "mechanisms.numbers",
    "MostCommon": "mechanisms.candidates",
    "PermuteAndFlip": "mechanisms.candidates",
    "PrivacyWarning": "errors",
    "PrivateGroups": "query.private_groups",
    "Query": "query.query",
    "TopK": "mechanisms.top_k",
    "Price": "mechanisms.price",
    "Quantile": "mechanisms.numbers",
    "Quantiles": "mechanisms.quantiles",
    "RandomizedResponse": "mechanisms.response",
    "Session": "query.session",
    "Study": "studies.study",
    "SmoothSensitivityMedian": "mechanisms.smooth",
    "audit": "checks.audit",
    "check_sensitivity": "checks.sensitivity",
    "digits": "data.grid",
    "error_bound": "mechanisms.bounds",
    "expected_errors": "mechanisms.accuracy",
    "loss_bound": "mechanisms.bounds",
    "log_normalizer": "laws.weights",
    "median_utilities": "laws.utilities",
    "probabilities": "laws.weights",
    "revenue": "laws.utilities",
    "smooth_sensitivity": "mechanisms.smooth",
}
_ROOMS = "errors", "privacy", "studies"
__all__ = [*_MODULES, *_ROOMS]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name not in _MODULES:
        raise AttributeError(f"module 'fastexp' has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
