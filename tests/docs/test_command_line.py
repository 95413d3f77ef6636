"""Does the page of the command line have every command, option, exit code and variable?"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.page_code import DOCS, ROOT
from tests.doors.cli import parser

PAGE = (DOCS / "reference" / "command-line.md").read_text()
VARIABLE = re.compile(r"\bFASTEXP_[A-Z]+(?:_[A-Z]+)*\b")


@pytest.fixture(scope="module")
def on_page():
    """The options that the page's tables are made of, by command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(DOCS / "_ext"), *sys.path])
        from command_groups import groups

        return {
            (command, name)
            for group in groups()
            for entries in group.entries().values()
            for entry in entries
            for command in entry.commands
            for name in entry.option.names
        }


def accepted(program: argparse.ArgumentParser, command: str = "") -> Iterator[tuple[str, str]]:
    """Every option that the program takes, by command."""
    for action in program._actions:  # argparse has no public list
        for name in action.option_strings:
            yield command, name
        if isinstance(action.choices, dict):
            for word, inner in action.choices.items():
                yield from accepted(inner, f"{command} {word}".strip())


HELP = {"-h", "--help", "--help-all"}  # every command has them, and the page says so once


def test_every_option_that_is_accepted_is_on_the_page(on_page):
    missing = {(c, n) for c, n in accepted(parser.build()) if n not in HELP} - on_page
    assert missing == set()


def test_an_option_that_is_not_there_is_seen(on_page):
    program = parser.build()
    program.add_argument("--no-such-option")
    assert {("", "--no-such-option")} <= set(accepted(program)) - on_page


def variables(folder: Path) -> set[str]:
    """The environment variables that the code of a folder names."""
    return {name for path in folder.rglob("*.py") for name in VARIABLE.findall(path.read_text())}


def test_every_variable_is_on_the_page(tmp_path):
    assert variables(ROOT / "fastexp") <= set(VARIABLE.findall(PAGE))
    (tmp_path / "a.py").write_text("environ['FASTEXP_NO_SUCH']")
    assert variables(tmp_path) == {"FASTEXP_NO_SUCH"}


def test_every_exit_code_is_on_the_page():
    text = parser.build().format_help().partition("exit codes:")[2].partition("\n\n")[0]
    codes = set(re.findall(r"^ +(\d+)|\b(1\d\d)\b", text, re.MULTILINE))
    printed = {one or other for one, other in codes}
    assert printed == set(re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE))
