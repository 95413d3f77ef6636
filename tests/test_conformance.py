"""Does every mechanism read the same data alike, however they come, and draw the same bytes?

`digests.json` pins seeded draws; `python -m tests.test_conformance` writes it anew. The interpreter
and the code for old processors draw the same.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from fastexp import kernels
from fastexp.kernels import jit

from . import child, oracle
from .oracle import ADD_REMOVE, REPLACE
from .table import MECHANISMS, NAMES, WITHOUT_ROWS, Row

DTYPES = [f"{kind}{width}" for kind in "iu" for width in (1, 2, 4, 8)] + ["f2", "f4", "f8"]
DIGESTS = Path(__file__).with_name("digests.json")
SIZES = None, 3, 300
ROWS = [row for row in MECHANISMS if row.kind not in WITHOUT_ROWS]


def layouts(array: Any) -> Iterator[tuple[str, Any]]:
    """Yield arrays of equal numbers that lie otherwise in memory."""
    yield "as it is", array
    spaced = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    spaced[..., ::2] = array
    yield "every other", spaced[..., ::2]
    yield "backwards", np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    yield "byte-swapped", array.astype(array.dtype.newbyteorder())
    yield "Fortran", np.asfortranarray(array)
    unaligned = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    unaligned[...] = array
    yield "unaligned", unaligned
    still = array.copy()
    still.flags.writeable = False
    yield "read-only", still


def doors(values: Any, dtypes: Sequence[str] = DTYPES) -> Iterator[tuple[str, Any]]:
    """Yield the same numbers, or rows of them, in every form."""
    array = np.asarray(values)
    yield "list", array.tolist()
    yield "tuple", tuple(map(tuple, array.tolist()) if array.ndim > 1 else array.tolist())
    yield "list of NumPy's", list(array)
    for dtype in dtypes:
        with np.errstate(all="ignore"):
            cast = array.astype(dtype)
        if (cast == array).all():
            for name, form in layouts(cast) if dtype in ("i8", "u8", "f8", "i2") else [("", cast)]:
                yield f"{dtype} {name}", form


def scalars(value: Any, kind: str) -> Iterator[tuple[str, Any]]:
    """Yield the same number, or bit, in every form."""
    yield "array", np.asarray(value)
    if kind == "bit":
        yield "truth value", bool(value)
    else:
        yield from (("fraction", Fraction(value)), ("decimal", Decimal(value)))
    for dtype in DTYPES if kind == "number" else DTYPES[:8]:
        with np.errstate(all="ignore"):
            cast = np.asarray(value).astype(dtype)[()]
        if cast == value:
            yield dtype, cast


def orders(row: Row, data: Any) -> Iterator[tuple[str, Any]]:
    """Yield the same data in every form and, if they are records, in several orders."""
    told = row.told(data)
    if row.kind == "labels":
        yield from (("list", told), ("tuple", tuple(told)), ("array", np.array(told)))
        return
    if row.kind == "score":
        yield from (("text", data), ("list", list(data)), ("tuple", tuple(data)))
        return
    if row.kind in ("number", "bit"):
        yield from scalars(told, row.kind)
        return
    yield from doors(told)
    if row.kind == "records":
        yield from (("sorted", sorted(told)), ("descending", np.array(sorted(told)[::-1], float)))


def same(draws: Any, others: Any) -> bool:
    """Whether two results are of the same type, shape and bytes."""
    a, b = np.asarray(draws), np.asarray(others)
    are_alike = type(draws) is type(others) and (a.dtype, a.shape) == (b.dtype, b.shape)
    return are_alike and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("row", MECHANISMS, ids=NAMES)
def test_doors(row: Row) -> None:
    mechanism = row.make()
    for data in row.data:
        told = row.told(data)
        first = [mechanism.sample(told, size, rng=7) for size in SIZES]
        for name, form in orders(row, data):
            for size, draws in zip(SIZES, first, strict=True):
                assert same(mechanism.sample(form, size, rng=7), draws), (data, name, size)


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_doors_of_rows(row: Row) -> None:
    """So do rows; and a row has the draws that it has alone in its stream."""
    mechanism = row.make()
    for data in row.data[:4]:
        told = row.told(data)
        rows = row.rows(told, 3)
        rows[1] = rows[1][::-1] if rows.ndim > 1 else row.data[0]
        for size in SIZES:
            draws = mechanism.sample(rows, size, rng=7)
            for name, form in doors(rows, DTYPES[:8] if row.kind == "bit" else DTYPES):
                assert same(mechanism.sample(form, size, rng=7), draws), (data, name, size)
            for i, one in enumerate(rows):
                alone = mechanism.sample(one, size, rng=7, streams=[i])
                assert np.array_equal(alone, draws[i])
            assert same(mechanism.sample(rows, size, rng=7, streams=range(3)), draws)
        assert draws.dtype == np.asarray(row.drawn or 0).dtype


def long_records() -> Iterator[tuple[str, Any]]:
    rng = np.random.default_rng(8)
    for n in (2047, 2048, 2049, 30_000):
        yield f"{n} spread", rng.random(n) * 1000
        yield f"{n} in ties", rng.integers(0, 9, n) * 100
        yield f"{n} at the ends", rng.integers(0, 2, n) * 1000
        yield f"{n} outside", rng.choice([-1e300, -5, 499.5, 500, 500.5, 2000, 1e300], n)
        yield f"{n} equal", np.full(n, 250.5)
        yield f"{n} far apart", np.where(rng.random(n) < 0.5, 2.0**-30 * np.arange(n), 999.9)
        misleading = rng.integers(400, 600, n)  # a regular sample sees the first sixteenth
        misleading[:: n // 256 or 1] = 1000
        yield f"{n} misleading", misleading


@pytest.mark.parametrize(("name", "records"), [pytest.param(*x, id=x[0]) for x in long_records()])
def test_long_records_in_any_order(name: str, records: Any) -> None:
    """What is read of them around the median is the same in every order and type."""
    orders = [
        np.sort(records),
        np.sort(records)[::-1],
        np.random.default_rng(9).permutation(records),
    ]
    if (records == np.round(records)).all() and (abs(records) < 2**53).all():
        orders += [orders[2].astype(np.int32), orders[2].astype(np.uint16)]
    for epsilon in (1e-3, 0.1, 9.0):
        for relation in (ADD_REMOVE, REPLACE):
            for step in (1, 0.001):
                mechanism = fx.Median(epsilon, (0, 1000), step=step, neighbors=relation)
                for size in (None, 30):
                    draws = mechanism.sample(records, size, rng=7)
                    for order in orders:
                        assert same(mechanism.sample(order, size, rng=7), draws)
    rows = np.array([*orders[:3], records])
    draws = mechanism.sample(rows, 2, rng=7, streams=[5, 5, 5, 5])
    assert (draws == draws[0]).all()


@pytest.mark.parametrize("form", [np.int64(7), [7], (7,), np.random.SeedSequence(7)], ids=repr)
def test_seeds(form: Any) -> None:
    """Equal seeds of all forms give equal draws."""
    mechanism = fx.Exponential(1.0, 1.0)
    assert same(mechanism.sample(range(9), 50, rng=form), mechanism.sample(range(9), 50, rng=7))


def test_generators() -> None:
    """A generator and its bit generator are the same source, which advances; None is fresh."""
    mechanism = fx.Exponential(1.0, 1.0)
    generator, bits = np.random.default_rng(7), np.random.default_rng(7).bit_generator
    first = mechanism.sample(range(9), 50, rng=generator)
    assert same(mechanism.sample(range(9), 50, rng=bits), first)
    for rng in (generator, None, 8, [7, 0]):
        assert not same(mechanism.sample(range(9), 50, rng=rng), first)


@pytest.mark.parametrize("kind", ["i8", "u8", "f8", "f4"])
def test_releases_of_every_kind(kind: str) -> None:
    """At a large epsilon a release is the best answer: each kind is read right."""
    choose, median = fx.Exponential(1000.0, 1.0), fx.Median(1000.0, (0, 9), step=1)
    for array in (np.array([3, 8, 5], kind), np.array([3, 5, 8], kind), np.array([8, 3, 5], kind)):
        for name, form in doors(array):
            assert choose.release(form) == int(array.argmax()), name
            assert median.release(form) == 5, name
    assert fx.Exponential(1000.0, 1.0, candidates=["a", "b", "c"]).release([3, 8, 5]) == "b"
    if kind != "f4":
        top = {"i8": 2**63 - 1, "u8": 2**64 - 1, "f8": 2**53}[kind]
        assert choose.release(np.array([top - 1, top, 0], kind)) == 1


@pytest.mark.parametrize(
    ("low", "step"),
    [(0, 1), (-7, 2), (0, 0.1), (-3, 0.2), (0, 0.7), (1e6, 1e-3), (-1e9, 1e9), (-0.5, 2.0**-10)],
)
def test_records_count_at_the_nearest_point(low: float, step: float) -> None:
    """So do points, the doubles beside them, middles and the doubles beside these, and outliers."""
    size = 101
    grid = oracle.points(low, step, size)
    middles = [float((Fraction(a) + Fraction(b)) / 2) for a, b in itertools.pairwise(grid)]
    exact = np.array([*grid, *middles, *np.random.default_rng(4).uniform(grid[0], grid[-1], 500)])
    records = np.concatenate([exact, np.nextafter(exact, -np.inf), np.nextafter(exact, np.inf)])
    records = np.append(records, [-1e300, 1e300, 5e-324, -5e-324])
    mechanism = fx.Median(1000.0, (grid[0], grid[-1]), step=step)
    expected = [grid[oracle.nearest(x, low, step, size)] for x in records.tolist()]
    for n in (1, 3, 9):
        rows = np.repeat(records[:, None], n, axis=1)
        assert mechanism.sample(rows, rng=0).tolist() == expected
    assert [mechanism.release([x]) for x in records[:50].tolist()] == expected[:50]
    for x, point in list(zip(records.tolist(), expected, strict=True))[::40]:
        assert mechanism.release(np.full(5000, x)) == point


@pytest.mark.parametrize("bounds", [(0, 1000), (-0.3, 0.7), (1e-3, 5), (0, 1e20), (-1e-200, 0)])
def test_grid_without_a_step(bounds: tuple[float, float]) -> None:
    """Its points are the multiples of a power of two, some 2**40 of them to the farther bound."""
    low, high = bounds
    step = 2.0 ** (math.frexp(max(-low, high))[1] - 40)
    for record in np.random.default_rng(5).uniform(low, high, 9).tolist():
        answer = fx.Median(1000.0, bounds).release([record])
        assert answer % step == 0
        assert abs(answer - record) <= step / 2
    ends = [fx.Median(1000.0, bounds).release([x]) for x in (low, high)]
    assert low <= ends[0] < low + step
    assert high - step < ends[1] <= high


# Digests of seeded draws: the same on every processor.


def small_cases() -> Iterator[tuple[str, Any]]:
    """Yield draws that the interpreter makes in a second or so."""
    for row in MECHANISMS:
        mechanism, told = row.make(), [row.told(data) for data in row.data]
        yield row.name, [mechanism.sample(x, size, rng=3) for x in told for size in (None, 3, 9)]
    rng = np.random.default_rng(5)
    rows, long = rng.random((66, 5)) * 20, rng.random(1100)
    plain, weighed = fx.Exponential(0.7, 1), fx.Exponential(0.7, 1, base=[1, 0, 3, 1, 2])
    yield "short rows", [plain.sample(rows, rng=3), weighed.sample(rows[:9], rng=3)]
    yield "blocks", [plain.sample(long, rng=3)]
    keys, top = {"rng": 3, "method": "gumbel"}, fx.TopK(3, 2.0)
    draws = [mechanism.sample(rows[:9], 2, **keys) for mechanism in (plain, weighed, top)]
    yield "gumbel", [*draws, top.sample(long, **keys)]
    yield "long flips and rounds", [x.sample(long, rng=3) for x in (fx.PermuteAndFlip(9, 1), top)]
    for n in (65, 300, 2100):
        records = 30 + 40 * rng.random(n)
        for relation in (ADD_REMOVE, REPLACE):
            median = fx.Median(0.3, (0, 120), step=0.5, neighbors=relation)
            yield f"median {n} {relation}", [median.sample(records, s, rng=3) for s in (None, 20)]
        several = fx.Quantiles(count=5, epsilon=2.0, bounds=(0, 120), step=0.5)
        yield f"quantiles {n}", [several.sample(records, s, rng=3) for s in (None, 2)]


def large_cases() -> Iterator[tuple[str, Any]]:
    rng = np.random.default_rng(6)
    for k in (33, 1024, 1025, 3000):
        for name, u in (("counts", rng.integers(0, 12, k)), ("floats", rng.random(k) * 50)):
            for epsilon in (1e-7, 1.0, 60.0):
                choose, rows = fx.Exponential(epsilon, 3.0), np.resize(u, (9, k))
                draws = [choose.sample(u, size, rng=3) for size in (None, 3, 3000)]
                draws += [choose.sample(rows, size, rng=3) for size in (None, 40)]
                yield f"{k} {name} {epsilon}", draws
                flip = fx.PermuteAndFlip(epsilon, 3.0)
                draws = [flip.sample(u, 300, rng=3), flip.sample(rows, 4, rng=3)]
                yield f"flips of {k} {name} {epsilon}", draws
    for n in (1000, 2047, 2048, 4097, 30_000):
        x = 200 + 600 * rng.random(n)
        for name, records in (("floats", x), ("integers", x.astype(int)), ("ties", x // 50 * 50)):
            for relation in (ADD_REMOVE, REPLACE):
                draws = []
                for epsilon, step in itertools.product((1e-3, 0.3, 50.0), (None, 1)):
                    median = fx.Median(epsilon, (0, 1000), step=step, neighbors=relation)
                    draws += [median.sample(records, size, rng=3) for size in (None, 400)]
                yield f"{n} {name} {relation}", draws


def digest(draws: Any) -> str:
    """Return a hash of the types, shapes and bytes of several results."""
    arrays = list(map(np.asarray, draws))
    text = [f"{array.dtype} {array.shape} ".encode() + array.tobytes() for array in arrays]
    return hashlib.blake2b(b"".join(text), digest_size=8).hexdigest()


def drawn(cases: Iterator[tuple[str, Any]]) -> dict[str, str]:
    return {name: digest(draws) for name, draws in cases}


SMALL = "import json; from tests.test_conformance import *; from fastexp.kernels import jit\n"
SMALL += "print(json.dumps([jit.MODE, getattr(jit.MODULE, 'LEVEL', None), drawn(small_cases())]))"


def test_digests() -> None:
    pinned = json.loads(DIGESTS.read_text())
    assert drawn(small_cases()) | drawn(large_cases()) == pinned


@pytest.mark.parametrize("variable", ["FASTEXP_KERNELS", "FASTEXP_BASELINE"])
def test_digests_elsewhere(variable: str) -> None:
    """The interpreter, and compiled code for old processors, draw the same."""
    mode, level, digests = json.loads(child.run(SMALL, **{variable: "python"}))
    if variable == "FASTEXP_KERNELS":
        assert mode == "python"
    else:
        assert (mode, level) == (jit.MODE, 0 if jit.MODULE else None)
    assert digests.items() <= json.loads(DIGESTS.read_text()).items()
    assert len(digests) > len(MECHANISMS)


def test_kernels_are_compiled() -> None:
    """All of them run as the variable says, else compiled from the sources that are there."""
    assert os.environ.get("FASTEXP_KERNELS", "compiled") == jit.MODE
    names = []
    for path in Path(kernels.__file__).parent.glob("*.py"):
        names += re.findall(r"^@kernel\([^@]*?\)\ndef (\w+)", path.read_text(), re.M)
    assert len(names) == len(set(names)) >= 9
    if jit.MODULE:
        assert jit.digest() == jit.MODULE.DIGEST
        assert all(callable(getattr(jit.MODULE, name)) for name in names)
        assert not jit.KERNELS


if __name__ == "__main__":
    DIGESTS.write_text(json.dumps(drawn(small_cases()) | drawn(large_cases()), indent=0) + "\n")
