"""Compiling everything at once, for images and before forking workers."""

from __future__ import annotations

import pkgutil
from importlib import import_module


def warmup() -> int:
    """Compile every kernel, or load it from the cache, in this process.

    Run it when an image is built or before workers are forked: a release then takes
    microseconds from the first call on. Takes a minute or two where nothing is cached.

    Returns
    -------
    int
        How many kernels are ready.

    Examples
    --------
    >>> import fastexp
    >>> fastexp.warmup() > 0
    True
    """
    import_kernels()
    from . import _jit

    return _jit.warmup()


def import_kernels() -> None:
    """Import every module of kernels, which registers them."""
    from . import kernels

    for module in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        import_module(module.name)
