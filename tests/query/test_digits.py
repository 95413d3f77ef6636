"""Are many texts of numbers read to the numbers that Python reads, each for itself?"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.doors.query import numbers_in
from tests.doors.shared import AnyArray

PLAIN = re.compile(r"[ \t]*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)?[ \t]*")


class Numbers(NamedTuple):
    """The integers among numbers, and the others, with NaN for gaps."""

    integers: AnyArray
    decimals: AnyArray


def read(texts: list[str]) -> Numbers | None:
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)])
    buffer = np.frombuffer(b"".join(encoded), np.uint8)
    found = numbers_in(buffer, ends[:-1], ends[1:])
    return None if found is None else Numbers(found[0][found[2]], found[1][~found[2]])


def wanted(text: str) -> int | float | None:
    """One text by Python's own int and float."""
    bare = text.strip(" \t")
    if bare.lower() in ("", "na", "null", "nan"):
        return math.nan
    if re.fullmatch(r"[+-]?inf(inity)?", bare, re.IGNORECASE):
        return float(bare)
    if not PLAIN.fullmatch(text) or not math.isfinite(float(bare)):
        return None
    whole = re.fullmatch(r"[+-]?[0-9]+", bare) and -(2**63) <= int(bare) < 2**63
    return int(bare) if whole else float(bare)


def agrees(texts: list[str]) -> None:
    expected = [wanted(text) for text in texts]
    found = read(texts)
    if None in expected:
        assert found is None
        return
    assert found is not None
    assert found.integers.tolist() == [x for x in expected if isinstance(x, int)]
    assert repr(found.decimals.tolist()) == repr([x for x in expected if isinstance(x, float)])


# ---- texts of numbers ----

NUMBERS = st.one_of(
    st.from_regex(r"[ \t]{0,2}[+-]?[0-9]{0,22}\.?[0-9]{0,22}[ \t]{0,2}", fullmatch=True),
    st.from_regex(r"[+-]?[0-9]{1,3}\.?[0-9]{0,20}[eE][+-]?[0-9]{1,3}", fullmatch=True),
    st.text("0123456789+-.eE naif\t_", max_size=8),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(2**64), 2**64).map(str),
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(NUMBERS, max_size=4))
def test_texts_are_the_numbers_that_python_reads(texts: list[str]) -> None:
    agrees(texts)
    agrees([text for text in texts if wanted(text) is not None])


def test_infinite_numbers_and_gaps() -> None:
    agrees(["inf", "-Inf", " +infinity", "NA", "null", "nan", ""])
    agrees(["infinit"])


def test_numbers_are_read_for_themselves() -> None:
    found = read(["9007199254740993", "0.5", "9223372036854775808", "-9223372036854775808", ""])
    assert found is not None
    assert found.integers.tolist() == [2**53 + 1, -(2**63)]  # whatever else there is
    assert found.decimals.tolist()[:2] == [0.5, 2.0**63]
    assert np.isnan(found.decimals[2])
    assert read(["1", "x"]) is None
    assert read(["1" * 9999]) is None
    assert read(["0." + "1" * 400]) is None
