"""Tables and notes are readable and safe on every terminal, and every ending has its exit code."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fastexp.cli import main
from tests.doors.cli import info, printing, tables, waiting
from tests.doors.compiler import jit, trusted_folder
from tests.doors.kernels import logexp
from tests.support.each import each


def test_labels_in_tables_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    tables.table(("candidate", "p"), [("a\x1b[31m\nb", "1"), ("日本", "2")])
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["candidate     p", "a\\x1b[31m\\nb  1", "日本          2"]


# The first two are refused in some places; the others are tried one by one, and in all together.
REFUSED, ODD = "\x00\udc80", "\x1b\x7f\x85\x9b\xad\u061c\u200b\u202e\u2028\u2066\ufeff\U000e0001"


@pytest.mark.slow
@pytest.mark.parametrize("characters", [*REFUSED, *ODD, ODD])
def test_nothing_unprintable_is_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, characters: str
) -> None:
    """Neither of records, columns, candidates and files, nor of what was typed."""
    odd = f"a{characters}b"
    data, budget = tmp_path / "data.csv", str(tmp_path / f"{odd}.budget".replace("\0", ""))
    cell = odd.encode(errors="replace").decode()
    data.write_text(f"c{cell},g\n" + f"{cell},{cell}\n" * 500, encoding="utf-8")
    ask = ["select", str(data), "--column", f"c{cell}", "--epsilon", "50"]
    listed = [*ask, "--candidates", f"{odd},b"]
    by = ["--by", "g", "--groups", f"{cell},z"]
    calls = [
        [*ask, "--candidates", "from-data"],
        [*ask, "--candidates", "from-data", "--json"],
        [*ask, "--candidates", "from-data", "--law"],
        listed,
        [*listed, "--json"],
        [*listed, "--law", "--json"],
        [*listed, *by],
        [*listed, *by, "--json"],
        [*listed, "--draws", "9", "--plot", f"{odd}/p.png"],
        [*listed, "--budget", budget],
        [*ask, "--candidates", f"{odd},b,{odd}"],
        ["select", odd, "--column", "x", "--candidates", "a,b", "--epsilon", "1"],
        [*ask[:3], odd, "--candidates", "a,b", "--epsilon", "1"],
        ["median", str(data), "--column", f"c{cell}", "--epsilon", "1", "--bounds", "0", "9"],
        [odd],
        ["info", odd],
        ["study", "report", odd],
    ]
    few = len(characters) == 1 and characters in ODD
    for arguments in calls[3:5] if few else calls:
        code = main(arguments)
        out, err = capsys.readouterr()
        assert out + err
        for text in (*out.split("\n"), *err.split("\n")):
            assert text.isprintable(), (arguments, code)
        if code == 0 and "--json" in arguments:
            assert json.loads(out)


def test_json_says_labels_exactly(capsys: pytest.CaptureFixture[str]) -> None:
    odd = {"a": ["ä\x7f\x9b\u202e日\U000e0001", 1.5, None], "b": float("inf")}
    printing.as_json(odd)
    out = capsys.readouterr().out
    assert out == '{"a": ["ä\\u007f\\u009b\\u202e日\\udb40\\udc01", 1.5, null], "b": null}\n'
    assert json.loads(out) == {**odd, "b": None}
    narrow = printing.json_text(odd, "ascii")
    assert narrow.isascii()
    assert json.loads(narrow) == {**odd, "b": None}


def test_tables_of_rich_show_labels_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_styled", lambda: True)
    tables.table(("candidate", "p"), [("[red]x[/red]", "1"), ("[/]", "2")])
    shown = capsys.readouterr().out
    assert "[red]x[/red]" in shown
    assert "[/]" in shown
    assert "─" in shown
    monkeypatch.setitem(sys.modules, "rich.table", None)
    tables.table(("candidate", "p"), [("[red]x[/red]", "1")])
    assert capsys.readouterr().out.splitlines() == ["candidate     p", "[red]x[/red]  1"]


HEADERS = ("group", "records", "the truth of it", "expected error", "5%", "50%", "95%")
LONG = ("Married-civ-spouse and more words than fit", "14,976", "43", "1.2 of 3", "1", "2", "12345")


def shown(capsys: pytest.CaptureFixture[str], *rows: tuple[str, ...]) -> list[str]:
    tables.table(HEADERS, rows)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("styled", [False, True])
@pytest.mark.parametrize("width", [63, 80, 200])
def test_tables_are_broken_between_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, styled: bool
) -> None:
    monkeypatch.setattr(tables, "_styled", lambda: styled)
    monkeypatch.setenv("COLUMNS", str(width))
    lines = shown(capsys, LONG)
    words = " ".join((*HEADERS, *LONG)).split()
    assert max(map(len, lines)) <= width
    assert sorted(w for line in lines for w in line.split() if "─" not in w) == sorted(words)
    assert (len(lines) == 2 + styled) == (width == 200)
    assert any("1.2 of 3" in line for line in lines)  # a number is on one line


def test_a_table_too_wide_for_its_words_has_a_block_a_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = shown(capsys, LONG, LONG)
    assert max(map(len, lines)) <= 40
    assert lines[0] == "group            Married-civ-spouse and"
    assert lines[1:3] == [f"{'':17}more words than fit", "records          14,976"]
    assert (lines[8], lines[:8]) == ("", lines[9:])


def test_numbers_are_not_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "22")
    tables.table(("g", "x"), [("a", "44.7 [40.0, 49.4]")])
    tables.table(("group", "x"), [("a", "44.7 [40.0, 49.4]")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "g                  x"
    assert lines[2:] == ["group  a", "x      44.7 [40.0,", "       49.4]"]


def test_no_color_is_plain_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "─" in "".join(shown(capsys, LONG))
    monkeypatch.setenv("NO_COLOR", "")  # empty: as if it were not set
    assert "─" in "".join(shown(capsys, LONG))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "─" not in "".join(lines := shown(capsys, LONG))
    assert "\x1b" not in "".join(lines)


@each(
    ("p", "text"),
    [
        (0.5, "0.500000"),
        (1.0, "1.000000"),
        (1 - 1e-9, "1 - 1.0e-09"),
        (2e-7, "2.00e-07"),
        (0.0, "0.000000"),
    ],
)
def test_probabilities_are_readable(p: float, text: str) -> None:
    assert tables.probability(p) == text


@each(
    ("x", "text"),
    [(0.0, "0.0000"), (-1.25, "-1.2500"), (-3e-9, "-3.000e-09"), (-2.5e300, "-2.500e+300")],
)
def test_log_probabilities_are_readable(x: float, text: str) -> None:
    assert tables.logarithm(x) == text


def test_notes_survive_a_closed_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        writes: list[Any]

        def __init__(self) -> None:
            self.writes = []

        def write(self, text: str) -> None:
            self.writes.append(text)
            raise BrokenPipeError

    closed = Closed()
    monkeypatch.setattr(sys, "stderr", closed)
    printing.note("x")
    assert closed.writes == ["x"]
    monkeypatch.setattr(sys, "stderr", None)
    printing.note("x")  # print(file=None) would write to stdout


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (BrokenPipeError(), 1, ""),
        (OSError(28, "No space"), 1, "fastexp: the output could not be written: No space\n"),
        (OSError(), 1, "fastexp: the output could not be written: system error\n"),
        (KeyboardInterrupt(), 130, "fastexp: interrupted\n"),
        (SystemExit("text"), 1, ""),
    ],
)
def test_every_ending_has_its_exit_code(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    message: str,
) -> None:
    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(info, "info", fail)
    assert main(["info"]) == code
    assert capsys.readouterr() == ("", message)


@pytest.mark.skipif(not trusted_folder.POSIX, reason="one folder alone, the user's")
@pytest.mark.parametrize("folder", ["off", "fresh", "refused"])
def test_compiling_is_announced_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    folder: str,
) -> None:
    monkeypatch.setattr(jit, "_watcher", None)
    waiting.announce_compilation()
    assert jit._watcher is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("FASTEXP_CACHE", "0" if folder == "off" else "1")
    chosen = str(tmp_path) if folder == "fresh" else "not absolute"
    monkeypatch.setenv("FASTEXP_CACHE_DIR", chosen)
    monkeypatch.setenv("XDG_CACHE_HOME", chosen)
    monkeypatch.setattr(waiting, "SOON", 0.0)
    waiting.announce_compilation(number=9)
    jit.Kernel(logexp.exp_fill.function, logexp.exp_fill.signature).build()
    once = "once on this machine (see fastexp warmup)"
    when = once if folder == "fresh" else "in every process (see fastexp info)"
    said = f"compiling kernel 1 of 9, {when} ..."
    shown = f"\r\r{said}\r{' ' * len(said)}\r"  # and nothing of it stays
    assert capsys.readouterr().err == ("" if jit.interpreted() else shown)


def test_short_compilations_are_not_worth_a_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "SOON", 60.0)
    notes = waiting.CompilerNotes([])
    with notes.kernel():
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(waiting, "SOON", 0.04)  # which the first one has used up
    with notes.kernel():
        time.sleep(0.05)
    assert capsys.readouterr().err.startswith("\r\rcompiling kernel 2,")


def test_cpu_has_a_name_where_proc_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> str:
        raise OSError

    monkeypatch.setattr(Path, "read_text", refuse)
    assert info.cpu()


def test_silence_sends_what_is_left_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.doors.cli import silence as _silence

    with (tmp_path / "out").open("w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        _silence()
        os.write(out.fileno(), b"lost")
    assert (tmp_path / "out").read_bytes() == b""
