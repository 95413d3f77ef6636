"""Is the map in `fastexp/README.md` what the rooms say of themselves, and short?"""

from __future__ import annotations

import pytest

from tests.house import map as house_map
from tests.house.rooms import PACKAGE, ROOMS


def test_the_table_is_current():
    page = house_map.PAGE.read_text()
    assert house_map.renewed(page) == page, "run `python -m tests.house.map`"


def test_a_changed_docstring_is_noticed(monkeypatch):
    page = house_map.PAGE.read_text()
    monkeypatch.setattr(house_map, "paragraphs", lambda _: ["Something else."])
    assert house_map.renewed(page) != page


def test_a_page_without_a_place_is_an_error():
    with pytest.raises(ValueError, match="no place"):
        house_map.renewed("# The rooms\n")


def test_every_room_says_in_a_line_what_is_in_it():
    rows = house_map.rows()
    assert len(rows) == sum(map(len, ROOMS))
    for name, what, never in rows:
        assert what.endswith("."), name
        assert 10 < len(what) <= 120, name
        assert len(never) <= 160, name


def test_every_file_says_what_it_is():
    for path in PACKAGE.rglob("*.py"):
        assert len(house_map.paragraphs(path)[0]) > 10, path
