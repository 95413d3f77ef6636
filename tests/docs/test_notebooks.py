"""Is the notebook of a tutorial complete by itself, and is one that differs noticed?"""

from __future__ import annotations

import json
import runpy
import shutil

import pytest

from tests.docs.notebooks import TUTORIALS, mistakes, shown
from tests.docs.page_code import DOCS

PAGE = """# Title

{nb-download}`Download as a notebook <page.ipynb>`. Save
{download}`a.csv <a.csv>` in the same folder.

:::{note}
See {class}`~fastexp.Median`, {meth}`a law
<fastexp.Law>` and [here](other.md#there), not [there](https://there.org).
:::

```{code-cell}
a = 1
```

```{code-cell}
:tags: [remove-cell]
assert a == 1
```

% answers vary
"""
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": PAGE.partition("```")[0]},
        {"cell_type": "code", "metadata": {}, "source": ["a = 1"]},
        {"cell_type": "code", "metadata": {"tags": ["remove-cell"]}, "source": "assert a == 1"},
        {"cell_type": "markdown", "metadata": {}, "source": ["% answers vary\n", "Then text."]},
    ]
}


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_cells_that_are_shown_run_without_the_hidden_ones(page, tmp_path, monkeypatch):
    shutil.copytree(DOCS / "data", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = {"__name__": "__main__"}
    for cell in shown(page.read_text(encoding="utf-8")):
        exec(compile(cell.text, f"{page.name}:{cell.line}", "exec"), names)  # noqa: S102  # pages are ours


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_every_tutorial_offers_its_notebook(page):
    offer = f"{{nb-download}}`Download as a notebook <{page.stem}.ipynb>`"
    assert page.read_text(encoding="utf-8").count(offer) == 1


def test_a_notebook_is_its_page_and_a_mistake_in_it_is_noticed(tmp_path):
    tidy = runpy.run_path(str(DOCS / "_ext" / "notebooks.py"))["tidy"]
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert mistakes(tmp_path, [page]) == ["page.md: 0 notebooks"]
    place = tmp_path / "_downloads" / "0f" / "page.ipynb"
    place.parent.mkdir(parents=True)
    made = tidy(NOTEBOOK)
    place.write_text(json.dumps(made))
    assert mistakes(tmp_path, [page]) == []
    text, code, then = (cell["source"] for cell in made["cells"])
    assert text.endswith("\n\nSee `Median`, `a law` and here, not [there](https://there.org).")
    assert (code, then) == (["a = 1"], "Then text.")
    place.write_text(json.dumps(NOTEBOOK))
    assert mistakes(tmp_path, [page]) == [
        "page.md: other code than the page",
        *(f"page.md: {mark}" for mark in ("{nb-download}`", "{download}`", ":::", "{class}`")),
        *(f"page.md: {mark}" for mark in ("{meth}`", ".md#", ":::", "% ")),
    ]
