"""Are the walks of the house short, and does the count see what it says?"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import fastexp as fx
from tests.doors.kernels import exp_fill
from tests.house.rooms import PACKAGE, ROOMS
from tests.house.walks import Plan, walk, walks

LOWER = """
def apply(function):
    return function()

def items():
    yield from map(str, range(3))

def double(number):
    return 2 * number
"""
UPPER = """
from toy_house.lower import work
from toy_house.errors import check

class Owner:
    @property
    def number(self):
        check()
        return 7

def quiet():
    return work.double(Owner().number)

def handed_down():
    return work.apply(lambda: 7)

def handed_twice():
    return list(map(work.apply, [lambda: 7, lambda: 8]))
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A package of two rooms, and the plan of it."""
    package = tmp_path / "toy_house"
    for room, text in {"lower": LOWER, "upper": UPPER}.items():
        (package / room).mkdir(parents=True)
        (package / room / "work.py").write_text(text)
    (package / "errors.py").write_text("def check(): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    from toy_house.upper import work

    yield Plan(package, ["lower", ["upper"]]), work
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy_house"]:
        del sys.modules[name]


class TestTheCount:
    def test_a_walk_down_and_back_has_no_climb(self, toy):
        plan, work = toy
        counted = walk(plan, work.quiet)
        assert (list(counted.rooms), counted.climbs) == (["upper", "lower"], [])

    def test_a_function_that_was_handed_down_is_a_climb(self, toy):
        plan, work = toy
        climb = "lower/work.apply -> upper/work.handed_down.<locals>.<lambda>"
        assert walk(plan, work.handed_down).climbs == [climb]
        assert len(walk(plan, work.handed_twice).climbs) == 2

    def test_a_room_that_is_not_listed_is_an_error(self, toy):
        plan, work = toy
        with pytest.raises(ValueError, match="upper/work is in no room"):
            walk(Plan(plan.package, ["lower"]), work.quiet)

    def test_kernels_are_above_their_wrappers(self):
        plan = Plan(Path(fx.__file__).parent, ["_compiler", "kernels"])
        values = np.zeros(3)
        counted = walk(plan, lambda: exp_fill(values, values.copy()))
        assert (list(counted.rooms), len(counted.climbs)) == (["_compiler", "kernels"], 1)


LIMITS = {
    "Median.release, 1,000 records": (8, 6),
    "Median.release, 100,000 unsorted records": (8, 6),
    "Exponential.release": (6, 3),
    "fastexp median": (16, 22),
}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    return walks(Plan(PACKAGE, ROOMS), tmp_path_factory.mktemp("walks"))


@pytest.mark.parametrize("name", LIMITS)
def test_walks_are_short(house, name):
    rooms, climbs = LIMITS[name]
    assert len(house[name].rooms) <= rooms, house[name]
    assert len(house[name].climbs) <= climbs, house[name]
