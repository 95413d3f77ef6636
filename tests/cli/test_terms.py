"""Are the package's words those of options and of publications, wherever it says them?"""

from __future__ import annotations

import sys

import pytest

from tests.docs.page_code import DOCS
from tests.doors.cli import SUBJECTS, TERMS, in_terms

sys.path.insert(0, str(DOCS / "_ext"))

from message_families import families  # the path is above


@pytest.fixture(scope="module")
def said() -> list[str]:
    """What the package says, without the command line."""
    package = (its for its in families() if not {*its.errors} <= {"Failure", "UserMistake"})
    return [text for family in package for text in family.messages]


@pytest.mark.parametrize(("word", "option", "key"), TERMS, ids=[row[0] for row in TERMS])
def test_each_word_is_said_and_put_in_terms(said: list[str], word: str, option: str, key: str):
    having = [text for text in said if word in text]
    assert having, f"no message says {word!r}: its row is in vain"
    for text in having:
        for publication, term in ((False, option), (True, key)):
            found = in_terms(text, publication)
            assert term in found
            assert word not in found.replace(term, "")


@pytest.mark.parametrize("publication", [False, True], ids=["options", "keys"])
def test_no_argument_of_python_is_left(said: list[str], publication: bool):
    """Of what a command can meet: an argument is said as an option or a key."""
    known = [text for text in said if any(word in text for word, _, _ in TERMS)]
    assert len(known) > len(TERMS)
    for text in known:
        found = in_terms(text, publication)
        assert "the argument nan" not in found
        assert "any_epsilon=True" not in found


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_subject_is_what_a_message_begins_with(said: list[str], subject: str):
    begun = [text for text in said if text.startswith(subject)]
    assert begun
    for text in begun:
        for publication, term in enumerate(SUBJECTS[subject]):
            assert in_terms(text, bool(publication)).startswith((term, "FILE", "the file"))


def test_an_answer_is_the_column_of_the_options_and_a_table_of_a_publication():
    text = "answers['a] b'] must be a column of integers, floats or decimals, got 'a] b'"
    assert in_terms(text, False).startswith("--column must be a column of integers")
    assert in_terms(text, True) == text
