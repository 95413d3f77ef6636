"""Does the search of the built site find the right page first, and entries of the API last?

Sphinx's own scripts answer, in node, with the order of `docs/_ext/search_order.js`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.docs.page_code import DOCS

SITE = DOCS / "_build" / "html"
NODE = shutil.which("node")
SCRIPT = Path(__file__).with_name("search.js")
# What is typed, and the page that is wanted first.
FIRST = {
    "median by group": "howto/medians-by-group",
    "choose epsilon": "howto/choose-epsilon",
    "budget": "tutorial/budgets",
    "docker": "howto/images-and-batch-systems",
    "FAQ": "faq",
    "spark": "howto/on-a-cluster",
    "pandas": "howto/medians-by-group",
    "private list of groups": "tutorial/private-groups",
    "error message": "reference/errors/index",
    "digits": "howto/numbers-without-bounds",
    "bounds unknown": "howto/numbers-without-bounds",
    "top k": "howto/top-k",
    "deciles": "howto/many-quantiles",
    "percentile": "howto/many-quantiles",
    "cron": "howto/scheduling",
    "airflow": "howto/scheduling",
    "guarantee publication": "howto/state-the-guarantee",
    "date column": "howto/days-and-months",
    "month": "howto/days-and-months",
    "dask": "howto/on-a-cluster",
    "audit": "howto/audit",
    "publication": "howto/publication",
    "reproducible seed": "reference/formats",
    "which epsilon": "decide/epsilon",
    "memory": "howto/large-files",
    "label used up": "faq",
    "private median": "tutorial/medians",
    "slow first call": "faq",
    "limits": "trust/limits",
    "glossary": "decide/glossary",
    # An identifier, exactly, is its entry.
    "epsilon_for": "reference/api/fastexp.epsilon_for",
    "BudgetExceeded": "reference/api/fastexp.BudgetExceeded",
}
WORDS = [query for query, page in FIRST.items() if "/api/" not in page]


def results(site: Path, queries: list[str]) -> list[list[dict[str, str]]]:
    """What the search of a site gives for each query, best first."""
    assert NODE is not None
    run = subprocess.run(
        [NODE, str(SCRIPT), str(site)],
        input=json.dumps(queries),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(run.stdout)


@cache
def found() -> dict[str, list[dict[str, str]]]:
    """The results of all queries in the built site."""
    return dict(zip(FIRST, results(SITE, list(FIRST)), strict=True))


pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(NODE is None, reason="needs node"),
    pytest.mark.skipif(not (SITE / "searchindex.js").is_file(), reason="needs the built site"),
]


@pytest.mark.parametrize("query", FIRST)
def test_the_right_page_is_first(query):
    pages = [result["page"] for result in found()[query]]
    assert pages[:1] == [FIRST[query]], pages[:5]


@pytest.mark.parametrize("query", WORDS)
def test_entries_of_the_api_come_after_all_pages(query):
    entries = [is_entry(result) for result in found()[query]]
    assert entries == sorted(entries)


def is_entry(result: dict[str, str]) -> bool:
    return result["described"] is not None or "/api/" in result["page"]


def test_each_line_of_words_is_of_a_page():
    order = (DOCS / "_ext" / "search_order.js").read_text()
    lines = re.findall(r'^    "([\w/-]+)": "[^"]+",$', order, re.MULTILINE)
    assert len(lines) > 10
    assert [page for page in lines if not (DOCS / f"{page}.md").is_file()] == []


def test_another_title_is_noticed(tmp_path):
    """Here that of the errors, in the index."""
    for name in ("search.html", "_static/searchtools.js", "_static/language_data.js"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(SITE / name, tmp_path / name)
    index = (SITE / "searchindex.js").read_text()
    assert '"Error messages"' in index
    (tmp_path / "searchindex.js").write_text(index.replace('"Error messages"', '"Another title"'))
    ((first, *_),) = results(tmp_path, ["error message"])
    assert first["page"] != FIRST["error message"]
