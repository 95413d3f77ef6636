"""Is every row of the table true and asked for, and is no message pinned elsewhere?"""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import fastexp as fx
from fastexp.errors import ParameterError, ParameterTypeError
from tests.messages import MESSAGES, SHORT, TABLE
from tests.messages.message import Message, call

TESTS = Path(__file__).parents[1]
OTHERS = {"house", "benchmarks"}  # tests of messages that the package has not
OTHER_ERRORS = {*vars(builtins), "duckdb"}


def faults(message: Message) -> list[str]:
    """What is wrong with the calls of a row."""
    wrong = []
    for number, (function, fields) in enumerate(message.calls()):
        try:
            got = f"no error, but {function()!r}"
        except Exception as error:
            pattern = re.compile(message.pattern(fields), re.DOTALL)
            if type(error) is message.error and pattern.fullmatch(str(error)):
                continue
            got = f"{type(error).__name__}: {error}"
        wrong.append(f"{message.name!r}, call {number}: {got}")
    return wrong


@functools.cache
def nodes() -> dict[Path, list[ast.AST]]:
    """The syntax of all tests."""
    paths = [path for path in TESTS.rglob("*.py") if path.name != "table.py"]
    return {path: list(ast.walk(ast.parse(path.read_text()))) for path in paths}


def pinned(tree: Iterable[ast.AST]) -> Iterator[int]:
    """Lines that compare an error of the package with a text of their own."""
    for node in tree:
        if isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "pytest.raises",
            "pytest.warns",
        ):
            errors = {n.id for n in ast.walk(node.args[0]) if isinstance(n, ast.Name)}
            for keyword in node.keywords:
                by_name = ast.unparse(keyword.value).startswith("says(")
                if keyword.arg == "match" and not by_name and errors - OTHER_ERRORS:
                    yield node.lineno


def test_every_call_gets_its_message():
    wrong = [fault for message in MESSAGES for fault in faults(message)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("error", "text", "fields"),
    [
        (ParameterTypeError, "{name} must be >= {least}, got {got}", {}),
        (ParameterError, "{name} must be > {least}, got {got}", {}),
        (ParameterError, "must be >= {least}...", {}),
        (ParameterError, "{name} must be >= {least}, got {got}", {"name": "n"}),
    ],
)
def test_another_error_text_or_field_is_noticed(error, text, fields):
    def refused():
        fx.OrderStatistic(1, 1.0, (0, 1)).sample([1], size=-1)

    assert faults(Message("a row", error, text, call(refused, **fields)))
    assert not faults(
        Message("a row", ParameterError, "size must be >= {least}, got -1", call(refused, least=0))
    )


@pytest.mark.slow
def test_every_row_has_a_name_of_its_own_and_is_asked_for():
    assert len(TABLE) == len(MESSAGES)
    texts = [getattr(node, "value", None) for tree in nodes().values() for node in tree]
    named = {SHORT.fullmatch(text)["name"] for text in texts if isinstance(text, str)}
    asked = named | {message.name for message in MESSAGES if any(message.calls())}
    assert TABLE.keys() - asked == set()


@pytest.mark.slow
def test_no_text_is_pinned_elsewhere():
    planted = ast.walk(ast.parse('pytest.raises((TypeError, ParameterError), match="k must")'))
    assert list(pinned(planted)) == [1]
    assert not list(pinned(ast.walk(ast.parse('pytest.raises(OSError, match="Errno 28")'))))
    own = {path: tree for path, tree in nodes().items() if path.parent.name not in OTHERS}
    places = [f"{path.relative_to(TESTS)}:{n}" for path, tree in own.items() for n in pinned(tree)]
    assert not places, "use says() of tests.messages"
