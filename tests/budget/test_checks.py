"""Is every change of a budget file noticed: a bit, a cut, a line that is gone or moved?"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import fastexp as fx
from fastexp import Budget, BudgetError
from fastexp.errors import InvalidRecords
from tests.doors.budget import Question, atomic_files, charge_and_draw
from tests.messages import raises, says

MEDIAN = fx.Median(0.1, bounds=(0, 9), step=1)
QUESTION = Question(MEDIAN)
FILE = "survey.budget"
DAMAGED = says("damaged budget file", "budget file of another version")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a budget with all kinds of lines."""
    folder = tmp_path_factory.mktemp("whole")
    budget = Budget.file(folder / FILE, epsilon=2.0, delta=1e-6)
    budget.charge(MEDIAN.guarantee, name="elsewhere", note="Jahrbuch ß")
    MEDIAN.release([1, 2, 3], budget=budget, label="ages")
    charge_and_draw(budget, "long", QUESTION, lambda: list(range(180)))
    with pytest.raises(InvalidRecords):
        MEDIAN.release([None], budget=budget, label="failed")
    with pytest.raises(KeyboardInterrupt):
        charge_and_draw(budget, "open", QUESTION, interrupted)
    MEDIAN.release([1, 2, 3], budget=budget)
    MEDIAN.release([1, 2, 3], budget=budget, label="last")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def interrupted() -> None:
    raise KeyboardInterrupt


@pytest.fixture
def path(whole: dict[str, bytes], tmp_path: Path) -> Path:
    for name, raw in whole.items():
        (tmp_path / name).write_bytes(raw)
    return tmp_path / FILE


def said(path: Path) -> Any:
    """All that a budget file says."""
    budget = Budget.file(path)
    log = budget.log()
    kept = [budget.answers(entry["label"]) for entry in log if entry["state"] == "answered"]
    return budget.spent, budget.remaining_delta, log, kept


def refused(path: Path, raw: bytes) -> None:
    """With these bytes the file is damaged."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atomic_files, "contents", lambda _: raw)
        with pytest.raises(BudgetError, match=says(DAMAGED)):
            Budget.file(path)


def flipped(raw: bytes, bit: int) -> bytes:
    place, power = divmod(bit, 8)
    return raw[:place] + bytes([raw[place] ^ 1 << power]) + raw[place + 1 :]


def test_all_kinds_of_lines(path: Path) -> None:
    states = [entry["state"] for entry in said(path)[2]]
    assert states == ["charged", "answered", "answered", "failed", "open", "charged", "answered"]
    assert path.read_bytes().count(b"\n") == 1 + len(states) + 4


@pytest.mark.slow
def test_a_flipped_bit_releases_nothing(path: Path) -> None:
    raw = path.read_bytes()
    for bit in range(8 * len(raw)):
        refused(path, flipped(raw, bit))


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1, 3, 5, 7])
def test_a_flipped_bit_of_the_end(path: Path, lines: int) -> None:
    """Of a file that ends earlier: its last line is not taken for one that was cut off."""
    raw = b"".join(path.read_bytes().splitlines(keepends=True)[:lines])
    for bit in range(8 * len(raw) - 8 * 60, 8 * len(raw)):
        refused(path, flipped(raw, bit))


@pytest.mark.slow
def test_a_flipped_bit_of_a_line_that_was_cut_off(path: Path) -> None:
    """It stays none, or is refused."""
    lines = path.read_bytes().splitlines(keepends=True)
    raw, rest = b"".join(lines[:-1]), lines[-1]
    path.write_bytes(raw)
    before = said(path)
    for bit in range(0, 8 * (len(rest) - 1), 3):
        path.write_bytes(raw + flipped(rest[:-1], bit))
        try:
            found = said(path)
        except BudgetError:
            refused(path, path.read_bytes())
        else:
            assert found == before


@pytest.mark.slow
def test_a_flipped_bit_of_answers_in_a_file_of_their_own(path: Path) -> None:
    (file,) = path.parent.glob("*.answers")
    raw, budget = file.read_bytes(), Budget.file(path)
    for place in [*range(0, len(raw), 7), len(raw) - 1]:
        file.write_bytes(flipped(raw, 8 * place + place % 8))
        with raises("changed file of answers"):
            budget.answers("long")


@pytest.mark.slow
def test_a_file_that_is_cut_off_anywhere_says_what_its_whole_lines_do(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, states, budgets = path.read_bytes(), {}, 0
    for length in range(len(raw) + 1):
        lines = raw.count(b"\n", 0, length)
        if not lines:
            refused(path, raw[:length])
            continue
        budgets += 1
        monkeypatch.setattr(atomic_files, "contents", lambda _, end=length: raw[:end])
        found = said(path)
        assert found == states.setdefault(lines, found)
    assert len(states) == 12
    assert states[12][2] != states[11][2]
    assert budgets > 1000


def test_lines_that_are_gone_moved_repeated_or_of_another_file(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    other = path.with_name("other")
    Budget.file(other, epsilon=2.0, delta=1e-6).charge(MEDIAN.guarantee)
    changed = [lines[:i] + lines[i + 1 :] for i in range(len(lines) - 1)]
    changed += [[*lines[: i + 1], *lines[i:]] for i in range(len(lines))]
    changed += [[*lines, other.read_bytes().splitlines(keepends=True)[1]]]
    for i, j in itertools.combinations(range(len(lines)), 2):
        swapped = lines.copy()
        swapped[i], swapped[j] = lines[j], lines[i]
        changed.append(swapped)
    for each in changed:
        refused(path, b"".join(each))
