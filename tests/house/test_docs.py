"""Is everything public documented by the template, with parameters that exist?"""

from __future__ import annotations

import dataclasses
import inspect
import pydoc
import re
from pathlib import Path

import pytest

import fastexp as fx
from tests.doors.mechanisms import Mechanism
from tests.doors.parameters import documented, documented_table
from tests.support.each import each

CLASSES = {n for n in fx.__all__ if inspect.isclass(getattr(fx, n))}
PUBLIC = [n for n in fx.__all__ if n not in CLASSES or not issubclass(getattr(fx, n), Exception)]
ROOT = Path(__file__).parents[2]
SECTIONS = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
MECHANISMS = {n for n in CLASSES if issubclass(getattr(fx, n), Mechanism)}
LAWS = (
    *("FiniteLaw", "NoiseLaw", "PermuteAndFlipLaw", "TopKLaw", "JointTopKLaw"),
    "QuantilesLaw",
)


def documented_parameters(doc: str) -> dict[str, str]:
    """What a numpydoc section Parameters says of each name."""
    found = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", doc, re.MULTILINE | re.DOTALL
    )
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in found.group(1).splitlines() if found else []:
        if line[:1].strip():
            names = [n.strip(" *") for n in line.partition(" :")[0].split(",")]
            texts |= dict.fromkeys(names, "")
        texts |= {n: texts[n] + line.strip() for n in names if line[:1] == " "}
    return texts


def methods(cls: type) -> list[str]:
    """Its public methods, inherited ones too, except for those of other libraries' bases."""
    bases = [base for base in cls.__mro__ if base.__module__.partition(".")[0] == "fastexp"]
    named = {key: value for base in reversed(bases) for key, value in vars(base).items()}
    return [
        key
        for key, value in named.items()
        if key[0] != "_" and callable(getattr(value, "__func__", value))
    ]


def test_help_on_the_package_begins_with_what_one_does_with_it():
    """A table of all mechanisms and functions, before what pydoc lists by itself."""
    page = pydoc.render_doc(fx, renderer=pydoc.plaintext)
    table = page.partition("PACKAGE CONTENTS")[0]
    named = set(re.findall(r"\w+", table))
    functions = {name for name in PUBLIC if name not in CLASSES}
    assert {*MECHANISMS, *functions, "Query", "Session", "Budget", "Study"} - named == {
        "ScoredExponential"
    }
    assert table.index(">>> median") < table.index("Exponential")


def members() -> list[tuple[str, object]]:
    """Public functions, classes and methods."""
    out = []
    for name in PUBLIC:
        thing = getattr(fx, name)
        out.append((name, thing))
        if inspect.isclass(thing):
            out += [(f"{name}.{key}", getattr(thing, key)) for key in methods(thing)]
    return out


@each(("name", "thing"), members(), ids=[n for n, _ in members()])
def test_public_things_are_documented(name, thing):
    doc = inspect.getdoc(thing) or ""
    assert doc.split("\n")[0].endswith((".", ":")), "a summary line"
    described = documented_parameters(doc)
    assert all(described.values()), "names a parameter, and says nothing of it"
    accepted = set(inspect.signature(thing).parameters) - {"self", "cls"}
    if inspect.isclass(thing):
        if name not in MECHANISMS:
            return
        accepted = {field.name for field in dataclasses.fields(thing) if field.init}
    assert set(described) <= accepted, "describes what does not exist"
    if accepted and name != "ScoredExponential":  # the parameters are `from_score`'s
        assert accepted <= set(described), "does not describe a parameter"


@each("name", [*sorted(MECHANISMS - {"ScoredExponential"}), *LAWS])
def test_mechanisms_and_laws_follow_the_template(name):
    doc = inspect.getdoc(getattr(fx, name))
    assert {"Notes", "References", "Examples"} <= set(SECTIONS.findall(doc))
    assert "**Numerics**" in doc
    if name not in LAWS:
        assert "**Privacy**" in doc
        assert {"Parameters", "Raises"} <= set(SECTIONS.findall(doc))


@pytest.mark.slow
def test_every_shared_text_is_used_and_no_other_repeats_it():
    sources = [
        p.read_text()
        for p in (ROOT / "fastexp").rglob("*.py")
        if p != Path(documented_table.__file__)
    ]
    for title, table in documented_table.TABLES.items():
        for names, (_, *lines) in table.items():
            text = "\n".join(line.strip() for line in lines)
            bare = rf"^ +(\w+, )*{names}(, \w+)*$"
            assert any(re.search(bare, source, re.MULTILINE) for source in sources), (title, names)
            assert len(lines) == 1 or not any(text in flat(source) for source in sources), names


def flat(source: str) -> str:
    return "\n".join(line.strip() for line in source.splitlines())


def test_a_bare_name_gets_its_entry_and_nothing_else_changes():
    @documented
    class Thing:
        """It.

        Parameters
        ----------
        epsilon, widen
        threads : int
            Its own.
        """

        @staticmethod
        def verb():
            """Do.

            Raises
            ------
            RandomnessError
            """

    described = documented_parameters(inspect.getdoc(Thing))
    assert list(described) == ["epsilon", "widen", "threads"]
    assert described["epsilon"].startswith("Privacy parameter")
    assert described["threads"] == "Its own."
    assert "If the operating system" in inspect.getdoc(Thing.verb)
    with pytest.raises(KeyError, match="unheard"):
        documented(type("Other", (), {"__doc__": "It.\n\nParameters\n----------\nunheard\n"}))


def test_the_check_finds_a_missing_parameter():
    doc = "Do.\n\nParameters\n----------\na, b : int\n    X.\nc\n\nReturns\n-------\nd"
    assert documented_parameters(doc) == {"a": "X.", "b": "X.", "c": ""}


def test_the_readme_is_short_and_shows_code_early():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 80
    assert next(i for i, line in enumerate(lines, 1) if line.startswith(">>>")) <= 15
