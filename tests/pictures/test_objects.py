"""Do promises, budgets, queries and studies show what is public of them, and nothing else?"""

from __future__ import annotations

import io
import pickle
from html import escape

import pytest
from rich.console import Console

import fastexp as fx

SECRET = 7341.25  # a record, which nothing may show
MEDIAN = fx.Median(epsilon=0.1, bounds=(0, 10_000))


@pytest.fixture
def budget():
    """One that paid for a release of the secret."""
    budget = fx.Budget(epsilon=1.0, delta=1e-6)
    MEDIAN.release([SECRET] * 9, budget=budget)
    return budget


def study(**changes):
    settings = {"data": {"name": "values", "values": [SECRET, 1.0]}, "bounds": (0, 10_000)}
    return fx.Study(name="one", mechanisms=["median"], epsilon=[0.5, 1.0], **settings, **changes)


def facts(thing):
    """The facts on a card by their names, as rich prints them and as a page has them."""
    out = io.StringIO()
    Console(file=out, width=300).print(thing)
    card = thing._card()
    lines = dict(line.split("  ", 1) for line in out.getvalue().splitlines()[1:] if "  " in line)
    page = thing._repr_html_()
    for name, text in lines.items():
        assert f">{name}</th>" in page
        assert f">{escape(text.strip())}</td>" in page
    assert card.title in out.getvalue()
    assert str(SECRET) not in out.getvalue() + page + repr(thing)
    return {name: text.strip() for name, text in lines.items()}


def test_a_promise():
    assert facts(MEDIAN.guarantee) == {
        "epsilon": "0.1",
        "delta": "0",
        "bounded range": "0.1",
        "rho": "0.00125",
        "neighbors": "add-remove",
        "assumes": MEDIAN.guarantee.assumes,
    }
    loose = fx.Guarantee(1 / 3, None, None, None, 1e-6, "nothing")
    shown = facts(loose)
    assert (shown["epsilon"], shown["delta"]) == ("0.333334", "1e-6")  # never better than it is
    assert shown["rho"] == shown["bounded range"] == "not promised"
    assert pickle.loads(pickle.dumps(loose)) == loose


def test_a_budget(budget, tmp_path):
    assert facts(budget) == {
        "epsilon": "1.0",
        "delta": "1e-06",
        "neighbors": "add-remove",
        "spent": "0.1",
        "remaining": "0.9",
        "remaining delta": "1e-06",
        "charges": "1",
    }
    path = tmp_path / "budget.json"
    in_file = fx.Budget.file(path, rho=0.5)
    assert facts(in_file)["rho"] == "0.5"
    path.write_text("damaged")
    assert facts(in_file)["file"] == "cannot be read"


def test_a_query():
    query = fx.Query(by=["a", "b"], groups=[(1, 2), (3, 4)], person="p", max_rows=3)
    assert facts(query) == {
        "by": "a, b",
        "groups": "2",
        "person": "p",
        "groups of a person, at most": "1",
        "rows of a person in a group, at most": "3",
        "membership": "private",
    }
    assert facts(fx.Query())["person"] == "each row is one"
    assert facts(fx.Query(by="a", groups="from-data"))["groups"] == "from the data"


def test_a_study_names_its_data_and_shows_none():
    assert facts(study(question="<why>?", datasets=2)) == {
        "question": "<why>?",
        "data": "values",
        "n": "2",
        "mechanisms": "median",
        "epsilon": "0.5, 1",
        "figures": "error",
        "datasets": "2",
        "draws": "100",
    }
    assert repr(study()) == (
        "<Study 'one': data values; n 2; mechanisms median; epsilon 0.5, 1; figures error; "
        "datasets 1,000; draws 100>"
    )


def test_a_card_that_tells_is_noticed(monkeypatch):
    monkeypatch.setattr(fx.Query, "__repr__", lambda _: f"Query({SECRET})")
    with pytest.raises(AssertionError):
        facts(fx.Query())
