"""Do cards show what is on them, escaped and in order, with the warning where it is due?"""

from __future__ import annotations

import io
import math
from html.parser import HTMLParser

import pytest

from tests.doors.parameters import readable
from tests.doors.pictures import WARNING, Card, HtmlRepr
from tests.support.each import each

EVIL = "<b>&\"'</b>[red]\x1b[31m"


class Object(HtmlRepr):
    __slots__ = ("card",)

    def __init__(self, card):
        self.card = card

    def _card(self):
        return self.card


CARD = Card(
    EVIL,
    [("epsilon", 0.1), ("absent", None), ("n", 19_100), ("bounds", (0, 4000.5)), (EVIL, EVIL)],
    ["name", "error"],
    [[EVIL, 12_345.678], ["b", math.nan]],
)


class Cells(HTMLParser):
    """The texts of a page's cells and paragraphs, and its tags."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.tags = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert all(name in ("style", "scope", "class") for name, _ in attrs)

    def handle_data(self, data):
        self.texts.append(data)


ESCAPED = "<b>&\"'</b>[red]\\x1b[31m"
TEXTS = [ESCAPED, "epsilon", "0.1", "n", "19,100", "bounds", "0, 4,000.5", ESCAPED, ESCAPED]
TABLE = ["name", "error", ESCAPED, "12,345.7", "b", "-"]


@pytest.mark.parametrize("private", [False, True])
def test_html_shows_all_texts_and_nothing_else(private):
    cells = Cells(Object(CARD._replace(private=private))._repr_html_())
    assert cells.texts == TEXTS + TABLE + [WARNING] * private
    assert set(cells.tags) == {"div", "p", "strong", "table", "tr", "th", "td"}


@pytest.mark.parametrize("private", [False, True])
def test_rich_shows_the_same(private):
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=120).print(Object(CARD._replace(private=private)))
    seen = out.getvalue()
    place = 0
    for text in TEXTS + TABLE + [WARNING] * private:
        place = seen.index(text, place) + len(text)
    assert (WARNING in seen) == private
    assert "absent" not in seen


def test_a_card_with_a_title_alone():
    assert Cells(Object(Card("Median"))._repr_html_()).texts == ["Median"]


@each(
    ("number", "digits", "text"),
    [
        (19_100, 6, "19,100"),
        (19_100.0, 6, "19,100"),
        (1_234_567.4, 6, "1,234,567"),
        (999_999.7, 6, "1,000,000"),
        (12_345.6, 4, "12,346"),
        (0.05254321, 3, "0.0525"),
        (-1500.25, 6, "-1,500.25"),
        (0.00001, 6, "1e-5"),
        (9.9999e14, 3, "999,990,000,000,000"),
        (1e15, 6, "1e15"),
        (-2.5e300, 6, "-2.5e300"),
        (0.0, 6, "0"),
        (2**70, 6, f"{2**70:,}"),
        (None, 6, "-"),
        (math.nan, 6, "-"),
        (-math.inf, 6, "-inf"),
    ],
)
def test_numbers_are_written_alike(number, digits, text):
    assert readable(number, digits) == text
