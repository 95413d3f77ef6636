"""fastexp samples from, releases with, and analyses the exponential mechanism.

Names are imported at first use: ``import fastexp`` imports neither numba nor numpy and
compiles nothing. ``__init__.pyi`` lists them, for type checkers and for this module.
"""

from __future__ import annotations

import os
from importlib import import_module

from ._compiler import stamps as _stamps  # noqa: F401  # taken before any other import
from ._version import __version__ as __version__


def _public() -> dict[str, str]:
    """The module of each public name; "." of a public module."""
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
