"""Do the pages of errors have every message of the package, once, with cause and remedy?"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_ext"))

from message_families import (  # the path is above
    PACKAGE,
    PAGES,
    Family,
    families,
    slug,
    sorted_into,
)
from message_texts import messages

SENTENCE = 8  # words of a cause and a remedy together, at least


@pytest.fixture(scope="module")
def said():
    return messages(PACKAGE)


@pytest.mark.slow
def test_each_message_belongs_to_one_family_and_no_pattern_is_in_vain(said):
    assert len(said) > 600
    members, faults = sorted_into(families(), said)
    assert not faults, "\n".join(faults)
    assert all(members.values())


QUOTED = re.compile(
    r"\b(?:\w+Error|Invalid\w+|BudgetExceeded|UserMistake|Failure)\(\s*f?([\"'])([^{\"'\\]{9,}?)[{\"']"
)


@pytest.mark.slow
def test_what_a_search_of_the_text_finds_is_among_the_messages(said):
    """Another way to find them, which knows nothing of names and functions."""
    texts = "\n".join(message.text for message in said)
    quoted = [
        (path.name, match[2])
        for path in sorted(PACKAGE.rglob("*.py"))
        if "_compiler" not in path.parts
        for match in QUOTED.finditer(path.read_text())
        if not re.match(r"\b(Value|OS|Runtime)Error", match[0])
    ]
    assert len(quoted) > 300
    assert [(name, text) for name, text in quoted if text not in texts] == []


@pytest.mark.slow
def test_neighbors_are_spelt_as_the_parameter_is(said):
    assert [message for message in said if "eighbour" in message.text] == []
    assert len([message for message in said if "neighbor" in message.text]) > 10


def test_each_family_has_a_cause_and_a_remedy_and_a_name_of_its_own():
    table = families()
    assert len({family.anchor for family in table}) == len(table)
    for family in table:
        assert family.cause.endswith("."), family.title
        assert family.remedy.endswith("."), family.title
        assert len(f"{family.cause} {family.remedy}".split()) > SENTENCE, family.title


def test_each_section_has_a_page_and_each_page_a_section():
    sections = {family.section for family in families()}
    assert {page.stem for page in PAGES.glob("*.md")} == {*map(slug, sections), "index"}
    for section in sections:
        text = (PAGES / f"{slug(section)}.md").read_text(encoding="utf-8")
        assert f"```{{error-families}} {section}\n" in text, section


def package(folder: Path, **files: str) -> Path:
    (folder / "errors.py").write_text("class ParameterError(ValueError): ...\n")
    for name, text in files.items():
        (folder / f"{name}.py").write_text("from .errors import ParameterError\n" + text)
    return folder


PLANTED = {
    "a constant": ("raise ParameterError('it is wrong')", ["it is wrong"]),
    "names": (
        "def f(x):\n    raise ParameterError(f'{x!r} must be {type(x).__name__}')",
        ["{x} must be {type}"],
    ),
    "a name's value": ("TEXT = 'so'\nraise ParameterError(TEXT + f' {1:d}')", ["so 1"]),
    "a format": ("T = '{} is {0}'\nraise ParameterError('{} is {1}'.format('a', 'b'))", ["a is b"]),
    "two texts": (
        "def f(x):\n    y = 'it is' if x else 'is it'\n    raise ParameterError(y)",
        ["is it", "it is"],
    ),
    "a helper": (
        "def g(x):\n    return ParameterError(f'no: {x}')\ndef f():\n    raise g('it is so')",
        ["no: it is so"],
    ),
    "a table": (
        "T = {1: 'it is', 2: 'is it'}\ndef f(x):\n    raise ParameterError(f'{T[x]} {x}')",
        ["is it {x}", "it is {x}"],
    ),
    "a class that is passed": (
        "def f(error):\n    raise error('it is')\nf(ParameterError)",
        ["it is"],
    ),
    "a function's words": (
        "def g(x):\n    return f'it is {x}'\ndef f(y):\n    raise ParameterError(g(y))",
        ["it is {x}"],
    ),
}


@pytest.mark.parametrize(("text", "texts"), PLANTED.values(), ids=PLANTED)
def test_a_new_message_is_seen(tmp_path, text, texts):
    assert [message.text for message in messages(package(tmp_path, planted=text))] == texts


def test_a_message_of_another_file_is_seen(tmp_path):
    helper = "def refused(name, why):\n    return ParameterError(f'{name}: {why}')"
    caller = "from .helper import refused\ndef f(x):\n    raise refused(x, 'it is so')"
    (message,) = messages(package(tmp_path, helper=helper, caller=caller))
    assert (message.text, message.place) == ("{name}: it is so", "helper.py:3")


def test_a_message_of_no_family_of_two_and_a_pattern_of_none_are_faults(tmp_path):
    said = messages(package(tmp_path, planted="raise ParameterError('it is wrong')"))
    one, two, vain = (
        Family("Data", title, (pattern,), "A cause.", "A remedy.")
        for title, pattern in (("one", "it*"), ("two", "*wrong"), ("vain", "else"))
    )
    assert sorted_into([one], said)[1] == []
    assert "belongs to no family" in sorted_into([vain], said)[1][0]
    assert "belongs to 'one' and 'two'" in sorted_into([one, two], said)[1][0]
    assert sorted_into([one, vain], said)[1] == ["'vain': no message is 'else'"]
