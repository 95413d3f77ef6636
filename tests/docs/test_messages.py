"""Do the pages of errors have every message of the package, once, with cause and remedy?"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from fastexp import errors
from tests.messages import MESSAGES

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_ext"))

from message_families import PAGES, PLACE, families, slug  # the path is above

SENTENCE = 8  # words of a cause and a remedy together, at least
PUBLIC = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}
OTHERS = {"AttributeError", "Failure", "UserMistake"}  # of Python and of the command line
FILES = sorted(Path(errors.__file__).parent.rglob("*.py"))
ROWS = {row: re.compile(row.pattern({}), re.DOTALL) for row in MESSAGES}
TEXTS = {text: family for family in families() for text in family.messages}


def test_each_message_stands_once():
    worded = [PLACE.sub("{}", text) for family in families() for text in family.messages]
    assert len(worded) > 600
    assert sorted(worded) == sorted(set(worded))


def test_each_row_of_the_table_of_messages_is_in_a_family_of_its_class():
    rows = [row for row in ROWS if row.error in PUBLIC.values()]
    assert len(rows) > 300
    for row in rows:
        homes = [family for text, family in TEXTS.items() if ROWS[row].fullmatch(text)]
        classes = [PUBLIC[name] for its in homes for name in its.errors if name in PUBLIC]
        assert any(issubclass(kind, row.error) for kind in classes), row.name


@pytest.mark.slow
def test_no_message_is_in_vain():
    """The source, or a row of the table, has each of its clauses."""
    nodes = (node for path in FILES for node in ast.walk(ast.parse(path.read_text())))
    texts = [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
    said = "\n".join([*texts, *(row.text for row in MESSAGES)])
    for text in TEXTS:
        clauses = map(str.strip, re.split(r"\{\w+\}|[:;,] (?:got )?|\n", text))
        assert [clause for clause in clauses if clause not in said] == [], text


QUOTED = re.compile(
    r"\b(\w+Error|Invalid\w+|BudgetExceeded|UserMistake|Failure)\(\s*f?([\"'])([^{\"'\\]{9,}?)[{\"']"
)


def test_what_a_search_of_the_source_finds_is_in_a_family_of_its_class():
    quoted = [
        (match[1], match[3])
        for path in FILES
        if "_compiler" not in path.parts
        for match in QUOTED.finditer(path.read_text())
        if match[1] not in ("ValueError", "OSError", "RuntimeError")
    ]
    assert len(quoted) > 300
    for kind, begun in quoted:
        assert any(begun in text and kind in its.errors for text, its in TEXTS.items()), begun


def test_neighbors_are_spelt_as_the_parameter_is():
    assert [text for text in TEXTS if "eighbour" in text] == []
    assert len([text for text in TEXTS if "neighbor" in text]) > 10


def test_each_family_has_messages_classes_a_cause_and_a_remedy_and_a_name_of_its_own():
    table = families()
    assert len({family.anchor for family in table}) == len(table)
    for family in table:
        assert family.messages, family.title
        assert {*family.errors} <= PUBLIC.keys() | OTHERS, family.title
        assert family.errors, family.title
        assert family.cause.endswith("."), family.title
        assert family.remedy.endswith("."), family.title
        assert len(f"{family.cause} {family.remedy}".split()) > SENTENCE, family.title


def test_each_section_has_a_page_and_each_page_a_section():
    sections = {family.section for family in families()}
    assert {page.stem for page in PAGES.glob("*.md")} == {*map(slug, sections), "index"}
    for section in sections:
        text = (PAGES / f"{slug(section)}.md").read_text(encoding="utf-8")
        assert f"```{{error-families}} {section}\n" in text, section
