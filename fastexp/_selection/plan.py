"""The choice of kernels: a versioned table. A change that changes bytes is a changelog entry.

A plan looks at k, size and method only, never at threads, data or CPU, so that a seeded
result does not depend on them. Each threshold names the benchmark case that set it.
"""

from __future__ import annotations

from ..kernels.bits.heights import BLOCK

VERSION = 2

PRECISION = 50  # fractional bits of the one-pass envelope, for every k
SCALE = 2.0**PRECISION
CELL_BITS = 32  # bits of a table's cell for k < 2**20; see `table_shape`
EXACT_BITS = 52  # bits of a table's cells: a double holds a rounded weight up to this

# Numbers: ranks at which a whole grid weighs less than 2**-24 of one point are one cell. Part of
# the stream format.
WINDOW_BITS = 24

# A draw from scanned blocks computes one block again, about 1.5 us; building a table costs
# about 8 ns a candidate (case `many`, k = 1e3 and 1e6): equal at 1 draw in 200 candidates.
CANDIDATES_PER_DRAW = 200
# Up to this many rows of at most a block take a call each, 0.7 us; a matrix takes 12 us (`rows`).
FEW_ROWS = 8
# Starting a second thread takes about 60 us, as long as 60,000 candidates (case `release`).
THREADED_CANDIDATES = 1 << 17
THREADED_DRAWS = 1 << 16


def peeled_block(k: int) -> int:
    """The length of a block of k candidates for peeling: at least twice the number of blocks.

    From THREADED_CANDIDATES on it is BLOCK, as threads scan such blocks.
    """
    return BLOCK if k >= THREADED_CANDIDATES else max(64, 1 << (k.bit_length() + 2) // 2)


def by_table(k: int, size: int | None) -> bool:
    """Whether `size` draws from one vector of k utilities are worth an alias table."""
    return size is not None and size > 4 and size * CANDIDATES_PER_DRAW > k


def table_shape(k: int) -> tuple[int, int]:
    """(column bits, cell bits) of the alias table for k candidates and the slow outcome."""
    column_bits = k.bit_length()
    return column_bits, min(CELL_BITS, EXACT_BITS - column_bits)
