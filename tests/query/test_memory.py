"""Is `memory` read as it is written, and half of what is free where it is not?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.doors.keys import Keys
from tests.doors.query import Held, Part, memory
from tests.messages import raises
from tests.support.each import each

SIZES = [("2GB", 2 << 30), ("1.5 GiB", 3 << 29), ("500m", 500 << 20), ("2000KB", 2000 << 10)]


@each(("text", "size"), [*SIZES, (1 << 20, 1 << 20), (np.int64(9**9), 9**9)])
def test_sizes(text: Any, size: int) -> None:
    assert memory.memory_of(text) == size


@each("text", ["", "GB", "-1GB", "1KB", "2 bytes", "1e9", "9999999TB"])
def test_other_texts(text: str) -> None:
    with raises("memory as text"):
        memory.memory_of(text)


@each("value", [1.5e9, True, b"1GB", [1]])
def test_other_types(value: Any) -> None:
    with raises("memory: integer"):
        memory.memory_of(value)


@each("value", [0, -1, 1000, 1 << 61])
def test_other_numbers(value: int) -> None:
    with raises("memory: between two numbers", least="1048576"):
        memory.memory_of(value)


def test_half_of_what_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info, group = tmp_path / "info", tmp_path / "group"
    monkeypatch.setattr(memory, "INFO", info)
    monkeypatch.setattr(memory, "GROUP", group)
    assert memory.free() == memory.UNKNOWN
    info.write_text("MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n")
    assert memory.free() == 4000000 << 10
    group.mkdir()
    (group / "memory.max").write_text("max\n")
    (group / "memory.current").write_text("1000\n")
    assert memory.free() == 4000000 << 10
    (group / "memory.max").write_text(f"{1000 + (2 << 30)}\n")
    assert memory.free() == 1 << 30


@pytest.mark.parametrize("listed", [0, -1])
def test_rows_that_are_held_hold_nothing_of_their_batches(listed: int) -> None:
    """Arrow's columns are pieces of a batch, which stays as long as one of them."""
    batch = np.arange(30).reshape(3, 10)
    codes = np.zeros(10, np.int64)
    codes[3] = listed
    part = Part(codes, [batch[0]], [None], Keys("integers", batch[1]))
    held = Held(part, streamed=True)
    for _ in range(3):
        held.add(part)
    assert len(held.parts) == 3
    for rows in held.parts:
        persons = rows.persons
        assert persons is not None
        chosen = codes >= 0
        assert rows.records[0].tolist() == batch[0][chosen].tolist()
        assert persons.values.tolist() == batch[1][chosen].tolist()
        assert not np.shares_memory(rows.records[0], batch)
        assert not np.shares_memory(persons.values, batch)
