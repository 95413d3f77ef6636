"""Draws of a median from a sorted file: the first one, and later ones.

Before the first draw no page of the file is in memory (*disk*: the system was told to forget
them) or none in this process (*mapped*: the system still has them).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

import fastexp as fx

from ..harness.outcome import Absent, expect
from ..harness.workload import DRAW_SEED, EPSILON, Call, FloatArray, Work

CHUNK = 10**6
FURTHEST = 60  # ranks from the middle: a draw beyond has probability e**-60 or so


@dataclass(frozen=True, eq=False)
class FileWork(Work):
    """A file of k sorted records in (0, 1): one in each of as many equal parts."""

    @cached_property
    def path(self) -> Path:
        """The file, in a folder that is removed with the work."""
        folder, rng = tempfile.mkdtemp(), np.random.default_rng(1)
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        if shutil.disk_usage(folder).free < 16 * self.k:
            raise Absent(f"{folder} has too little room")
        path = Path(folder) / "sorted.npy"
        file = np.lib.format.open_memmap(path, "w+", np.float64, (self.k,))
        for start in range(0, self.k, CHUNK):
            part = file[start : start + CHUNK]
            part[:] = (np.arange(start, start + part.size) + rng.random(part.size)) / self.k
        file.flush()
        return path


def mapped(work: FileWork) -> Call:
    """Draws from the file as the system has it, after one from a small array."""
    draws(np.linspace(0.0, 1.0, 100_000))()
    return draws(np.load(work.path, mmap_mode="r"))


def from_disk(work: FileWork) -> Call:
    """The same when the system has dropped the file's pages from memory."""
    if not hasattr(os, "posix_fadvise"):
        raise Absent("the system cannot be told to forget a file")
    with work.path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return mapped(work)


def draws(records: FloatArray) -> Call:
    """Draws of the same number."""
    return partial(fx.Median(EPSILON, (0, 1)).sample, records, rng=DRAW_SEED, assume_sorted=True)


def near_the_middle(work: FileWork, answers: list[Any]) -> None:
    """The same number every time, a few ranks from the median."""
    expect(len(set(answers)) == 1, "another draw from the same seed")
    rank = int(np.searchsorted(np.load(work.path, mmap_mode="r"), answers[0]))
    expect(abs(rank - work.k // 2) <= FURTHEST, "a draw far from the median")
