"""Do names say what a value is, not what happened to it?"""

from __future__ import annotations

import pytest

from tests.house import names


@pytest.mark.slow
def test_names_of_values_say_what_they_are():
    assert names.banned() == []
    assert names.unneeded_excuses() == []


def test_a_name_that_several_files_have_means_one_thing():
    """Who adds a second file of a name says here what both are about, or takes another name."""
    assert set(names.stems()) <= set(names.MEANINGS)


@pytest.mark.parametrize(
    "text",
    [
        "found = 1",
        "window, (found, _) = 1, (2, 3)",
        "found: int = 1",
        "found += 1",
        "if (found := 1): pass",
        "for found in (): pass",
        "[found for found in ()]",
        "with open('x') as found: pass",
        "import math as found",
        "try: pass\nexcept ValueError as found: pass",
        "def find(found): pass",
        "def find(*, found=1): pass",
        "def find(*found): pass",
        "lambda found: 1",
        "def found(): pass",
        "async def found(): pass",
        "class found: pass",
        "self._found = 1",
        "match 1:\n    case found: pass",
        "match 1:\n    case [*found]: pass",
    ],
)
def test_a_banned_name_is_seen_wherever_it_gets_a_value(tmp_path, text):
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "file.py").write_text(text)
    assert {(file, name) for file, _, name in names.banned(tmp_path)} == {("room/file.py", "found")}


def test_a_file_is_a_name_too(tmp_path):
    (tmp_path / "_asked.py").write_text("window = found\nself.found\n")
    assert names.banned(tmp_path) == [("_asked.py", 1, "asked")]


def test_an_excuse_is_for_one_name_of_one_file(tmp_path, monkeypatch):
    monkeypatch.setitem(names.EXCUSED, ("a.py", "found"), "a thing that was lost")
    for file in ("a.py", "b.py"):
        (tmp_path / file).write_text("found = made = 1")
    assert names.banned(tmp_path) == [
        ("a.py", 1, "made"),
        ("b.py", 1, "found"),
        ("b.py", 1, "made"),
    ]
    assert names.unneeded_excuses(tmp_path) == []
    (tmp_path / "a.py").write_text("window = 1")
    assert names.unneeded_excuses(tmp_path) == [("a.py", "found")]


def test_a_name_of_two_files_is_seen(tmp_path):
    for file in ("a/_cells.py", "b/cells.py", "b/words.py", "a/__init__.py", "b/__init__.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("")
    assert names.stems(tmp_path) == {"cells": ["a/_cells.py", "b/cells.py"]}


def test_what_is_forwarded_by_its_name_is_seen(tmp_path):
    (tmp_path / "a.py").write_text("f(*pair)\nf(1, **self.more)\nf(*[1, 2], **{'a': 1}, b=pair)\n")
    assert names.forwarded(tmp_path) == [("a.py", 1, "*pair"), ("a.py", 2, "**self.more")]
