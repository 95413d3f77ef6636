"""``fastexp warmup``: compile kernels beforehand, for this machine or for others."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..._parameters.text import printable
from ...mechanisms.table import COMMANDS
from ..options.values import written
from ..render import waiting
from ..terminal import printing
from ..terminal.errors import Failure

SIZES = 9, 3000, 100_000  # of made-up data: kernels depend on the size


def warmup(options: Namespace) -> None:
    """Compile kernels, one after the other; print how many and how long it took."""
    if options.cpu == "x86-64-v3":  # the compiler reads the variables when it is imported
        if "numba" in sys.modules:
            text = f"--cpu {options.cpu} needs a process that has not imported the compiler yet"
            raise Failure(text)
        os.environ |= {"NUMBA_CPU_NAME": options.cpu, "NUMBA_CPU_FEATURES": ""}
    import fastexp

    from ..._compiler import cache, jit
    from ..._compiler.warmup import import_kernels

    if not options.only:
        import_kernels()
    place = cache.public(Path(options.into)) if options.into else None
    place = cache.image() if options.image else place
    if not options.json:
        what = ", ".join(options.only or ["all kernels"])
        printing.note(f"{what}: from the cache, or compiled, which takes a minute or two ...")
        waiting.announce_compilation(place, None if options.only else len(jit.KERNELS))
    start = time.perf_counter()
    try:
        with jit.kept_in(place) if place else nullcontext():
            number = 0 if options.only else fastexp.warmup()
            for command in options.only or ():  # its work on made-up data compiles its kernels
                FIRST_CALLS[command](command)
                number = sum(kernel.is_built for kernel in jit.KERNELS.values())
    except OSError as error:
        raise Failure(str(error)) from None
    seconds = time.perf_counter() - start
    folders = cached_kernels()
    if options.json:
        timed = {"kernels": number, "seconds": round(seconds, 3)}
        printing.as_json({**timed, "cached": folders.total(), "cache": next(iter(folders), None)})
        return
    print(f"{number} kernels ready in {seconds:.2f} s")
    for folder, kernels in folders.items():
        printing.note(f"{kernels} of {number} cached in {printable(folder)}")
    if folders.total() < number:
        rest = number - folders.total()
        printing.note(
            f"{rest} of {number} not cached (see fastexp info): compiled in every process"
        )


def cached_kernels() -> Counter[str]:
    """Return the number of this process's kernels by folder of the cache, the most first."""
    from ..._compiler import jit

    folders = Counter(kernel.folder for kernel in jit.KERNELS.values())
    return Counter({folder: n for folder, n in folders.most_common() if folder is not None})


def _select(_command: str) -> None:
    import numpy as np

    import fastexp

    mechanism = fastexp.Exponential(epsilon=1.0, sensitivity=1.0)
    for size in SIZES:
        utilities = np.arange(float(size))
        mechanism.release(utilities)
        mechanism.sample(utilities, rng=0)
        mechanism.sample(utilities, size=10_000, rng=0)
        _ = mechanism.law(utilities).probabilities


def _number(command: str) -> None:
    import numpy as np

    grid: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 1 << 20), "step": 1}
    row = COMMANDS[command]
    name, _, value = row.needs[1].strip(" -").partition(" ")
    needed = {name: written(value)} if name else {}
    mechanism = row.kind(**needed, **grid)
    for size in SIZES:
        integers: Any = np.arange(size)
        for records in (integers, integers + 0.5):
            mechanism.release(records)
            mechanism.release(records, by=integers % 3, groups=range(3))
        mechanism.sample(records, size=10_000, rng=0)
        mechanism.law(records)


FIRST_CALLS: dict[str, Callable[[str], None]] = {
    "select": _select,
    **dict.fromkeys(COMMANDS, _number),
}
