"""Does a loop of cases run all of them, and name those that fail?"""

from __future__ import annotations

import pytest

from tests.support.each import CasesFailed, each


def test_every_case_is_run_with_the_fixtures():
    seen = []

    @each("a, b", [(1, 2), pytest.param(3, 4, id="second")])
    @each(("c",), [(5,), (6,)])
    def loop(self, tmp_path, a, b, c):
        seen.append((self, tmp_path, a, b, c))

    loop("self", tmp_path="path")
    expected = [(1, 2, 5), (1, 2, 6), (3, 4, 5), (3, 4, 6)]
    assert seen == [("self", "path", *row) for row in expected]


def test_a_failure_names_its_case_and_hides_no_other():
    seen = []

    @each("a", [1, pytest.param(2, id="two"), 3, 4])
    @each("b", "xy", ids=str.upper)
    def loop(a, b):
        seen.append((a, b))
        if a == 3:
            raise ValueError("3 is odd\nindeed")
        assert (a, b) != (2, "y")

    with pytest.raises(CasesFailed) as caught:
        loop()
    assert len(seen) == 8
    *lines, x, y = str(caught.value).splitlines()
    assert lines[0] == "3 failures in 4 cases:"
    assert lines[1].startswith("[two] [Y] AssertionError: assert (2, 'y') != (2, 'y')")
    assert (x, y) == ("[3] [X] ValueError: 3 is odd", "[3] [Y] ValueError: 3 is odd")
    assert isinstance(caught.value.__cause__.__cause__, AssertionError)  # the first one


def test_a_case_that_raises_nothing_where_it_should_is_named():
    """That is no exception of the usual kind."""

    @each("number", [0, 1, 2])
    def loop(number):
        with pytest.raises(ZeroDivisionError):
            1 / number

    with pytest.raises(CasesFailed) as caught:
        loop()
    assert [line[:3] for line in caught.value.failures] == ["[1]", "[2]"]


def test_a_case_that_is_skipped_skips_the_test_unless_one_failed():
    @each("a", [1, 2, 3])
    def loop(a, bad):
        if a == 2:
            pytest.skip("no two")
        assert a != bad

    with pytest.raises(pytest.skip.Exception, match="no two"):
        loop(bad=0)
    with pytest.raises(CasesFailed, match=r"\[3\]"):
        loop(bad=3)


def test_ids_are_names():
    @each("a", [1, 2], ids=["one", "two"])
    def loop(a):
        assert a == 1

    with pytest.raises(CasesFailed, match=r"\[two\]"):
        loop()


@pytest.mark.parametrize(
    ("names", "cases"),
    [("a", []), ("a, b", [(1,)]), ("c", [1]), ("a", [pytest.param(1, marks=pytest.mark.slow)])],
)
def test_a_loop_that_would_not_run_is_refused(names, cases):
    with pytest.raises((AssertionError, ValueError)):
        each(names, cases)(lambda a, b=0: None)
