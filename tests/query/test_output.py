"""A file of answers: whole or not there, also where a process is killed."""

from __future__ import annotations

from pathlib import Path

import fastexp as fx
from tests.doors.query import OutputFile
from tests.messages import raises


def test_it_is_there_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "answers.csv"
    place = OutputFile(str(target), force=False, room=1 << 16)
    (draft,) = tmp_path.iterdir()  # what a process that is killed here leaves behind
    assert draft.name.startswith(".fastexp-")
    place.write(b"age\n37\n")
    place.close()
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]
    assert target.read_bytes() == b"age\n37\n"


def test_another_file_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "answers.csv"
    place = OutputFile(str(target), force=False, room=0)
    target.write_text("others")
    with raises("output that cannot be written, got File exists"):
        place.write(b"age\n37\n")
    place.close()
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]
    assert target.read_text() == "others"


def test_with_force_it_takes_the_place_and_the_mode(tmp_path: Path) -> None:
    target = tmp_path / "answers.csv"
    target.write_text("old answers, which are longer")
    target.chmod(0o640)
    place = OutputFile(str(target), force=True, room=1 << 16)
    place.write(b"age\n37\n")
    place.close()
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"age\n37\n", 0o640)


def test_answers_that_are_kept_leave_the_file_that_has_them(tmp_path: Path) -> None:
    """As on the command line; a file of other content is replaced only by force."""
    target, budget = tmp_path / "answers.csv", fx.Budget(epsilon=1.0)
    answers = {"age": (fx.Median(epsilon=1.0, bounds=(0, 120), step=1), "age")}

    def release(label: str, force: bool = False) -> object:
        rows = {"age": [30, 31, 32] * 100}
        return fx.Query().release(
            rows, answers, budget=budget, label=label, output=target, force=force
        )

    first = release("a")
    content, written = target.read_bytes(), target.stat().st_mtime_ns
    assert release("a") == release("a", force=True) == first
    assert target.stat().st_mtime_ns == written
    with raises("output that exists"):
        release("b")
    target.write_text("others")
    with raises("output that exists"):
        release("a")
    assert target.read_text() == "others"
    assert release("a", force=True) == first
    assert target.read_bytes() == content
    target.unlink()
    assert release("a") == first
    assert target.read_bytes() == content
    assert budget.charges == 1
