"""Is everything public documented by the template, with parameters that exist?"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import fastexp as fx

PUBLIC = [n for n in fx.__all__ if not inspect.isclass(getattr(fx, n)) or "Error" not in n]
ROOT = Path(__file__).parent.parent
SECTIONS = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def documented_parameters(doc: str) -> set[str]:
    """The names in a numpydoc section Parameters."""
    found = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", doc, re.MULTILINE | re.DOTALL
    )
    names = (
        re.findall(r"^(?:\*\*)?([\w, ]+?)(?: :.*)?$", found.group(1), re.MULTILINE) if found else []
    )
    return {n.strip() for line in names for n in line.split(",")}


def members() -> list[tuple[str, object]]:
    """Public functions, classes and methods."""
    out = []
    for name in PUBLIC:
        thing = getattr(fx, name)
        out.append((name, thing))
        if inspect.isclass(thing):
            for key, value in vars(thing).items():
                if not key.startswith("_") and callable(getattr(value, "__func__", value)):
                    out.append((f"{name}.{key}", getattr(thing, key)))
    return out


@pytest.mark.parametrize(("name", "thing"), members(), ids=[n for n, _ in members()])
def test_public_things_are_documented(name, thing):
    doc = inspect.getdoc(thing) or ""
    assert doc.split("\n")[0].endswith((".", ":")), "a summary line"
    if inspect.isclass(thing):
        return
    accepted = set(inspect.signature(thing).parameters) - {"self", "cls"}
    described = documented_parameters(doc)
    assert described <= accepted, "describes what does not exist"
    if accepted:
        assert accepted <= described, "does not describe a parameter"


MECHANISMS = (
    "Exponential",
    "MostCommon",
    "PermuteAndFlip",
    "RandomizedResponse",
    "LaplaceMedian",
    "ReportNoisyMax",
    "SmoothSensitivityMedian",
    "TopK",
)
LAWS = ("FiniteLaw", "NoiseLaw", "PermuteAndFlipLaw", "TopKLaw")


@pytest.mark.parametrize("name", [*MECHANISMS, *LAWS])
def test_mechanisms_and_laws_follow_the_template(name):
    doc = inspect.getdoc(getattr(fx, name))
    assert {"Notes", "References", "Examples"} <= set(SECTIONS.findall(doc))
    assert "**Numerics**" in doc
    if name not in LAWS:
        assert "**Privacy**" in doc
        assert {"Parameters", "Raises"} <= set(SECTIONS.findall(doc))


def test_the_check_finds_a_missing_parameter():
    assert documented_parameters(
        "Do.\n\nParameters\n----------\na, b : int\n    X.\n\nReturns\n-------\nc"
    ) == {"a", "b"}


def test_the_readme_is_short_and_shows_code_early():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 115
    assert next(i for i, line in enumerate(lines, 1) if line.startswith(">>>")) <= 15
