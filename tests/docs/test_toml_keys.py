"""Does the reference of TOML files have every key that their parsers take, and no other?"""

from __future__ import annotations

import inspect
import re

import fastexp as fx
from tests.docs.page_code import DOCS
from tests.doors.cli import publication
from tests.doors.studies import data_sources, design, registry
from tests.support.each import each

PAGE = (DOCS / "reference" / "toml.md").read_text()
CODE = re.compile(r"`(\w[\w-]*)")


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the tables below a heading, without those above the rules."""
    (text,) = re.findall(rf"^### {re.escape(heading)}\n(.*?)(?=^##|\Z)", page, re.M | re.S)
    lines = re.findall(r"^\| (`.*) \|$", text, re.MULTILINE)
    return [line.split(" | ") for line in lines]


def keys(page: str, heading: str) -> list[str]:
    return [cells[0].strip("`") for cells in rows(page, heading)]


def parameters(kind: object) -> list[str]:
    return [name for name in inspect.signature(kind).parameters if name != "mechanism"]


def test_the_keys_of_a_publication():
    assert sorted(keys(PAGE, "Top level")) == sorted(publication.KEYS)
    assert sorted(keys(PAGE, "`[query]`")) == sorted(
        [*parameters(fx.Query), *publication.OF_PRIVATE]
    )


@each("word", publication.MECHANISMS)
def test_the_keys_of_an_answer(word):
    described = {
        key.strip("`")
        for key, mechanisms, *_ in rows(PAGE, "`[answers.NAME]`")
        if mechanisms == "all" or word in mechanisms.split(", ")
    }
    row, _ = publication.MECHANISMS[word]
    assert described == {*publication.OF_ANSWERS, *parameters(row.kind)}


def test_the_settings_of_a_study():
    assert sorted(keys(PAGE, "Settings")) == sorted(design.setting_names())


def test_the_sources_of_data():
    names = keys(PAGE, "`[[data]]`")
    shared = {*data_sources.OF_SCENARIOS, *data_sources.OF_FUNCTIONS}
    settings = {"name", "file", "digest", *shared, *data_sources.OF_RECORDS}
    assert sorted(names) == sorted([*settings, *data_sources.SOURCES])
    cells = {row[0].strip("`"): row[1] for row in rows(PAGE, "`[[data]]`")}
    for name, source in data_sources.SOURCES.items():
        known = [k if value is None else f"{k} = {value}" for k, value in source.defaults.items()]
        assert cells[name] == ", ".join(f"`{text}`" for text in known)


def test_the_mechanisms_of_a_study():
    table = {cells[0].strip("`"): cells for cells in rows(PAGE, "`[[mechanisms]]`")}
    assert sorted(table) == sorted(registry.MECHANISMS)
    for name, row in registry.MECHANISMS.items():
        *_, data, cell = table[name]
        listed = re.sub(r" \(.*?\)", "", cell)
        assert sorted(CODE.findall(listed)) == sorted(row.parameters)
        assert data.endswith(registry.SUBJECTS[row.study].takes)


def test_a_key_that_is_missing_is_seen():
    shorter = "\n".join(line for line in PAGE.splitlines() if not line.startswith("| `label` "))
    assert "label" in keys(PAGE, "Top level")
    assert "label" not in keys(shorter, "Top level")
