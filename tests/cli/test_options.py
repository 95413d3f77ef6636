"""Are options written alike, explained on one screen, and suggested if misspelt?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import fastexp as fx
from tests.doors.cli import (
    COMMANDS,
    below,
    completion,
    from_options,
    mechanism_options,
    option_table,
    parser,
    public_lists,
    sentences,
)
from tests.doors.query import SUFFIXES
from tests.support.command_line import Run
from tests.support.each import each

MEDIAN = ["median", "FILE", "--epsilon", "1"]
LEAVES = [name for name, command in COMMANDS.items() if command.module]


def parsed(*arguments: str) -> Any:
    return parser.build().parse_args(arguments)


# ---- numbers and lists ----


@each(
    ("written", "name", "value"),
    [
        (["--bounds", "0", "120"], "bounds", (0, 120)),
        (["--bounds", "0,120"], "bounds", (0, 120)),
        (["--bounds=0,120"], "bounds", (0, 120)),
        (["--bounds", "-5", "5"], "bounds", (-5, 5)),
        (["--bounds", "-5,5"], "bounds", (-5, 5)),
        (["--bounds", "-1e3", "-.5"], "bounds", (-1000, -0.5)),
        (["--step", "0.1"], "step", 0.1),
        (["--step", "1.0"], "step", 1.0),
        (["--step", "1e2"], "step", 100),
        (["--step", "0.10000000000000000000001"], "step", Decimal("0.10000000000000000000001")),
        (["--grid", "0,10,50"], "grid", "0,10,50"),
        (["--grid", "-1", "0", "10"], "grid", "-1,0,10"),
        (["--grid", "points.txt"], "grid", "points.txt"),
        (["--by", "A,B"], "by", ["A", "B"]),
        (["--by", "A", "B"], "by", ["A", "B"]),
        (["--by", '"a, b",C'], "by", ["a, b", "C"]),
        (["--groups", "A", "B"], "groups", "A,B"),
        (["--groups", "-1", "0", "1"], "groups", "-1,0,1"),
        (["--groups", "-1,0,1"], "groups", "-1,0,1"),
        (["--draws", "1e3"], "draws", 1000),
        (["--seed", "1e3"], "seed", 1000),
        (["--seed", str(2**128 - 1)], "seed", 2**128 - 1),
        (["--max-rows", "1e2"], "max_rows", 100),
        (["--widen", "-0.5"], "widen", -0.5),  # is refused by its mechanism, as a number
        (["--memory", "2GB"], "memory", 2 << 30),
        (["--delimiter", "tab"], "delimiter", "\t"),
        (["--delimiter", "-"], "delimiter", "-"),
        (["--label", "-a label"], "label", "-a label"),
        (["--label=-x"], "label", "-x"),
    ],
)
@each("before", [False, True])
def test_numbers_and_lists(written: list[str], name: str, value: object, before: bool) -> None:
    """FILE may stand before the options, or be the last word."""
    given = ["--epsilon", "0.5", *written]
    found = parsed("median", *(["FILE", *given] if before else [*given, "FILE"]))
    assert (getattr(found, name), found.file, found.epsilon) == (value, "FILE", 0.5)
    assert type(getattr(found, name)) is type(value)


@each(("text", "q"), [("1/3", Fraction(1, 3)), ("0.9", 0.9), ("1e-3", 1e-3)])
def test_quantiles(text: str, q: object) -> None:
    assert parsed("quantile", "FILE", "--epsilon", "1", "--q", text).q == q


def test_a_value_may_be_implied() -> None:
    assert parsed("demo").records is None
    assert parsed("demo", "--records").records == "marital-status"
    assert parsed("demo", "--records", "age").records == "age"


def test_after_two_dashes_nothing_is_an_option() -> None:
    assert parsed("key", "--json", "--", "--odd").file == "--odd"


def test_lists_of_words_leave_a_word_for_the_file() -> None:
    given = ["--by", "A", "B", "--epsilon", "1", "--groups", "x", "y", "FILE"]
    assert (found := parsed("median", *given)).file == "FILE"
    assert (found.by, found.groups) == (["A", "B"], "x,y")
    assert parsed("study", "report", "--format", "svg", "pdf", "DIR").format == ["svg", "pdf"]


@each("name", ["median", "quantile", "maximum", "mode", "price", "select"])
def test_every_answering_command_has_the_same_attributes(name: str) -> None:
    """What the code behind them reads of all, whatever the command."""
    extra = ["--q", "0.5"] if name == "quantile" else []
    found = vars(parsed(name, "FILE", "--epsilon", "1", *extra))
    assert set(found) >= {
        *("file", "column", "delimiter", "by", "groups", "person", "max_groups", "max_rows"),
        *("membership", "epsilon", "total_epsilon", "any_epsilon", "law", "draws", "accuracy"),
        *("seed", "plot", "budget", "label", "note", "key", "output", "force", "memory", "temp"),
        *("threads", "json", "quiet"),
    }
    assert (found["law"], found["draws"], found["force"], found["by"]) == (False, None, False, None)


# ---- what is misspelt or missing ----


@each(
    ("arguments", "message"),
    [
        (["medain"], "unknown command 'medain': did you mean 'median'?"),
        (["xyzzy"], "unknown command 'xyzzy'\n"),
        (["study", "reprot"], "unknown command 'reprot': did you mean 'report'?"),
        (["--versoin"], "unknown option '--versoin': did you mean '--version'?"),
        ([*MEDIAN, "--bound", "0", "9"], "unknown option '--bound': did you mean '--bounds'?"),
        (
            ["median", "F", "--epsilom", "1"],
            "unknown option '--epsilom': did you mean '--epsilon'?",
        ),
        ([*MEDIAN, "--epsilom=1"], "unknown option '--epsilom': did you mean '--epsilon'?"),
        ([*MEDIAN, "--zzz"], "unknown option '--zzz'\n"),
        ([*MEDIAN, "--eps", "1"], "unknown option '--eps': did you mean '--epsilon'?"),
        ([*MEDIAN, "--q", "0.5"], "unknown option '--q'\n"),
        ([*MEDIAN, "--quantiles", "0.5"], "unknown option '--quantiles'\n"),
        ([*MEDIAN, "--check"], "unknown option '--check'\n"),
        ([*MEDIAN, "--column"], "--column needs a value"),
        ([*MEDIAN, "--column", "--law"], "--column needs a value"),
        ([*MEDIAN, "--by", "--law"], "--by needs a value"),
        ([*MEDIAN, "more"], "unexpected argument 'more': 'FILE' stands there already"),
        (["median", "FILE"], "--epsilon or --total-epsilon is needed"),
        (["median", "--epsilon", "1"], "error: FILE is needed"),
        (["quantile", "FILE", "--epsilon", "1"], "error: --q is needed"),
        (["quantile", "FILE", "--q", "1/0"], "--q must be a decimal or a fraction"),
        ([*MEDIAN, "--step", "1e999"], "--step must be a number"),
        ([*MEDIAN, "--law", "--draws", "9"], "error: --draws does not go with --law\n"),
        ([*MEDIAN, "--accuracy", "--draws", "9"], "does not go with"),
        ([*MEDIAN, "--bounds", "0"], "--bounds must be two numbers, as 0 120 or 0,120, got '0'"),
        ([*MEDIAN, "--bounds", "0", "x"], "--bounds must be two numbers"),
        ([*MEDIAN, "--step", "1_0"], "--step must be a number, as 12, -0.5 or 1e3, got '1_0'"),
        ([*MEDIAN, "--draws", "1.5"], "--draws must be an integer between 1 and 1000000000"),
        ([*MEDIAN, "--draws", "0"], "--draws must be an integer"),
        ([*MEDIAN, "--draws", "1e99"], "--draws must be an integer"),
        ([*MEDIAN, "--seed", "-1"], "--seed must be an integer between 0 and"),
        ([*MEDIAN, "--seed", "9" * 5000], "--seed must be an integer between 0 and"),
        ([*MEDIAN, "--by", "A,,B"], "--by must be one name or several, as A,B or A B"),
        ([*MEDIAN, "--by", '"A'], "--by must be one name or several"),
        ([*MEDIAN, "--memory", "much"], "--memory must be a size from 1MB on"),
        ([*MEDIAN, "--memory", "1kB"], "--memory must be a size from 1MB on"),
        ([*MEDIAN, "--delimiter", ";;"], "--delimiter must be one character"),
        ([*MEDIAN, "--nan", "mean"], "invalid choice: 'mean'"),
        (["price", "FILE", "--epsilon", "1", "--neighbors", "replace"], "unknown option"),
        (["study", "report", "DIR", "--format", "gif"], "--format must be of svg, png, pdf"),
    ],
)
def test_mistakes(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 2
    command = " ".join(word for word in arguments[:2] if word in COMMANDS or word in below("study"))
    assert err.endswith(f"see: {f'fastexp {command}'.strip()} --help\n")


def test_what_was_typed_cannot_move_the_cursor(run: Run) -> None:
    assert run("\x1b[31m").err.startswith("fastexp: error: unknown command '\\x1b[31m'")


# ---- help ----


@pytest.mark.slow
@each("name", LEAVES)
def test_help_fits_a_screen_and_names_what_it_leaves_out(run: Run, name: str) -> None:
    code, out, err = run(*name.split(), "--help")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"usage: fastexp {name}")
    full = run(*name.split(), "--help-all").out
    for options in option_table.sections(name).values():
        for option in options:
            assert ", ".join(option.names) in full
            assert " ".join(option.help.split()) in " ".join(full.split())
    if len(full) > len(out) + 200:
        assert f"fastexp {name} --help-all" in out


@pytest.mark.slow
@each("name", LEAVES)
def test_all_help_is_80_columns_wide(run: Run, name: str) -> None:
    out = run(*name.split(), "--help-all").out
    assert [line for line in out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("arguments", [[], ["study"]])
def test_without_a_command_the_commands_are_listed(run: Run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert (out, "") == run(*arguments, "--help")[1:]
    for name, command in below(" ".join(arguments)).items():
        assert f"  {name:<10} {command.short}\n" in out


@each("name", ["", *LEAVES])
def test_help_is_a_command_too(run: Run, name: str) -> None:
    assert run("help", *name.split()) == run(*name.split(), "--help")


@each("name", option_table.ANSWERS)
def test_the_short_help_names_options_that_it_leaves_out(run: Run, name: str) -> None:
    listed, _, last = run(name, "--help").out.rpartition("Also ")
    further = re.findall("--[a-z]+", option_table.FURTHER)
    options = {
        n for group in option_table.sections(name).values() for one in group for n in one.names
    }
    assert last.startswith(option_table.FURTHER)
    assert set(further) <= options
    assert not any(f"\n  {option}" in listed for option in further)


def test_the_short_help_says_where_a_publication_is(run: Run) -> None:
    short = run("release", "--help").out
    assert short.endswith(
        "A publication to start from, and all options: fastexp release --help-all\n"
    )
    assert '\n  source = "rents.csv"' in run("release", "--help-all").out


def test_the_help_names_all_files_that_can_be_written() -> None:
    (option,) = (
        one for one in option_table.sections("median")["paying and keeping"] if one.value == "OUT"
    )
    assert tuple(re.findall(r"\.[a-z]+", option.short)) == SUFFIXES


@each(
    "text",
    [
        public_lists.WHY_PUBLIC,
        from_options.WHY_PUBLIC,
        mechanism_options.WHY_PUBLIC,
        sentences.FROM_DATA,
    ],
)
def test_what_is_said_in_lines_is_80_columns_wide(text: str) -> None:
    shown = text.format(what="the candidates")
    lines = (shown if "WARNING" in shown else f"fastexp: error: {shown}").splitlines()
    assert len(lines) > 2
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.slow
@each("name", LEAVES)
def test_examples_can_be_parsed(name: str) -> None:
    for example in COMMANDS[name].examples:
        arguments = example.replace("\\\n", " ").split()
        assert " ".join(arguments).startswith(f"{name} ") or name == "key"
        found = parsed(*arguments)
        assert found.function


@pytest.mark.slow
@pytest.mark.parametrize("kind", [[], ["--law"], ["--draws", "3"], ["--accuracy"]])
@pytest.mark.parametrize("by", [[], ["--by", "g", "--groups", "a", "b"]])
@pytest.mark.parametrize("name", ["median", "select"])
def test_all_help_names_the_keys_of_json(
    run: Run, tmp_path: Path, name: str, kind: list[str], by: list[str]
) -> None:
    (tmp_path / "t.csv").write_text("g,x\na,1\nb,3\na,2\n")
    answer = ["--bounds", "0", "2", "--step", "1"] if name == "median" else ["--candidates", "1,2"]
    given = [tmp_path / "t.csv", "--column", "x", "--epsilon", "1", *answer, *by, *kind, "--json"]
    facts = json.loads(run(name, *given).out)
    keys = set(facts) | set(facts.get("rows", [{}])[0])
    for group in facts["groups"] if isinstance(facts.get("groups"), list) else []:
        keys |= set(group) | set(group["rows"][0])
    mechanisms = (fx.Median, fx.MostCommon)
    keys -= {field.name for mechanism in mechanisms for field in fields(mechanism)}
    keys -= {"points", "selected_by", "x", "g"}
    assert keys <= set(re.findall(r"\w+", run(name, "--help-all").out.partition("keys of")[2]))


def test_every_reader_is_of_an_option() -> None:
    read = {
        option.read
        for command in LEAVES
        for options in option_table.sections(command).values()
        for option in options
    }
    assert set(option_table.READERS.values()) <= read


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"fastexp {fx.__version__}\n", "")


# ---- completion ----

ASK = """
source /dev/stdin
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_shtab_fastexp fastexp "${COMP_WORDS[$COMP_CWORD]}" ""
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="bash")
def test_bash_completes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rents.csv").write_text("")
    (tmp_path / "rents").mkdir()
    script = run("--print-completion", "bash").out

    def completed(*words: str) -> set[str]:
        done = subprocess.run(
            ["/bin/bash", "-c", ASK, "bash", "fastexp", *words],
            input=script,
            cwd=tmp_path,
            text=True,
            capture_output=True,
            timeout=60,
            check=True,
        )
        return set(done.stdout.split())

    assert completed("me") == {"median"}
    assert completed("study", "re") == {"resume", "report"}
    assert completed("median", "--bou") == {"--bounds"}
    assert completed("median", "--nan", "lo") == {"lower"}
    assert completed("median", "ren") == {"rents.csv", "rents"}
    assert completed("median", "--temp", "ren") == {"rents"}


def test_zsh_completes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/lib/fastexp/__main__.py"])
    assert "python -m fastexp" in run("--help").out
    code, out, err = run("--print-completion", "zsh")
    assert (code, err) == (0, "")
    assert out.startswith("#compdef fastexp\n")
    assert "median:'" in out
    assert "$(fastexp" not in out.replace("\\$(", "")  # nothing is run when it is read


def test_completion_needs_shtab(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    code, out, err = run("--print-completion", "bash")
    assert (code, out) == (1, "")
    assert "pip install shtab" in err


def test_paths_are_marked_as_such() -> None:
    """A word for a value that is neither a path nor known not to be one is noticed."""
    values = {
        option.value
        for command in ["", *LEAVES]
        for options in option_table.sections(command).values()
        for option in options
        if not option.choices
    }
    assert values - completion.FILES - completion.FOLDERS == {
        *("", "A B", "ADDRESS", "C", "C[,C]", "D", "DATA", "E", "F", "K", "L", "N"),
        *("NAME", "P", "Q", "R", "S", "SIZE", "T", "TEXT", "W"),
    }
