"""A small data set, questions about it, and the core's answers, for the tests of every engine.

`DATA` has gaps of every kind, text and integer keys, groups that are not listed, listed groups
without records, groups of one record, and people with many rows in many groups.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pyarrow as pa

import fastexp as fx

ROWS = 600
# Listed, in an order that no sort gives. "Nowhere" and 404 have no records.
TOWNS = ["Oslo", "Nowhere", "Århus", "", "Bern", "日本", "Rome"]
ZIPS = [30, -7, 404, 2**62, 0, 12]
UNLISTED = {"town": ["Unlisted", "rome", "Oslo "], "zip": [31, -(2**62), 5]}
DRINKS = ["tea", "coffee", "milk"]
SCHEMA = pa.schema(
    {
        "town": pa.large_string(),
        "zip": pa.int64(),
        "rent": pa.float64(),  # without gaps
        "holes": pa.float64(),  # with nulls
        "nans": pa.float64(),  # with NaN
        "rooms": pa.int32(),  # with nulls
        "drink": pa.large_string(),  # with nulls, and what is not a candidate
        "person": pa.int64(),  # with nulls; most have several rows in several groups
        "alias": pa.large_string(),  # the same as text
    }
)
Data = dict[str, list[Any]]


def _random(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  # for test data


def _data() -> Data:
    rng = _random(6)
    here = {
        "town": [*[t for t in TOWNS if t != "Nowhere"] * 2, *UNLISTED["town"], None],
        "zip": [*[z for z in ZIPS if z != 404] * 2, *UNLISTED["zip"], None],
    }
    people = [rng.choice([None, *range(90)]) for _ in range(ROWS)]
    rent = [rng.choice([rng.uniform(0, 100), float(rng.randrange(100))]) for _ in range(ROWS)]
    data: Data = {
        "town": [rng.choice(here["town"]) for _ in range(ROWS)],
        "zip": [rng.choice(here["zip"]) for _ in range(ROWS)],
        "rent": rent,
        "holes": [None if rng.random() < 0.1 else x for x in rent],
        "nans": [float("nan") if rng.random() < 0.1 else x for x in rent],
        "rooms": [rng.choice([None, 1, 2, 2, 3, 3, 3, 4, 9]) for _ in range(ROWS)],
        "drink": [rng.choice([None, "tea", "coffee", "coffee", "cola"]) for _ in range(ROWS)],
        "person": people,
        "alias": [None if p is None else f"p{p}" for p in people],
    }
    for i, (town, zip_code) in enumerate([("Bern", 12), ("日本", 0)]):  # groups of one record
        for name, only in (("town", town), ("zip", zip_code)):
            keep = data[name].index(only)
            data[name] = [None if x == only and j != keep else x for j, x in enumerate(data[name])]
            data[name][i] = data[name][i] if i == keep else None
    return data


DATA = _data()
NONE: Data = {name: [] for name in DATA}
LISTS = {"town": TOWNS, "zip": ZIPS}


class Question(NamedTuple):
    """One release or sample, all but its randomness."""

    mechanism: Any
    column: str
    by: str
    how: dict[str, Any] = {}  # nan, person, max_groups, max_rows  # noqa: RUF012

    @property
    def groups(self) -> list[Any]:
        """The public list."""
        return LISTS[self.by]

    @property
    def label(self) -> str:
        """The label that all engines give it."""
        return f"{self.column} by {self.by}"

    @property
    def names(self) -> list[str]:
        """The columns that it needs."""
        person = self.how.get("person")
        return [self.column, self.by] + ([] if person is None else [person])


MEDIAN = fx.Median(epsilon=1.0, bounds=(0, 100), step=1)
FINE = fx.Median(epsilon=0.5, bounds=(0.0, 100.0))
QUANTILE = fx.Quantile(0.25, epsilon=2.0, bounds=(0.0, 100.0), step=0.5)
QUARTILES = fx.Quantiles([0.25, 0.5, 0.75], epsilon=2.0, bounds=(0.0, 100.0), step=0.5)
PRICE = fx.Price(epsilon=1.0, bounds=(1, 100), step=1)
DRINK = fx.MostCommon(epsilon=1.0, candidates=DRINKS)
ROOMS = fx.MostCommon(epsilon=1.0, candidates=[1, 2, 3, 4])

QUESTIONS = {
    "median": Question(MEDIAN, "rent", "town"),
    "median-zip": Question(MEDIAN, "rent", "zip"),
    "fine": Question(FINE, "rent", "zip"),
    "quantile": Question(QUANTILE, "rent", "town"),
    "quartiles": Question(QUARTILES, "rent", "town"),
    "price": Question(PRICE, "rent", "zip"),
    "integers": Question(QUANTILE, "rooms", "town", {"nan": "drop"}),
    "drop": Question(MEDIAN, "holes", "town", {"nan": "drop"}),
    "lower": Question(MEDIAN, "holes", "zip", {"nan": "lower"}),
    "upper-nan": Question(MEDIAN, "nans", "town", {"nan": "upper"}),
    "drop-nan": Question(MEDIAN, "nans", "zip", {"nan": "drop"}),
    "drink": Question(DRINK, "drink", "town"),
    "rooms": Question(ROOMS, "rooms", "zip"),
}
PERSONS = {
    "person": Question(MEDIAN, "rent", "town", {"person": "person"}),
    "person-2-3": Question(
        QUANTILE, "rent", "zip", {"person": "person", "max_groups": 2, "max_rows": 3}
    ),
    "alias": Question(
        FINE, "holes", "town", {"person": "alias", "max_groups": 3, "max_rows": 2, "nan": "drop"}
    ),
    "person-quartiles": Question(
        QUARTILES, "holes", "town", {"person": "person", "max_groups": 2, "nan": "drop"}
    ),
    "person-drink": Question(DRINK, "drink", "zip", {"person": "person", "max_groups": 2}),
}


def asked(data: Data, q: Question) -> dict[str, Any]:
    """The arguments of the core's verbs."""
    how = dict(q.how)
    if "person" in how:
        how["person"] = data[how["person"]]
    return {"by": data[q.by], "groups": q.groups, **how}


def core_release(data: Data, q: Question, key: fx.ReleaseKey, label: str | None = None) -> list:
    """The core's answers, of Python's own lists."""
    found = q.mechanism.release(data[q.column], key=key, label=label or q.label, **asked(data, q))
    return list(found) if isinstance(found, list) else found.tolist()


def core_sample(data: Data, q: Question, rng: int = 1, size: int | None = None) -> list:
    """The core's draws."""
    return q.mechanism.sample(data[q.column], size, rng=rng, **asked(data, q)).tolist()


def shuffled(data: Data = DATA, seed: int = 0) -> Data:
    """The same rows in another order."""
    order = _random(seed).sample(range(len(data["town"])), len(data["town"]))
    return {name: [column[i] for i in order] for name, column in data.items()}


def table(data: Data = DATA, chunks: int = 1) -> pa.Table:
    """As a pyarrow table with so many unequal chunks; types do not depend on the rows."""
    whole = pa.table(data, schema=SCHEMA)
    edges = [0, *sorted(_random(chunks).sample(range(whole.num_rows), chunks - 1))]
    parts = [
        whole.slice(a, b - a) for a, b in zip(edges, [*edges[1:], whole.num_rows], strict=True)
    ]
    return pa.concat_tables(parts)


def neighbors(q: Question) -> list[Data]:
    """Data sets that differ in which groups exist: no row, only unlisted rows, one group."""
    by = DATA[q.by]
    worlds = [NONE]
    for listed in ([], [q.groups[0]], [q.groups[-1], q.groups[2]]):
        rows = [i for i, group in enumerate(by) if group not in q.groups or group in listed]
        worlds.append({name: [column[i] for i in rows] for name, column in DATA.items()})
    return worlds


LIMITS = ("person", "max_groups", "max_rows", "membership")


def query(q: Question, **change: Any) -> tuple[fx.Query, dict[str, Any]]:
    """The query of a question; and what is left for its call."""
    how = {**q.how, **change}
    limits = {name: how.pop(name) for name in LIMITS if name in how}
    by, groups = how.pop("by", q.by), how.pop("groups", None)
    groups = q.groups if groups is None else groups
    return fx.Query(by=by, groups=groups, **limits), how


def release(frame: Any, q: Question, name: str | None = None, **change: Any) -> Any:
    """A query's answers, in a column called as that of the records."""
    asked, how = query(q, **change)
    return asked.release(frame, {name or q.column: (q.mechanism, q.column)}, **how)


def sample(frame: Any, q: Question, name: str | None = None, **change: Any) -> Any:
    """A query's draws."""
    asked, how = query(q, **change)
    return asked.sample(frame, {name or q.column: (q.mechanism, q.column)}, **how)
