"""Compiling everything at once, for images and before forking workers."""

from __future__ import annotations

import pkgutil
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

from .rounding import check_rounding


def warmup(*, image: bool = False, into: str | Path | None = None) -> int:
    """Compile every kernel, or load it from the cache, in this process.

    Run it when an image is built or before workers are forked: a release then takes
    microseconds from the first call on. Takes about a minute where nothing is cached.

    Parameters
    ----------
    image : bool
        Keep the kernels in ``share/fastexp`` below ``sys.prefix``, for everybody who uses this
        installation, instead of in the user's own cache. Others use that folder only if root
        owns it and whatever is above it. They are compiled for the CPU of this machine; with
        the environment's NUMBA_CPU_NAME=x86-64-v3 and an empty NUMBA_CPU_FEATURES, for every
        x86-64 CPU with AVX2 (their results are the same to the last bit).
    into : path, optional
        Keep them in this folder instead, which everybody may read: those use it whose
        ``FASTEXP_CACHE_DIR`` names it, if root or they themselves own it.

    Returns
    -------
    int
        How many kernels are ready.

    Raises
    ------
    OSError
        With `image` or `into`: the kernels cannot be kept there; the message says why.

    Examples
    --------
    >>> import fastexp
    >>> fastexp.warmup() > 0
    True
    """
    check_rounding()
    import_kernels()
    from . import cache, jit

    place = cache.image() if image else None if into is None else cache.public(Path(into))
    with nullcontext() if place is None else jit.kept_in(place):
        return jit.warmup()


def import_kernels() -> None:
    """Import every module of kernels, which registers them."""
    kernels = import_module(f"{__name__.partition('.')[0]}.kernels")
    for module in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        import_module(module.name)
