"""fastexp samples from, releases with, and analyses the exponential mechanism.

>>> import fastexp as fx
>>> ages = [23, 31, 35, 35, 38, 41, 44, 52, 58, 67] * 50
>>> median = fx.Median(epsilon=1.0, bounds=(0, 120), step=1)
>>> median.release(ages) in range(121)  # private: drawn with fresh randomness
True
>>> round(median.law(ages).expected_error(), 3)  # exact, for analysis: not private
1.0
>>> median.sample(ages, size=5, rng=1).shape  # a simulation: not private
(5,)

A private number        Median Quantile OrderStatistic Maximum Mode Price Laplace
Several numbers         Quantiles ApproximateQuantiles
A private choice        MostCommon Exponential PermuteAndFlip TopK JointTopK; for one bit
                        RandomizedResponse
For comparison only     ReportNoisyMax LaplaceMedian SmoothSensitivityMedian
                        JointExponentialQuantiles
Without bounds or lists digits PrivateGroups
Answers by group        Query Session product; for retries release_key
The cost in epsilon     Budget Guarantee, and the module privacy
Accuracy                mechanism.law mechanism.accuracy compare expected_errors
                        error_bound
Accuracy without data   epsilon_for loss_bound
Many data sets          Study
Checks                  audit check_sensitivity smooth_sensitivity
Compiling in advance    warmup
Errors                  FastexpError and its subclasses, in the module errors

On the command line: fastexp --help. All modules but privacy and errors are private.
"""

# Names are imported at first use: this file imports neither numba nor numpy and compiles nothing.
# __init__.pyi lists them, for type checkers and for this module.

from __future__ import annotations

import os
from importlib import import_module

from ._compiler import stamps as _stamps  # noqa: F401  # taken before any other import
from ._version import __version__ as __version__


def _public() -> dict[str, str]:
    """Return the module of each public name; "." for a public module."""
    folder = os.path.dirname(__file__)  # noqa: PTH120  # pathlib takes long to import
    path = os.path.join(folder, "__init__.pyi")  # noqa: PTH118  # as above
    stub: str = __spec__.loader.get_data(path).decode()  # from an archive, too
    imports = [line.split() for line in stub.splitlines() if line.startswith("from .")]
    return {name: module for _, module, _, name, *_ in imports if name[0] != "_"}


_MODULES = _public()
_NAMES = sorted(name for name, module in _MODULES.items() if module != ".")
__all__ = list(_NAMES)  # pyright: ignore[reportUnsupportedDunderAll]  # the stub lists them


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'fastexp' has no attribute {name!r}")
    module = _MODULES[name]
    if module != ".errors":
        from ._compiler.rounding import check_rounding

        check_rounding()  # modules compute constants when they are imported, and keep them
    if module == ".":
        return import_module(f".{name}", __name__)
    value = getattr(import_module(module, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*_MODULES, "__version__"]
