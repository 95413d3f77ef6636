"""A file of answers: whole or not there, with a name at the end only, of whatever system."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.doors.query import OutputFile, output_file
from tests.messages import raises


@pytest.fixture(params=["nameless", "hidden"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """How the file is held until it is whole."""
    if request.param == "hidden":
        monkeypatch.setattr(output_file, "NAMELESS", 0)
        return "hidden"
    place = OutputFile(str(tmp_path / "tried.csv"), force=False, room=0)
    names = os.listdir(tmp_path)  # noqa: PTH208
    place.close()
    if names:
        pytest.skip("the file system has no files without names")
    return "nameless"


def test_it_is_there_when_it_is_whole(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "answers.csv"
    place = OutputFile(str(target), force=False, room=1 << 16)
    # What a process that is killed here leaves behind.
    assert [path.name[:9] for path in tmp_path.iterdir()] == [".fastexp-"] * (kind == "hidden")
    place.write(b"age\n37\n")
    place.close()
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]
    assert target.read_bytes() == b"age\n37\n"


def test_another_file_is_not_replaced(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "answers.csv"
    place = OutputFile(str(target), force=False, room=0)
    target.write_text("others")
    with raises("output that cannot be written, got File exists"):
        place.write(b"age\n37\n")
    place.close()
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]
    assert target.read_text() == "others"


def test_with_force_it_takes_the_place_and_the_mode(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "answers.csv"
    target.write_text("old answers, which are longer")
    target.chmod(0o640)
    place = OutputFile(str(target), force=True, room=1 << 16)
    place.write(b"age\n37\n")
    place.close()
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"age\n37\n", 0o640)
