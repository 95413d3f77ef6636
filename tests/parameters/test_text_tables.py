"""Do tables of text keep to their place, without a broken word?"""

from __future__ import annotations

import random

from tests.doors.parameters import text
from tests.support.each import each

LINES = [
    ["mechanism", "expected error", "promise"],
    ["permute-and-flip", "1.25", "a short text"],
    ["exponential", "12.5", "another text that is long"],
]
LEFT = [True, False, True]


@each("room", [38, 45, 60, 80])
def test_a_table_fits_and_its_words_are_whole(room: int) -> None:
    lines = text.table_lines(LINES, LEFT, room)
    assert max(map(len, lines)) <= room
    words = " ".join(lines).split()
    assert sorted(words) == sorted(" ".join(cell for row in LINES for cell in row).split())


def test_numbers_end_where_their_column_ends() -> None:
    first, second = text.table_lines(LINES, LEFT, 80)[1:]
    assert first.index("1.25") + len("1.25") == second.index("12.5") + len("12.5")
    assert first.index("a short") == second.index("another")


def test_wide_letters_take_two_places() -> None:
    lines = text.table_lines([["a", "b"], ["中文", "1"], ["abcd", "2"]], [True, False], 80)
    assert lines == ["a     b", "中文  1", "abcd  2"]
    assert text.width("e\u0301") == 1


def test_the_first_columns_that_fit_by_trying_all() -> None:
    chance = random.Random(7)  # noqa: S311  # no secret
    for _ in range(300):
        columns = chance.randint(1, 7)
        lines = [
            [" ".join("x" * chance.randint(1, 9) for _ in range(2)) for _ in range(columns)]
            for _ in range(3)
        ]
        left = [chance.random() < 0.5 for _ in range(columns)]
        room, least = chance.randint(5, 90), chance.randint(1, columns)
        possible = [
            count
            for count in range(1, columns + 1)
            if text.widths_of([row[:count] for row in lines], left[:count], room)
        ]
        count = text.fitting(lines, left, room, least)
        assert count == max([least, *possible])
        if possible and max(possible) >= least:
            table = text.table_lines([row[:count] for row in lines], left[:count], room)
            assert max(map(len, table)) <= room


def test_a_word_that_is_too_wide_stays_whole() -> None:
    assert text.wrapped("incomprehensibilities of it", 10) == [
        "incomprehensibilities",
        "of it",
    ]
    assert text.table_lines([["head"], ["x" * 30]], [True], 10) == ["head", "x" * 30]
