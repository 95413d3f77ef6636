"""Do rows on disk come back whole, by person and by group, to the bit and in little memory?"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.doors.query import Persons, Spill, SpillPart, sorted_runs
from tests.messages import raises, says
from tests.support import processes

ALL = 10**9
ENDS = np.array([-(2**63), -1, 0, 1, 2**63 - 1])


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many runs, ranges and chunks of few rows."""
    monkeypatch.setattr(sorted_runs, "FEWEST", 40)
    monkeypatch.setattr(sorted_runs, "STEP", 4)
    monkeypatch.setattr(sorted_runs, "CHUNK_ROWS", 7)


@pytest.fixture
def spill(tmp_path: Path) -> Iterator[Spill]:
    with closing(Spill(str(tmp_path), 1, 2, persons=True)) as rows:
        yield rows


def words_of(ids: Any) -> np.ndarray[Any, Any]:
    """Words of persons, as far apart as digests are."""
    numbers = np.asarray(ids).astype(np.uint64)
    odd = np.uint64(11400714819323198485)
    return np.column_stack([numbers * odd + np.uint64(i) for i in (5, 3, 8, 1)])


def random_part(
    rng: np.random.Generator, n: int, groups: int, persons: int = 0, answers: int = 3
) -> SpillPart:
    """Some rows; some of them count for nothing, are of no group or of nobody."""
    codes = rng.integers(-1, groups, n)
    counts = rng.integers(0, 1 << answers, n)
    values = [rng.random(n), rng.integers(-(2**63), 2**63 - 1, n)]
    if not persons:
        return SpillPart(codes, counts, values)
    labels = rng.permutation(persons)
    return SpillPart(codes, counts, values, Persons(rng.integers(-1, persons, n), words_of(labels)))


def rows_of(part: SpillPart) -> list[tuple[int, ...]]:
    """Rows that count, as tuples of integers: the person's words, code, counts, values."""
    columns = [part.codes, part.counts, *(column.view(np.int64) for column in part.values)]
    some = (part.codes >= 0) & (part.counts != 0)
    if part.persons is not None:
        some &= part.persons.ids >= 0
        words = part.persons.words[part.persons.ids]
        columns = [*words.T, *columns]
    return list(zip(*(column[some].tolist() for column in columns), strict=True))


def in_groups(spill: Spill, most: int) -> list[tuple[int, ...]]:
    """All rows by group, after a look at what parts promise; of long groups answer by answer."""
    rows, last = [], -1
    for part in spill.by_group(most):
        if isinstance(part, int):
            assert part > last
            last = part
            whole = long_group(spill, part)
            assert len(whole) > most
            rows += whole
            continue
        assert 0 < part.codes.size <= most
        assert part.codes[0] > last  # whole groups
        assert (np.diff(part.codes) >= 0).all()
        last = int(part.codes[-1])
        rows += rows_of(part)
    return rows


def long_group(spill: Spill, code: int) -> list[tuple[int, ...]]:
    """A group's rows from what is handed out of it for each of three answers, twice."""
    every = []
    for answer in range(3):
        first, second, again = (
            np.concatenate(list(spill.group(code, reading, answer))) for reading in (0, 1, 0)
        )
        assert np.array_equal(first, again)
        every += [
            (code, 1 << answer, *row) for row in zip(first.tolist(), second.tolist(), strict=True)
        ]
    return every


def by_answer(rows: list[tuple[int, ...]]) -> Counter[tuple[int, ...]]:
    """Rows once for each answer that they count for."""
    return Counter(
        (*row[:-3], 1 << answer, *row[-2:])
        for row in rows
        for answer in range(3)
        if row[-3] >> answer & 1
    )


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 5, 60, 150, ALL])
@pytest.mark.parametrize("groups", [1, 3, 40, 10**12])
def test_groups_come_back_whole_and_in_order(spill: Spill, groups: int, most: int) -> None:
    rng, rows = np.random.default_rng(groups), []
    for n in (0, 1, 39, 40, 41, 130):
        part = random_part(rng, n, groups)
        rows += rows_of(part)
        spill.add(part)
    assert by_answer(in_groups(spill, most)) == by_answer(rows)


@pytest.mark.parametrize("most", [30, 100, ALL])
@pytest.mark.parametrize("persons", [1, 50, 2000])
def test_persons_come_back_whole(tmp_path: Path, persons: int, most: int) -> None:
    rng, rows = np.random.default_rng(persons), []
    with closing(Spill(str(tmp_path), 1, 2, persons=True)) as spill:
        for _ in range(8):
            part = random_part(rng, 90, 20, persons)
            rows += rows_of(part)
            spill.add(part)
        if persons == 1 and most < ALL:
            with raises("memory for one person"):
                next(spill.by_person(most))
            return
        seen: set[tuple[int, ...]] = set()
        there, kept = [], []
        for part in spill.by_person(most):
            assert part.persons is not None
            people = {tuple(words) for words in part.persons.words.tolist()}
            assert len(people) == len(part.persons.words)
            assert np.array_equal(np.unique(part.persons.ids), np.arange(len(people)))
            assert part.codes.size <= most
            assert not people & seen
            seen |= people
            there += rows_of(part)
            bounded = part._replace(counts=part.counts & 5)
            kept += [row[4:] for row in rows_of(bounded)]
            spill.keep(bounded)
        assert Counter(there) == Counter(rows)
        assert by_answer(in_groups(spill, most)) == by_answer(kept)


def test_persons_whose_names_are_sorted_alike_stay_apart(spill: Spill) -> None:
    words = np.array([[1, 7, 0, 0], [2, 7, 0, 0], [1, 7, 0, 9], [1, 8, 0, 0]], np.uint64)
    ids = np.tile([0, 1, 2, 3], 30)
    zeros = np.zeros(120, np.int64)
    spill.add(SpillPart(ids, zeros + 1, [zeros, zeros], Persons(ids, words)))
    (part,) = spill.by_person(ALL)
    assert part.persons is not None
    assert Counter(map(tuple, part.persons.words.tolist())) == Counter(map(tuple, words.tolist()))
    assert np.array_equal(words[part.codes], part.persons.words[part.persons.ids])
    assert np.bincount(part.persons.ids).tolist() == [30] * 4


@pytest.mark.slow
def test_ranges_are_full_however_many_runs_there_are(tmp_path: Path) -> None:
    """For little memory they would be of one key each, and reading took hours."""
    rows = sorted_runs.Runs(str(tmp_path), 1, 1)
    keys = np.random.default_rng(5).integers(-(2**63), 2**63 - 1, 2000, endpoint=True)
    keys[:2] = ENDS[[0, -1]]
    rows.add([keys])
    rows.written()
    found = list(rows.ranges(40))
    assert [some.size for some in found] == [40] * 50
    assert np.concatenate([rows.read(some)[0] for some in found]).tolist() == sorted(keys.tolist())
    rows.close()


def test_every_bit_survives(spill: Spill) -> None:
    patterns = [0x7FF8000000000001, 0xFFF4000000000002, 0x8000000000000000, 1, 0x7FF0000000000000]
    words = np.array(patterns, np.uint64)
    codes, zeros = np.array([4, 2, 0, 2**63 - 1, 3]), np.zeros(5, np.int64)
    whose = np.column_stack([words, ENDS.view(np.uint64), words, words])
    part = SpillPart(codes, zeros + 1, [words.view(np.float64), ENDS], Persons(np.arange(5), whose))
    spill.add(part)
    (back,) = spill.by_person(ALL)
    assert Counter(rows_of(back)) == Counter(rows_of(part))
    spill.keep(back)
    (back,) = spill.by_group(ALL)
    assert back.codes.tolist() == sorted(codes.tolist())
    assert Counter(rows_of(back)) == Counter(rows_of(part._replace(persons=None)))


def test_the_last_of_all_codes_may_be_a_long_group(spill: Spill) -> None:
    codes = np.repeat([2**63 - 2, 2**63 - 1], 50)
    spill.add(SpillPart(codes, np.ones(100, np.int64), [np.arange(100), np.arange(100)]))
    assert list(spill.by_group(20)) == [2**63 - 2, 2**63 - 1]
    words = np.concatenate(list(spill.group(2**63 - 1, 1, 0)))
    assert sorted(words.tolist()) == list(range(50, 100))


def test_there_may_be_no_row(spill: Spill) -> None:
    part = random_part(np.random.default_rng(1), 50, 5, 5)
    spill.add(part._replace(counts=np.zeros(50, np.int64)))
    assert list(spill.by_person(ALL)) == []
    assert list(spill.by_group(ALL)) == []


def test_the_63rd_answer(spill: Spill) -> None:
    counts = np.array([1 << 62, 1, (1 << 62) + 1] * 20)
    spill.add(SpillPart(np.zeros(60, np.int64), counts, [np.arange(60), np.arange(60)]))
    assert list(spill.by_group(30)) == [0]
    words = np.concatenate(list(spill.group(0, 0, 62)))
    assert sorted(words.tolist()) == [i for i in range(60) if i % 3 != 1]


def test_two_at_once_do_not_mix(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    with (
        closing(Spill(str(tmp_path), 1, 2, persons=True)) as one,
        closing(Spill(str(tmp_path), 1, 2, persons=True)) as other,
    ):
        parts = [random_part(rng, 300, 9) for _ in range(2)]
        for spill, part in zip((one, other), parts, strict=True):
            spill.add(part)
        back: list[list[tuple[int, ...]]] = [[], []]
        for pair in zip_longest(one.by_group(100), other.by_group(100)):
            for rows, some in zip(back, pair, strict=True):
                rows += rows_of(some) if isinstance(some, SpillPart) else []
        for rows, part in zip(back, parts, strict=True):
            assert Counter(rows) == Counter(rows_of(part))


def test_a_row_takes_few_bytes_on_disk(spill: Spill) -> None:
    n = 40
    ones = np.ones(n, np.int64)
    whose = np.column_stack([ones, np.arange(n), ones, ones]).astype(np.uint64)
    spill.add(SpillPart(ones, ones, [np.arange(n) * 1000, -ones], Persons(np.arange(n), whose)))
    assert os.fstat(spill._rows._file.fileno()).st_size == n * (1 + 2)


def test_the_file_has_no_name(tmp_path: Path) -> None:
    with closing(Spill(str(tmp_path), 1, 2, persons=True)) as spill:
        spill.add(random_part(np.random.default_rng(1), 500, 9))
        assert os.name == "nt" or list(tmp_path.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_cut_off_is_an_error_of_the_system(spill: Spill) -> None:
    spill.add(random_part(np.random.default_rng(1), 500, 9))
    spill._counting.written()
    spill._counting._file.truncate(100)
    with pytest.raises(OSError, match=says("spilled rows that cannot be read")):
        list(spill.by_group(ALL))


FULL_DISK = """
import resource, signal, sys
from contextlib import closing
import numpy as np
from tests.doors.query import Spill, SpillPart, private_folder
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, resource.RLIM_INFINITY))
secret = np.full(1 << 15, 4711.25)
secret[::2] = 0.1
try:
    with private_folder(sys.argv[1]) as at, closing(Spill(at, 1, 1, persons=False)) as spill:
        for _ in range(9):
            spill.add(SpillPart(np.arange(secret.size), np.ones(secret.size, np.int64), [secret]))
except OSError as error:
    print(error)
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes")
def test_a_full_disk_is_an_error_without_data(tmp_path: Path) -> None:
    asked = [sys.executable, "-c", FULL_DISK, tmp_path]
    done = processes.run(asked, text=True, check=True)
    assert "temp: rows that do not fit into memory could not be written: File too" in done.stdout
    assert "4711" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


LARGE = """
import re, sys
from contextlib import closing
import numpy as np
from tests.doors.grouped import order
from tests.doors.query import Persons, Spill, SpillPart
order(np.arange(9), 9)

def highest():  # in kilobytes; what getrusage tells may be the parent's
    return int(re.search(r"VmHWM:\\s+([0-9]+)", open("/proc/self/status").read())[1])

memory, persons = int(sys.argv[1]), sys.argv[2] == "persons"
rng, n = np.random.default_rng(2), 100_000
base = highest()
with closing(Spill(sys.argv[3], memory // 2, 1, persons=persons)) as spill:
    for _ in range(memory * 10 // (n * (40 if persons else 24))):
        words = rng.integers(0, 1 << 62, (n, 4)).astype(np.uint64) if persons else None
        whose = Persons(np.arange(n), words) if persons else None
        codes, counts = rng.integers(0, 10**6, n), np.ones(n, np.int64)
        spill.add(SpillPart(codes, counts, [rng.random(n)], whose))
    rows = 0
    for part in spill.by_person(memory // 2 // spill.row_bytes) if persons else ():
        spill.keep(part)
    for part in spill.by_group(memory // 2 // spill.row_bytes):
        rows += part.codes.size
assert rows >= memory * 10 // 48
print(highest() - base)
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="kilobytes of resident memory")
@pytest.mark.parametrize("persons", ["persons", "groups"])
def test_ten_times_the_memory_is_sorted_in_it(tmp_path: Path, persons: str) -> None:
    """In a fresh process; what comes in takes some megabytes itself."""
    memory = 30 << 20
    asked = [sys.executable, "-c", LARGE, str(memory), persons, tmp_path]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=600)
    assert memory // 4 <= int(done.stdout) << 10 <= memory + (20 << 20)
