"""Does every place that silences a linter or a type checker say why, on its line?"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from tests.house.rooms import PACKAGE
from tests.support.each import each

SILENCE = re.compile(r"#\s*(noqa|type:\s*ignore|pyright:\s*ignore)\b", re.IGNORECASE)
# A marker with what it is about; a comment behind it, or behind the last of several, is the reason.
MARKER = r"(noqa: [A-Z]+\d+(, [A-Z]+\d+)*|(type|pyright): ignore\[[\w-]+(, [\w-]+)*\])"
WITH_REASON = re.compile(rf"# {MARKER}(  # {MARKER})*  # (?!{MARKER})\w.*\w{{3}}")
LENGTH = 100


def without_reason(text: str) -> Iterator[tuple[int, str]]:
    """(line, comment) of what is silenced without a reason, or beyond the line's length."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and SILENCE.search(token.string):
            reason = WITH_REASON.match(token.string)
            if reason is None or len(token.line.rstrip("\n")) > LENGTH:
                yield token.start[0], token.string


@pytest.mark.slow
def test_what_is_silenced_has_a_reason() -> None:
    places = [
        f"{path.relative_to(PACKAGE)}:{line}: {comment}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, comment in without_reason(path.read_text())
    ]
    assert places == []


@each(
    ("comment", "is_silent"),
    [
        ("# noqa: S101", True),
        ("# noqa", True),
        ("# type: ignore", True),
        ("# type: ignore[arg-type]", True),
        ("# noqa: PLE0605  # pyright: ignore[reportGeneral]", True),
        ("# noqa: S101  # " + "why " * 30, True),
        ("# noqa: S101  # the file is our own", False),
        ("# noqa: PTH118, PTH120  # fast start", False),
        ("# type: ignore[arg-type]  # checked later", False),
        ("# noqa: PLE0605  # pyright: ignore[reportGeneral]  # made from the stub", False),
        ("# a comment about type checkers", False),
    ],
)
def test_which_reasons_are_seen(comment: str, is_silent: bool) -> None:
    assert list(without_reason(f"x = 1  {comment}\n")) == [(1, comment)] * is_silent
