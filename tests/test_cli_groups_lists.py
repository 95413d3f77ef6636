"""Is a list of groups read as it is meant, or refused with what to do, and are draws marked?"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fastexp.cli import grouped_words
from fastexp.cli.select import NOT_PRIVATE
from tests.command_line import Run

MARKER = "SECRET-7341"


@pytest.fixture
def ask(tmp_path: Path) -> list[str]:
    path = tmp_path / "a.csv"
    path.write_text("city,x\n" + "Oslo,1\nRome,2\n13,3\n09,4\n9,5\n01001,6\n10001,7\n" * 50)
    how = ["median", str(path), "--column", "x", "--epsilon", "50", "--bounds", "0", "9"]
    return [*how, "--step", "1", "--by", "city", "--groups"]


def rows(run: Run, *arguments: object) -> list[tuple[Any, Any]]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return [(row["group"], row["value"]) for row in json.loads(out)["rows"]]


def refused(run: Run, *arguments: object) -> str:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    return err


# ---- draws ----


@pytest.mark.parametrize("more", [[], ["-q"], ["-q", "--json"]])
def test_draws_in_a_file_are_called_not_private(run: Run, ask, tmp_path, more) -> None:
    how = [*ask, "Oslo,Rome", *more, "--output", tmp_path / "o.csv"]
    code, _, err = run(*how, "--draws", "3", "--seed", "1")
    assert (code, err.splitlines().count(NOT_PRIVATE)) == (0, 1)
    assert NOT_PRIVATE not in run(*how)[2]


# ---- the data is no list ----


@pytest.mark.engines
@pytest.mark.parametrize("form", ["{}", "{}:city", "{}:nowhere"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "txt"])
def test_the_data_is_no_public_list(run: Run, ask, tmp_path: Path, kind: str, form: str) -> None:
    data, link = tmp_path / f"d.{kind}", tmp_path / f"link.{kind}"
    frame = pl.DataFrame({"city": ["Oslo", MARKER, MARKER], "x": [1, 2, 3]})
    frame.write_parquet(data) if kind == "parquet" else frame.write_csv(data)
    link.symlink_to(data)
    if kind == "txt" and ":" in form:
        return  # no column of it can be asked for
    for file in (data, link):
        err = refused(run, ask[0], data, *ask[2:], form.format(file))
        assert "the groups of the data are private: use --groups from-data" in err
        assert MARKER not in err


@pytest.mark.engines
def test_a_copy_of_the_data_is_not_shown(run: Run, ask, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(f"city\nOslo\n{MARKER}\n{MARKER}\n")
    err = refused(run, *ask, f"{table}:city")
    assert f"row 3 of 'city' of {str(table)!r} names a group again (the first time: row 2)" in err
    assert MARKER not in err
    table.write_text("city\n13\n7341.0\n")
    err = refused(run, *ask, f"{table}:city")
    assert "row 2 of 'city' of" in err
    assert "7341" not in err
    data = tmp_path / "d.parquet"
    pl.DataFrame({"city": [1, 2], "x": [1, 2]}).write_parquet(data)
    table.write_text(f"city\n13\n{MARKER}\n")
    err = refused(run, ask[0], data, *ask[2:], f"{table}:city")
    assert "holds integers, but row 2 of 'city' of" in err
    assert MARKER not in err


# ---- lines ----


def test_a_header_in_a_list_of_lines_is_noticed(run: Run, ask, tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text("city\nOslo\n")
    err = refused(run, *ask, path)
    assert "is line 1 a header? Rename it to .csv and write FILE:COLUMN" in err
    table = path.rename(tmp_path / "g.csv")
    assert rows(run, *ask, f"{table}:city") == [("Oslo", 1)]
    path.write_text("Oslo\ncity\n")
    assert [group for group, _ in rows(run, *ask, path)] == ["Oslo", "city"]


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n\r\n \r\n", "\n\t\n"])
def test_blank_lines_at_the_end_are_none(run: Run, ask, tmp_path: Path, end: str) -> None:
    path = tmp_path / "g.txt"
    path.write_bytes(f"Rome\nOslo{end}".encode())
    assert rows(run, *ask, path) == [("Rome", 2), ("Oslo", 1)]


def test_one_name_on_the_command_line(run: Run, ask) -> None:
    assert rows(run, *ask, "Rome,") == [("Rome", 2)]
    assert rows(run, *ask, '"Rome",') == [("Rome", 2)]
    assert [group for group, _ in rows(run, *ask, '"Bern, old",')] == ["Bern, old"]
    assert "there is no file 'Rome'; give " in refused(run, *ask, "Rome")
    for text in ("Rome,Oslo,", "Rome,,", ",", ",Rome"):
        assert "--groups has an empty entry (a comma too many?)" in refused(run, *ask, text)


# ---- integers or texts ----


@pytest.mark.parametrize("odd", ["13.0", "09", "+9", "1e3", "-0", "nan", "9223372036854775808"])
def test_other_numbers_among_integers_are_refused(run: Run, ask, odd: str) -> None:
    err = refused(run, *ask, f"13,abc,{odd},8,7.0")
    assert f"entry 3 of the command line ({odd!r}) is a number, but not written as" in err
    assert "write it without decimals" in err


def test_words_among_integers_and_codes_of_one_width_are_text(run: Run, ask) -> None:
    assert rows(run, *ask, "13,Oslo") == [("13", 3), ("Oslo", 1)]
    assert rows(run, *ask, "10001,01001") == [("10001", 7), ("01001", 6)]
    assert rows(run, *ask, "09,Rome") == [("09", 4), ("Rome", 2)]
    assert rows(run, *ask, "13,10001") == [(13, 3), (10001, 7)]


# ---- lines of the report ----


@pytest.mark.parametrize("width", [50, 72, 100])
def test_the_report_is_as_wide_as_the_terminal(run: Run, ask, monkeypatch, width: int) -> None:
    how = [*ask, "Oslo,Rome"]
    plain = run(*how)[2]
    assert max(map(len, plain.splitlines())) > 100  # no terminal: one line each
    monkeypatch.setattr(grouped_words, "_terminal_width", lambda: width)
    err = run(*how)[2]
    assert max(map(len, err.splitlines())) <= width
    assert err.replace("\n  ", " ") == plain


@pytest.mark.skipif(os.name != "posix", reason="has no pseudo-terminals")
def test_the_width_is_that_of_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 61, 0, 0))
    with os.fdopen(theirs, "w") as stream:
        monkeypatch.setattr("sys.stderr", stream)
        assert grouped_words._terminal_width() == 61
        monkeypatch.undo()
    os.close(ours)


def test_the_help_says_what_a_retry_costs(run: Run) -> None:
    text = " ".join(run("median", "--help-all")[1].split())
    assert "Without a label every run is charged" in text
