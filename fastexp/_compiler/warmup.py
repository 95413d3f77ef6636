"""Compilation of all kernels in advance, for images and before workers are forked."""

from __future__ import annotations

import pkgutil
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

from .rounding import check_rounding


def warmup(*, image: bool = False, into: str | Path | None = None) -> int:
    """Compile all kernels in this process, or load them from the cache.

    Call it when an image is built or before workers are forked: even the first release then takes
    microseconds. It takes about a minute if nothing is cached.

    Parameters
    ----------
    image : bool
        Whether to keep the kernels in ``share/fastexp`` below ``sys.prefix``, for all users of
        this installation, instead of in the cache of this user. Other users load them only if root
        owns that folder and all folders above it. Kernels are compiled for the CPU of this machine
        or, with the environment variables NUMBA_CPU_NAME=x86-64-v3 and an empty
        NUMBA_CPU_FEATURES, for every x86-64 CPU with AVX2 (results are the same to the last bit).
    into : path, optional
        The folder in which to keep the kernels instead. Everybody may read it; it is used by those
        whose ``FASTEXP_CACHE_DIR`` names it, if it belongs to root or to them.

    Returns
    -------
    int
        The number of kernels that are ready.

    Raises
    ------
    OSError
        With `image` or `into`: if the kernels cannot be kept there. The message says why.

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
