"""Are columns of numbers read fast, and to the numbers that Python and its csv module read?"""

from __future__ import annotations

import io
import math
import re
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastexp.cli import blocks, columns, reading
from fastexp.cli.errors import UserMistake
from fastexp.query import digits
from fastexp.query.digits import PADDING, Numbers

PLAIN = re.compile(r"[ \t]*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)?[ \t]*")


def read(texts: list[str]) -> Numbers | None:
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)])
    buffer = np.frombuffer(b"".join(encoded) + PADDING, np.uint8)
    return digits.numbers(buffer, ends[:-1], ends[1:])


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


def test_decimals_of_many_digits_are_rounded_once() -> None:
    rng = Random(4)  # noqa: S311
    texts = [repr(rng.uniform(0, 10 ** rng.randint(-4, 9))) for _ in range(20_000)]
    texts += [f"{rng.randrange(10**9)}.{rng.randrange(10**9):09d}" for _ in range(20_000)]
    inverse, modulus = pow(2**36, -1, 5**18), 5**18
    for sign in (-1, 1) * 300:  # as near to half-way between two doubles as they come
        m = sign * inverse % modulus + modulus * rng.randrange(5 * 10**17 // modulus + 1, 262_000)
        assert 0 < abs(Fraction(m, 10**18) * 2**54 % 2 - 1) < 2**-41
        texts.append(f"0.{m:018d}"[: 2 + 18])
    texts += [f"{2**52 + rng.randrange(2**52)}.5" for _ in range(2_000)]  # half-way
    found = read(texts)
    assert found is not None
    assert (found.decimals == np.array([float(text) for text in texts])).all()


def test_numbers_are_read_for_themselves() -> None:
    found = read(["9007199254740993", "0.5", "9223372036854775808", "-9223372036854775808", ""])
    assert found is not None
    assert found.integers.tolist() == [2**53 + 1, -(2**63)]  # whatever else there is
    assert found.decimals.tolist()[:2] == [0.5, 2.0**63]
    assert np.isnan(found.decimals[2])
    assert read(["1", "x"]) is None
    assert read(["1" * 9999]) is None
    assert read(["0." + "1" * 400]) is None


# ---- plain CSV ----


def by_csv(path: Path, delimiter: str) -> Numbers | None:
    """The column ``c`` by the csv module alone."""
    with path.open("rb") as raw, reading.parsed(str(path), raw, delimiter) as (header, rows):
        at = reading.place(str(path), header, "c")
        return read([row[at] for row in rows])


FIELDS = ["1", "-2.25", "+7", " 3", '"4"', "5 ", "", '""', "x", 'a"b', '"a""b"', '"q\nr"', "é", "0"]


def files(count: int) -> Any:
    """Contents of all kinds, and the delimiter."""
    rng = Random(9)  # noqa: S311
    for _ in range(count):
        mark, ends = rng.choice(",;\t "), rng.choice(["\n", "\r\n", "\n\n"])
        names = rng.choice([["c"], ["c", "d"], ["d", "c"], ['"d, e"', "c", "f"]])
        rows = [mark.join(names)]
        usual = rng.random() < 0.5
        for _ in range(rng.randint(0, 6)):
            fields = [rng.choice(FIELDS) if n != "c" else rng.choice(FIELDS[:8]) for n in names]
            rows.append(mark.join(fields))
        text = rng.choice(["", "\n", "\ufeff"]) + ends.join(rows) + rng.choice([ends, ends, ""])
        if not usual:
            at = rng.randint(0, len(text))
            text = text[:at] + rng.choice(['"', "\r", "\0", mark, "\n", " ", "7"]) + text[at:]
        yield text.encode("utf-8" if rng.random() < 0.97 else "latin-1", "replace"), mark


def test_cuts_are_those_of_the_csv_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, same = tmp_path / "f.csv", 0
    for number, (content, mark) in enumerate(files(1000)):
        path.write_bytes(content)
        monkeypatch.setattr(blocks, "SIZE", (1, 4, 9, 30, 1 << 20)[number % 5])
        try:
            expected = by_csv(path, mark)
        except UserMistake:
            expected = None
        try:
            _, parts = columns._csv_column(str(path), "c", mark)
        except UserMistake:
            assert expected is None, content
            continue
        assert expected is not None, content
        for kind, numbers in zip("if", expected, strict=True):
            found = [x for part in parts if part.dtype.kind == kind for x in part.tolist()]
            assert repr(found) == repr(numbers.tolist()), content
        same += 1
    assert same > 300  # not refused all


@pytest.mark.parametrize(
    "row", [b'1,"a"x', b'1,a"b,c"', b'1,"a""', b'1," "a', b'1,a""b,c""', b"1,\xe9", b"1\r2,3"]
)
def test_what_is_not_plain_is_left_to_the_csv_module(tmp_path: Path, row: bytes) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(b"c,d\n" + row + b"\n2,x\n")
    with pytest.raises(UserMistake):
        by_csv(path, ",")
    with pytest.raises(UserMistake):
        columns.records(str(path), "c")


def test_plain_files_never_meet_the_csv_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.csv"
    path.write_text('c,text\n1,"a, b"\n\n2.5,"say ""é"" and\n"\r\n,x\n"3",\n')
    monkeypatch.setattr(columns, "_one_after_the_other", lambda _: pytest.fail("slow"))
    for size in (1 << 20, 40):
        monkeypatch.setattr(blocks, "SIZE", size)
        _, (integers, decimals) = columns._csv_column(str(path), "c", ",")
        assert integers.tolist() == [1, 3]
        assert repr(decimals.tolist()) == "[2.5, nan]"


def test_a_row_may_be_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SIZE", 16)
    path = tmp_path / "f.csv"
    path.write_text("c,t\n1,x\n2," + "y" * 99 + "\n3,z\n")
    assert columns.records(str(path), "c").tolist() == [1, 2, 3]


def test_too_long_a_field_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("c,t\n1," + "y" * 200_000 + "\n")
    with pytest.raises(UserMistake, match="a field is too long"):
        columns.records(str(path), "c")


def test_reading_ahead_is_undone() -> None:
    cut = blocks.Blocks(io.BytesIO(b"c\n1\n2\n" + b"x" * 20_000), ",")
    assert cut.header() == ["c"]
    assert [part.end.size for part in cut.fields(1, 0)] == [2]
    assert cut.rest().read() == b"x" * 20_000
