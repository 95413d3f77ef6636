"""Does the list below the picture of mechanisms say what the picture says, and is none left out?"""

from __future__ import annotations

import re

import pytest

from tests.docs.page_code import DOCS
from tests.doors.mechanisms import TABLE

PAGE = DOCS / "decide" / "mechanism.md"


def unsaid(page: str) -> list[str]:
    """The picture's answers that the list does not have with the same conditions."""
    picture, text = re.split(r"^:::$", page, maxsplit=1, flags=re.MULTILINE)
    words = " ".join(text.split())
    rows = [line.split("|") for line in picture.splitlines() if "|" in line]
    said = [(c.strip(), f"{{class}}`~fastexp.{a.strip()}`") for c, a in rows]
    return [a for c, a in said if c not in words or a not in words]


def test_the_list_says_what_the_picture_says():
    assert unsaid(PAGE.read_text()) == []


@pytest.mark.parametrize("change", [("the k best, in order:", "ten:"), ("fastexp.Price", "Price")])
def test_a_list_that_says_something_else_is_seen(change):
    assert len(unsaid(PAGE.read_text().replace(*change))) == 1


def test_every_mechanism_has_a_place():
    names = {row.name for row in TABLE.values()}
    assert names <= set(re.findall(r"~fastexp\.(\w+)", PAGE.read_text()))
