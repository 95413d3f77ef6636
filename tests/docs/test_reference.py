"""Does the reference have every public name, and of a class every public method and property?"""

from __future__ import annotations

import importlib.util
import inspect
import re
from functools import cached_property
from types import ModuleType

import pytest

import fastexp as fx
from fastexp import privacy
from tests.docs.page_code import DOCS
from tests.support.each import each

MODULES = {"fastexp": fx, "fastexp.privacy": privacy}
BLOCK = re.compile(r"currentmodule:: (\S+)\n\n\.\. autosummary::\n(.*?)\n```", re.DOTALL)
KINDS = (staticmethod, classmethod, property, cached_property)


def listed_names(text: str) -> list[object]:
    """What the autosummary lists of a page name, as objects."""
    return [
        getattr(MODULES[module], line.strip())
        for module, lines in BLOCK.findall(text)
        for line in lines.splitlines()
        if line.strip() and not line.strip().startswith(":")
    ]


def names_in_reference() -> list[object]:
    pages = sorted((DOCS / "reference").glob("*.md"))
    return [thing for page in pages for thing in listed_names(page.read_text())]


def counts(module: ModuleType, listed: list[object]) -> dict[str, int]:
    """How often each public name of a module is in a list, if not once."""
    times = {n: sum(thing is getattr(module, n) for thing in listed) for n in module.__all__}
    return {name: number for name, number in times.items() if number != 1}


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_in_the_reference_once(name):
    assert counts(MODULES[name], names_in_reference()) == {}


def test_a_missing_name_and_a_repeated_one_are_seen():
    text = (
        "currentmodule:: fastexp\n\n.. autosummary::\n   :toctree: api\n\n   Median\n   Mode\n```"
    )
    assert listed_names(text) == [fx.Median, fx.Mode]
    wrong = counts(fx, listed_names(text + "\n" + text))
    assert wrong["Median"] == 2
    assert wrong["Price"] == 0


def members_on_pages() -> ModuleType:
    """The site's module that lists the members of a class, which is no part of the package."""
    path = DOCS / "_ext" / "public_members.py"
    spec = importlib.util.spec_from_file_location("public_members", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CLASSES = {
    f"{place}.{name}": kind
    for place, module in MODULES.items()
    for name in module.__all__
    if inspect.isclass(kind := getattr(module, name))
}


@each("name", CLASSES)
def test_the_page_of_a_class_has_all_its_public_members(name):
    kind = CLASSES[name]
    statics = {key: inspect.getattr_static(kind, key) for key in dir(kind) if key[0] != "_"}
    public = {
        key
        for key, value in statics.items()
        if inspect.isfunction(value) or isinstance(value, KINDS)
    }
    listed = members_on_pages().public_members(*MODULES.values())[name]
    assert sorted(listed["methods"] + listed["attributes"]) == sorted(public)


def test_the_page_of_a_class_shows_each_listed_member():
    template = (DOCS / "_templates" / "autosummary" / "class.rst").read_text()
    for kind, directive in (("methods", "automethod"), ("attributes", "autoattribute")):
        loop = rf"for name in listed\.{kind} %\}}\n\.\. {directive}:: {{{{ objname }}}}\.{{{{ name"
        assert re.search(loop, template)


def test_the_citation_is_that_of_the_repository():
    page = (DOCS / "cite.md").read_text()
    cited = dict(re.findall(r"^ +(\w+) = \{+(.*?)\}+,$", page.partition("@inpro")[0], re.MULTILINE))
    known = dict(
        re.findall(r'^([\w-]+): "?(.*?)"?$', (DOCS.parent / "CITATION.cff").read_text(), re.M)
    )
    keys = {"title": "title", "version": "version", "license": "license"}
    assert {key: cited[key] for key in keys} == {key: known[name] for key, name in keys.items()}
