"""Compiling everything at once, for images and before forking workers."""

from __future__ import annotations

from importlib import import_module

MODULES = (
    "words",
    "logexp",
    "logspace",
    "envelope",
    "alias",
    "alias_rows",
    "rows",
    "gumbel",
    "permute_flip",
    "flip_law",
    "flips",
    "places",
    "grid_points",
    "select_rank",
    "runs",
    "rank_rows",
    "window",
    "histogram",
    "density",
    "ragged",
    "rank_errors",
    "rank_figures",
    "smooth",
    "noise",
    "blake2b",
    "chacha20",
    "group_codes",
    "grouping",
    "group_words",
    "segment_sort",
    "segment_ranks",
    "segment_window",
    "segment_counts",
    "segment_prices",
)


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
    for name in MODULES:
        import_module(f".kernels.{name}", __package__)
    from . import _jit

    return _jit.warmup()
