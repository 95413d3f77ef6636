"""Draws of a median from a sorted file of 1e8 records: ``python -m benchmarks.sorted_file``.

Stands by itself, since it writes a file of 800 MB (to --folder, and removes it). Each round
is a fresh process that has drawn once from a small array, so that nothing is left to compile
or load, and then draws from the file: *cold*, its first draw, with no page of the file in
memory (*disk*: the system was told to forget them) or in this process (*mapped*: the system
still has them); *warm*, the median of later draws. Opening the file is timed apart.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from .provenance import ROOT
from .report import quantity

KINDS = ("mapped", "disk") if hasattr(os, "posix_fadvise") else ("mapped",)
RECORDS, CHUNK, WARM = 10**8, 10**6, 2_000
FURTHEST = 60  # ranks from the middle: a draw beyond has probability e**-60 or so


def write(path: Path, records: int) -> None:
    """Sorted records in (0, 1): one in each of as many equal parts."""
    file = np.lib.format.open_memmap(path, "w+", np.float64, (records,))
    rng = np.random.default_rng(1)
    for start in range(0, records, CHUNK):
        part = file[start : start + CHUNK]
        part[:] = (np.arange(start, start + part.size) + rng.random(part.size)) / records
    file.flush()


def forget(path: Path) -> None:
    """Tell the system to drop the file's pages from memory, where it can be told."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def timed_draws(path: str) -> dict[str, Any]:
    """Seconds in this process: opening, the first draw, later draws."""
    import fastexp as fx

    median = fx.Median(1.0, (0, 1))
    median.sample(np.linspace(0.0, 1.0, 100_000), rng=1, assume_sorted=True)
    clock = time.perf_counter
    times = [clock()]
    file = np.load(path, mmap_mode="r")
    times.append(clock())
    first = median.sample(file, rng=1, assume_sorted=True)
    times.append(clock())
    rank = int(np.searchsorted(file, first))
    assert abs(rank - file.size // 2) <= FURTHEST, "a draw far from the median"
    later = []
    for _ in range(WARM):
        start = clock()
        found = median.sample(file, rng=1, assume_sorted=True)
        later.append(clock() - start)
    assert found == first, "another draw from the same seed"
    opening, cold = np.diff(times)
    return {"open": opening, "cold": cold, "warm": statistics.median(later)}


def measured(path: Path, rounds: int) -> dict[str, list[float]]:
    """The times of all rounds, by name."""
    found: dict[str, list[float]] = {}
    for kind in KINDS * rounds:
        if kind == "disk":
            forget(path)
        command = [sys.executable, "-m", "benchmarks.sorted_file", "--draw", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        times = json.loads(done.stdout)
        for name in ("open", "warm"):
            found.setdefault(name, []).append(times[name])
        found.setdefault(f"cold, {kind}", []).append(times["cold"])
    return found


def main(argv: list[str] | None = None) -> int:
    """Write the file, measure, print medians, remove the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sorted_file", description=__doc__)
    parser.add_argument("--records", type=float, default=RECORDS)
    parser.add_argument("--rounds", type=int, default=9, help="processes of each kind")
    parser.add_argument("--folder", type=Path, help="where the file is written; default: temporary")
    parser.add_argument("--draw", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.draw:
        print(json.dumps(timed_draws(arguments.draw)))
        return 0
    records = int(arguments.records)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        if shutil.disk_usage(folder).free < 16 * records:
            print(f"{folder} has too little room", file=sys.stderr)
            return 1
        path = Path(folder) / "sorted.npy"
        write(path, records)
        found = measured(path, arguments.rounds)
    print(f"Draws of a median from a file of {records:,} sorted records\n")
    print("| what | median | least | most | processes |\n|---|---:|---:|---:|---:|")
    for name, times in sorted(found.items()):
        cells = [quantity(t, "s") for t in (statistics.median(times), min(times), max(times))]
        print(f"| {name} | {' | '.join(cells)} | {len(times)} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
