"""Are answers by group those of their mechanisms, for every frame, person and list of groups?"""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import itertools
import json
import pickle
from collections.abc import Iterator
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import fastexp as fx

from . import oracle
from .frames import files, frames, told
from .oracle import ADD_REMOVE, REPLACE
from .table import MECHANISMS
from .table import Row as Case

GRID: dict[str, Any] = {"bounds": (0, 100), "step": 1}
SURE = {"m": (fx.Median(1000.0, **GRID), "v")}  # it answers with the median
SMALL = {"m": (fx.Median(1.0, **GRID), "v")}
TOWNS = ["Bern", "Nice", "Rome"]
ROWS = [row for row in MECHANISMS if row.kind in ("labels", "records")]


def rents(n: int = 300) -> dict[str, list[Any]]:
    """Return invented rows: groups by two columns, persons of several rows, missing values."""
    rng = np.random.default_rng(3)
    columns: dict[str, list[Any]] = {
        "town": rng.choice(["Bern", "Köln", "Rome"], n).tolist(),
        "rooms": rng.integers(1, 4, n).tolist(),
        "owner": rng.integers(0, n // 3, n).tolist(),
        "rent": (rng.integers(0, 200, n) / 2).tolist(),
    }
    for i in range(0, n, 29):
        columns["rent"][i], columns["town"][n - 1 - i] = None, None
    return columns


ANSWERS = {
    "median": (fx.Median(1.0, **GRID), "rent"),
    "high": (fx.Quantile(0.9, 0.5, neighbors=ADD_REMOVE, **GRID), "rent"),
    "parts": (fx.Quantiles([0.25, 0.5, 0.75], 2.0, **GRID), "rent"),
    "common": (fx.MostCommon(1.0, [1, 2, 3]), "rooms"),
    "price": (fx.Price(1.0, **GRID), "rent"),
}
QUERIES = {
    "all": fx.Query(),
    "towns": fx.Query("town", TOWNS),
    "pairs": fx.Query(["town", "rooms"], list(itertools.product(TOWNS, [1, 2]))),
    "owners": fx.Query("town", TOWNS, "owner", 2, 1),
    "owners of pairs": fx.Query(["rooms", "town"], [(2, "Rome"), (1, "Bern")], "owner", 1, 2),
    "private": fx.Query("town", fx.PrivateGroups(1e-3, 1.0), "owner", 2),
    "private rows": fx.Query(["town", "rooms"], fx.PrivateGroups(1e-3, 0.5)),
}
HASH = "edbddfe00390f829"


def test_frames_are_the_same() -> None:
    """Every kind of frame and file has the same answers, by one pinned hash."""
    columns, hashes = rents(), {}
    for name, frame in itertools.chain(frames(columns), files(columns)):
        found = []
        for query in QUERIES.values():
            if name == "reader" and found:  # it can be read once
                break
            answers = told(query.sample(frame, ANSWERS, nan="drop", rng=5))
            found.append(answers | {key: list(map(str, answers[key])) for key in query.by})
        hashes[name] = found
    first = hashes["dict"]
    for name, found in hashes.items():
        assert found == first[: len(found)], name
    assert hashlib.blake2b(json.dumps(first).encode(), digest_size=8).hexdigest() == HASH


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_groups_are_answered_as_their_records_alone(row: Case) -> None:
    """A group has the draws of its mechanism for its records in the group's stream."""
    mechanism, data = row.make(), [row.told(data) for data in row.data]
    keys = [i for i, records in enumerate(data) for _ in records]
    records = [x for some in data for x in some]
    order = np.random.default_rng(2).permutation(len(keys)).tolist()
    frame = {"g": [keys[i] for i in order], "v": [records[i] for i in order]}
    query, asked = fx.Query("g", range(len(data))), {"x": (mechanism, "v")}
    found = query.sample(frame, asked, rng=7)["x"]
    doors = itertools.chain(frames(frame), files(frame))
    for kind, same in itertools.islice(doors, ROWS.index(row) % 5, None, 5):
        assert told(query.sample(same, asked, rng=7))["x"] == found.tolist(), kind
    for g, alone in enumerate(data):
        assert np.array_equal(found[g], mechanism.sample(alone, rng=7, streams=[g])), g
    if row.kind == "records" and not isinstance(mechanism, fx.Quantiles):
        several = query.sample(frame, {"x": (mechanism, "v"), "y": (mechanism, "v")}, rng=7)
        assert np.array_equal(several["x"], found)  # whatever else is asked
    released = query.release(frame, asked)["x"]
    assert len(released) == len(data)
    if row.kind == "labels":
        assert set(released) <= set(mechanism.candidates)


def test_listed_groups_are_all_answered_in_their_order() -> None:
    frame = {"k": ["b", "x", None, "a", "b"], "v": [1, 9, 9, 5, 1], "u": [2, 9, 9, 6, 2]}
    for groups in (["c", "b", "a"], np.array(["c", "b", "a"]), pd.Series(["c", "b", "a"])):
        found = fx.Query("k", groups).release(frame, SURE | {"u": (SURE["m"][0], "u")})
        assert found["k"] == ["c", "b", "a"]
        assert found["m"].tolist()[1:] == [1, 5]
        assert found["u"].tolist()[1:] == [2, 6]
    wide = fx.Query(["k", "u"], [["b", 2], ("b", 6), ("a", 6)]).release(frame, SURE)
    assert wide["m"].tolist()[::2] == [1, 5]
    for table in (
        pa.table({"k": ["a", "b"]}),
        pl.DataFrame({"other": ["a", "b"]}),
        {"k": ["a", "b"]},
    ):
        assert fx.Query("k", table) == fx.Query("k", ["a", "b"])
    fine = np.array([5, 6], "M8[ns]")  # whose own list is one of integers
    assert fx.Query("k", fine).release({"k": fine, "v": [5, 1]}, SURE)["m"].tolist() == [5, 1]
    assert fx.Query().release(frame, SURE)["m"].tolist() == [5]
    assert fx.Query().release({"v": []}, SURE)["m"].size == 1
    with pytest.warns(fx.PrivacyWarning, match="which groups exist"):
        found = fx.Query("k", "from-data").release(frame, SURE)
    assert (found["k"], found["m"].tolist()) == (["a", "b", "x"], [5, 1, 9])


def test_many_rows_are_counted_where_they_are_equal() -> None:
    rng, times, listed = np.random.default_rng(4), 46, [1, 0, 2]
    groups, values = rng.integers(0, 4, 1 << 20), rng.integers(0, 100, 1 << 20) / 2
    values[:1000] = np.nan
    table = pa.table({"g": groups.astype("i1"), "v": pa.array(values, from_pandas=True)})
    query = fx.Query(by="g", groups=listed)
    high, common = fx.Quantile(0.3, 2e-6, **GRID), fx.MostCommon(1e-4, [1, 0])
    answers = {"high": (high, "v"), "common": (common, "g")}
    many = pa.RecordBatchReader.from_batches(table.schema, table.to_batches() * times)
    found = query.sample(many, answers, rng=5, nan="drop")["high"].to_pylist()
    for i, g in enumerate(listed):
        records = np.tile(values[(groups == g) & ~np.isnan(values)], times)
        assert found[i] == high.sample(records, rng=5, streams=[i])


def test_missing_records_by_each_answer() -> None:
    frame = {"v": [None, 3, float("nan"), 5, 5], "p": [1, 2, 3, 4, 5]}
    for nan, answer in (("drop", 5), ("lower", 3), ("upper", 5)):
        assert fx.Query().release(frame, SURE, nan=nan)["m"].tolist() == [answer]
        assert fx.Query(person="p").release(frame, SURE, nan={"m": nan})["m"].tolist() == [answer]
    with pytest.raises(fx.errors.InvalidRecords, match="column 'v' must not be missing"):
        fx.Query().release(frame, SURE)
    nobodys = {"v": [None, 5, 5], "p": [None, 1, 2]}
    assert fx.Query(person="p").release(nobodys, SURE)["m"].tolist() == [5]
    elsewhere = {"k": ["b", "a", None, "a", "a"], **frame}
    assert fx.Query("k", ["a"]).release(elsewhere, SURE)["m"].tolist() == [5]  # of no listed group
    votes = fx.MostCommon(1000.0, ["a", "b"])
    for kind, some in frames({"v": ["a"] + [None] * 60 + ["b", "b"]}):
        assert told(fx.Query().release(some, {"c": (votes, "v")}))["c"] == ["b"], kind


def test_accuracy() -> None:
    """Its figures are those of the law of the records that count."""
    frame = {name: values[:120] for name, values in rents().items()}
    asked = {name: ANSWERS[name] for name in ("median", "common", "price")}
    query = fx.Query("town", TOWNS)
    found = query.accuracy(frame, asked, nan="drop", probability=0.9)
    at = itertools.count()
    for town, (name, (mechanism, column)) in itertools.product(TOWNS, asked.items()):
        pairs = zip(frame["town"], frame[column], strict=True)
        records = [x for key, x in pairs if key == town and x is not None]
        row = {key: values[i] for i in [next(at)] for key, values in found.items()}
        assert (row["town"], row["answer"], row["n"]) == (town, name, len(records))
        figures = [float("nan")] * 3
        if records and name == "median":
            law = mechanism.law(records)
            figures = [law.truth, law.expected_error(), law.error_quantile(0.9)]
        elif records:
            law = mechanism.law(records)
            figures = [float("nan"), law.expected_loss(), law.loss_quantile(0.9)]
        assert row["measure"] == ("error" if name == "median" else "loss")
        assert np.array_equal([row[x] for x in ("truth", "expected", "quantile")], figures, True)
    for kind, same in frames(frame):
        assert told(query.accuracy(same, asked, nan="drop"))["n"] == found["n"].tolist(), kind
    far = {"k": ["a", "b"], "v": [5, None]}  # no error is from an infinite truth
    some = fx.Query("k", ["a", "b"]).accuracy(far, SURE, nan="upper")
    assert some["n"].tolist() == [1, 1]
    assert np.isnan([some["expected"], some["quantile"]]).tolist() == [[False, True]] * 2
    limited = fx.Query("town", TOWNS, "owner").accuracy(frame, asked, nan="drop", rng=1)
    assert 0 < limited["n"].sum() < found["n"].sum()
    coins = fx.PrivateGroups(1e-3, 0.3)
    shown = fx.Query("town", coins).accuracy(frame, asked, nan="drop")
    counts = [frame["town"].count(town) for town in shown["town"][::3]]
    assert shown["appears"][::3].tolist() == coins.law(counts).tolist()
    with pytest.raises(fx.errors.ParameterError, match="no exact law"):
        query.accuracy(frame, {"parts": ANSWERS["parts"]}, nan="drop")
    with pytest.raises(fx.errors.ParameterError, match="column of figures: answer"):
        fx.Query("n", [1]).accuracy({"n": [1], "v": [1]}, SURE)


# Types


INSTANT = "2024-01-02T03:04:05"
VALUES: dict[str, tuple[Any, Any, str]] = {  # a key that is listed, another one, its kind
    "integers": (7, 8, "integers"),
    "beyond 2**53": (2**53 + 1, 2**53, "integers"),
    "text": ("ä", "a", "text"),
    "booleans": (True, False, "booleans"),
    "dates": (np.datetime64("2024-01-02").item(), np.datetime64("2024-01-03").item(), "dates"),
    "timestamps": (
        np.datetime64(INSTANT).item(),
        np.datetime64("2024-01-02T00", "s").item(),
        "timestamps",
    ),
    "durations": (
        pd.Timedelta(hours=1).to_pytimedelta(),
        pd.Timedelta(0).to_pytimedelta(),
        "durations",
    ),
    "floats": (1.5, 2.5, ""),
    "bytes": (b"a", b"b", ""),
    "lists": ([1], [2], ""),
}
TYPES = {
    "integers": [pa.int8(), pa.uint16(), pa.int64(), pa.uint64(), pa.decimal128(20, 0)],
    "beyond 2**53": [pa.int64(), pa.uint64(), pa.decimal128(38, 0)],
    "text": [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
    ],
    "booleans": [pa.bool_()],
    "dates": [pa.date32(), pa.date64()],
    "timestamps": [pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")],
    "durations": [pa.duration(unit) for unit in ("s", "ms", "us", "ns")],
    "floats": [pa.float32(), pa.float64(), pa.decimal128(9, 2)],
    "bytes": [pa.binary(), pa.binary(1)],
    "lists": [pa.list_(pa.int64())],
}


def columns_of(name: str) -> Iterator[tuple[str, Any, bool]]:
    """Yield twice the listed key, the other one, a missing one; whether its type is known."""
    one, other, _ = VALUES[name]
    values = [one, other, None, one]
    yield "list", values, False
    yield "pandas", pd.Series(values, dtype=object), False
    for kind in TYPES[name]:
        plain = pa.types.is_decimal(kind) and name == "floats"
        array = pa.array([2, 3, None, 2] if plain else values, kind)
        yield str(kind), array, True
        if not pa.types.is_dictionary(kind) and kind not in (
            pa.string_view(),
            pa.list_(pa.int64()),
        ):
            yield f"{kind} coded", array.dictionary_encode(), True
        yield f"{kind} in chunks", pa.chunked_array([array[:1], array[1:1], array[1:]]), True
    if name in ("dates", "timestamps", "durations"):
        yield "NumPy", np.array(values, "m8[us]" if name == "durations" else "M8[us]"), True


@pytest.mark.parametrize("name", VALUES)
def test_types_of_keys(name: str) -> None:
    """As a group, a person and a candidate each type is what Python's objects are, or refused."""
    one, other, kind = VALUES[name]
    votes = {} if not kind else {"c": (fx.MostCommon(1000.0, [other, one]), "k")}
    for form, column, is_typed in columns_of(name):
        if name == "dates" and form == "NumPy":
            continue  # NumPy has no dates beside timestamps
        for frame in (
            {"k": column, "v": [5, 1, 1, 5]},
            pa.table({"k": column, "v": [5, 1, 1, 5]}) if is_typed and form != "NumPy" else None,
        ):
            if frame is None:
                continue
            if not kind:
                budget = fx.Budget(9000.0)
                for query in (fx.Query(person="k"), fx.Query("k", [1]), fx.Query("k", ["a"])):
                    with pytest.raises(fx.errors.ParameterTypeError, match="must"):
                        query.release(frame, SURE, budget=budget)
                assert budget.spent == (0.0 if is_typed else 3000.0), form
                continue
            assert told(fx.Query("k", [one]).release(frame, SURE))["m"] == [5], form
            assert told(fx.Query().release(frame, votes))["c"] == [one], form
            alone = fx.Query(person="k").sample(frame, {"c": votes["c"]}, rng=1)
            assert told(alone)["c"] in ([0], [1])
            for another, (wrong, _, other_kind) in VALUES.items():
                if other_kind and other_kind != kind:
                    with pytest.raises(fx.errors.ParameterTypeError, match=r"must be|convert"):
                        fx.Query("k", [wrong]).release(frame, SURE)
                    assert another != name


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(),
        pa.uint64(),
        pa.float16(),
        pa.float32(),
        pa.float64(),
        pa.decimal128(9, 2),
        pa.null(),
    ],
    ids=str,
)
def test_types_of_records(kind: Any) -> None:
    values = [None] * 4 if kind == pa.null() else [5, 7, None, 7]
    column = pa.array(
        [None if x is None else np.float16(x) for x in values] if kind == pa.float16() else values,
        kind,
    )
    for frame in (
        {"v": column},
        pa.table({"v": column}),
        pa.table({"v": pa.chunked_array([column[:2], column[2:]])}),
    ):
        found = told(fx.Query().release(frame, SURE, nan="drop"))["m"]
        assert found == [7] or kind == pa.null()


@pytest.mark.parametrize(
    "name", ["text", "booleans", "dates", "timestamps", "durations", "bytes", "lists"]
)
def test_records_that_are_no_numbers(name: str) -> None:
    for form, column, is_typed in columns_of(name):
        budget = fx.Budget(1000.0)
        frame = pa.table({"v": column}) if is_typed and form != "NumPy" else {"v": column}
        with pytest.raises(fx.errors.ParameterTypeError, match="column 'v' must"):
            fx.Query().release(frame, SURE, budget=budget)
        assert budget.spent == (0.0 if is_typed else 1000.0), form


# Promises


def test_totals() -> None:
    """Of max_groups groups with max_rows records each; of twice as many for who is replaced."""
    here, there = (fx.Median(0.5, neighbors=x, **GRID) for x in (ADD_REMOVE, REPLACE))
    for groups, rows, person in itertools.product((1, 3), (1, 4), (None, "p")):
        query = fx.Query("k", ["a"], person, groups, rows)
        for mechanism, relation, steps in (
            (here, ADD_REMOVE, 1),
            (here, REPLACE, 2),
            (there, REPLACE, 2),
            (fx.Price(0.5, **GRID), REPLACE, 2),
        ):
            asked, rho = {"x": (mechanism, "v")}, mechanism.guarantee.rho
            total = query.total(asked, neighbors=relation)
            assert (total.epsilon, total.neighbors) == (0.5 * groups * rows * steps, relation)
            chained = steps if mechanism is here else 1  # the same groups may change twice
            assert total.rho == pytest.approx(rho * groups * rows**2 * steps * chained)
            assert total.rho >= rho * groups * rows**2 * steps * chained
            # Which rows of others count is a mixture, whose range can be larger: 2.83 for 2.
            assert (total.bounded_range is None) == (person is not None)
            two = query.total(asked | {"y": (mechanism, "v")}, neighbors=relation)
            assert two.epsilon == 2 * total.epsilon
            coins = fx.PrivateGroups(1e-8, 0.25)
            both = fx.Query("k", coins, person, groups, rows).total(asked, neighbors=relation)
            changed = (
                groups * (rows if person is None else 1) * (1 if relation == ADD_REMOVE else 2)
            )
            assert both.epsilon == total.epsilon + 0.25 * changed
            assert both.delta == pytest.approx(1e-8 * changed)
            assert both.rho == float("inf")
    one = {"x": (there, "v")}
    assert fx.Query().total(one).epsilon == 0.5
    assert fx.Query("k", ["a"]).total(one).epsilon == 1.0
    assert fx.Query("k", ["a"], membership="public").total(one).epsilon == 0.5
    with pytest.raises(fx.errors.ParameterError, match="must be 'replace'"):
        fx.Query().total(one, neighbors=ADD_REMOVE)
    with pytest.raises(fx.errors.ParameterError, match="same neighbors"):
        fx.Query().total(one | {"y": (here, "v")})


Person = tuple[tuple[int, int], ...]  # rows: a group and a value, both 0 or 1
PERSONS: list[Person] = [
    person
    for n in range(4)
    for person in itertools.combinations_with_replacement(itertools.product((0, 1), repeat=2), n)
]
OTHERS = ((0, 4), (0, 4)), ((2, 1), (0, 3))  # records of others: of each value in each group


def counted(person: Person, groups: int, rows: int) -> Iterator[tuple[float, Any]]:
    """Yield the equally likely records of a person that count: of each value in each group."""
    own = [[value for g, value in person if g == group] for group in (0, 1)]
    present = [group for group in (0, 1) if own[group]]
    chosen = list(itertools.combinations(present, min(groups, len(present))))
    for some in chosen:
        parts = [
            list(itertools.combinations(own[g], min(rows, len(own[g])))) if g in some else [()]
            for g in (0, 1)
        ]
        for pair in itertools.product(*parts):
            share = 1 / (len(chosen) * len(parts[0]) * len(parts[1]))
            yield share, [[part.count(0), part.count(1)] for part in pair]


def law_of(person: Person, others: Any, limits: tuple[int, int], rate: Fraction) -> Any:
    """Return the law of both groups' answers by definition: (0, 0), (0, 1), (1, 0), (1, 1)."""
    law = np.zeros((2, 2))
    for share, counts in counted(person, *limits):
        groups = np.array(counts) + others
        one, two = (np.array(oracle.exponential(g.tolist(), rate), float) for g in groups)
        law += share * np.outer(one, two)
    return law.ravel()


@pytest.mark.parametrize("limits", [(1, 1), (2, 1), (1, 2), (2, 2)], ids=str)
@pytest.mark.parametrize("mine", [ADD_REMOVE, REPLACE])
def test_promise_of_persons(limits: tuple[int, int], mine: Any) -> None:
    """No neighbours by person have answers of a greater ratio, and some use most of it."""
    votes = {"x": (fx.MostCommon(0.5, [0, 1], neighbors=mine), "v")}
    query = fx.Query("g", [0, 1], "p", *limits)
    rate = Fraction(1, 2 if mine == ADD_REMOVE else 4)
    for relation in (ADD_REMOVE, REPLACE) if mine == ADD_REMOVE else (REPLACE,):
        total, worst = query.total(votes, neighbors=relation).epsilon, 0.0
        for others in OTHERS:
            laws = np.log([law_of(person, others, limits, rate) for person in PERSONS])
            pairs = laws[:1] if relation == ADD_REMOVE else laws  # the first one has no rows
            worst = max(worst, float(np.abs(laws[:, None] - pairs[None]).max()))
        assert (0.4 if mine == ADD_REMOVE else 0.2) * total < worst <= total + 1e-12


@pytest.mark.parametrize("limits", [(1, 1), (2, 1), (1, 2)], ids=str)
def test_draws_of_persons(limits: tuple[int, int]) -> None:
    """Draws have the law by definition: rows that count are chosen uniformly, by person."""
    votes = {"x": (fx.MostCommon(2.0, [0, 1]), "v")}
    query = fx.Query("g", [0, 1], "p", *limits)
    person: Person = ((0, 0), (0, 0), (0, 1), (1, 1), (1, 0))
    frame = {
        "p": [7] * 5 + [8, None],
        "g": [g for g, _ in person] + [1, 0],
        "v": [value for _, value in person] + [0, 0],
    }
    law = law_of(person, [[0, 0], [1, 0]], limits, Fraction(2))
    sure = {name: (fx.MostCommon(1000.0, [0, 1]), "v") for name in "xy"}
    both = [query.sample({**frame, "v": [0, 1, 1, 0, 1, 0, 0]}, sure, rng=i) for i in range(30)]
    chosen = {(pair["x"][0], pair["y"][0]) for pair in both}
    assert limits[1] > 1 or len(chosen) == 4  # rows are chosen for each answer
    answers = [query.sample(frame, votes, rng=seed)["x"] @ [2, 1] for seed in range(1500)]
    answers += [query.release(frame, votes)["x"] @ np.array([2, 1]) for _ in range(500)]
    found = np.bincount(answers, minlength=4)
    assert (((found - 2000 * law) ** 2) / (2000 * law)).sum() < 30  # 1e-6 for three degrees


# Private groups


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
def test_law_of_appearing(epsilon: float, delta: float) -> None:
    """It is private for one person more, exactly, and no group could appear more often."""
    law = [Fraction(p) for p in fx.PrivateGroups(delta, epsilon).law(range(60))]
    e, d, slack = (
        1 / oracle.exp(-Fraction(str(epsilon))),
        Fraction(str(delta)),
        Fraction(1, 1 << 46),
    )
    for p, q in itertools.pairwise(law):
        terms = (e * p + d - q, e * q + d - p, e * (1 - q) + d - (1 - p), e * (1 - p) + d - (1 - q))
        assert p <= q
        assert min(terms) >= -slack * q
        assert q == 1 or min(terms) <= slack * max(q, 1 - p)
    for kind in (np.uint8, np.uint64):
        counts = np.array([0, 59, np.iinfo(kind).max // 2 + 1], kind)
        assert fx.PrivateGroups(delta, epsilon).law(counts)[:2].tolist() == [law[0], law[59]]
    smallest = fx.PrivateGroups(delta, epsilon).smallest(0.5)
    assert fx.PrivateGroups(delta, epsilon).law([smallest - 1, smallest]).tolist() == sorted(
        fx.PrivateGroups(delta, epsilon).law([smallest - 1, smallest])
    )


def shown(n: tuple[int, int], extra: Any, coins: fx.PrivateGroups, rate: Fraction) -> Any:
    """Return the law of what is published: of each group nothing, or one of two answers."""
    parts = []
    for count, more in zip(n, extra, strict=True):
        persons, records = count + (sum(more) > 0), [count + more[0], more[1]]
        p = coins.law(persons)
        parts.append(np.append(1 - p, p * np.array(oracle.exponential(records, rate), float)))
    return np.outer(*parts).ravel()


@pytest.mark.parametrize("limits", [(1, 1), (2, 1), (2, 2)], ids=str)
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_promise_of_private_groups(limits: tuple[int, int], relation: Any) -> None:
    """The excess over exp(epsilon) is at most delta for all neighbours by person."""
    coins, votes = fx.PrivateGroups(1e-3, 0.5), {"x": (fx.MostCommon(0.25, [0, 1]), "v")}
    total = fx.Query("g", coins, "p", *limits).total(votes, neighbors=relation)
    factor, worst = np.exp(total.epsilon), 0.0
    for n in itertools.product((0, 1, 5, 9, 10, 11), repeat=2):
        laws = []
        for person in PERSONS:
            law = np.zeros(9)
            for share, extra in counted(person, *limits):
                law += share * shown(n, extra, coins, Fraction(1, 4))
            laws.append(law)
        found = np.array(laws)
        others = found[:1] if relation == ADD_REMOVE else found
        excess = np.maximum(found[:, None] - factor * others[None], 0).sum(2)
        back = np.maximum(others[None] - factor * found[:, None], 0).sum(2)
        worst = max(worst, float(excess.max()), float(back.max()))
    assert 0.2 * total.delta < worst <= total.delta + 1e-15


def test_groups_appear_by_their_persons() -> None:
    """Persons count once, within their limits, also if their records are missing; rows do not."""
    coins = fx.PrivateGroups(1e-3, 1.0)
    certain = int(np.argmax(coins.law(range(100)) == 1))
    rows = {"k": ["one"] * 500 + ["many"] * certain, "p": [0] * 500 + list(range(certain))}
    rows["v"] = [5] * 500 + [None] * certain
    for groups in (2, 3):
        query = fx.Query("k", coins, "p", groups, 2)
        for _ in range(20):
            found = query.release(rows, SURE, nan="drop")
            assert found["k"] in (["many"], ["many", "one"])
            assert found["m"].size == len(found["k"])
    several = rows | {"k": ["ab"[i % 2] for i in range(500 + certain)]}
    for _ in range(20):  # half of the persons count in each
        assert (
            len(
                fx.Query("k", fx.PrivateGroups(1e-9, 1.0), "p").release(several, SURE, nan="drop")[
                    "k"
                ]
            )
            < 2
        )
    claimed = fx.Query("k", coins, None, 1, 500)
    assert sum("one" in claimed.release(rows, SURE, nan="drop")["k"] for _ in range(200)) < 9
    empty = fx.Query("k", fx.PrivateGroups(1e-60, 1.0)).release({"k": ["a"], "v": [1]}, SURE)
    assert (empty["k"], empty["m"].size, empty["m"].dtype) == ([], 0, np.int64)


def test_groups_of_one_person_appear_with_delta() -> None:
    """Of 500,000 groups of one person, and of some of the steepest number, so many appear."""
    n, coins = 500_000, fx.PrivateGroups(1e-3, 0.3)
    for persons, size in ((1, n), (12, n // 20)):
        p = coins.law(persons)
        frame = {"k": np.tile(np.arange(size), persons), "v": np.zeros(size * persons)}
        query = fx.Query("k", coins)
        for found in (query.release(frame, SURE), query.sample(frame, SURE, rng=1)):
            assert abs(len(found["k"]) - size * p) < 6 * np.sqrt(size * p * (1 - p))
            assert found["k"] == sorted(found["k"])


def test_nothing_of_hidden_groups_is_published() -> None:
    """Neither names, nor types, categories or buffers of other rows."""
    secret = [f"secret {i}" for i in range(50)]
    columns = {"k": ["shown"] * 300 + secret, "v": [5] * 350}
    query = fx.Query("k", fx.PrivateGroups(1e-9, 1.0))
    for kind, frame in frames(columns):
        found = query.release(frame, SURE)
        assert told(found)["k"] == ["shown"], kind
        if not isinstance(found, pl.LazyFrame) and kind != "narwhals":
            assert b"secret" not in pickle.dumps(found), kind
    odd = {"k": ["shown"] * 300 + ["\ud800"] * 300, "v": [5] * 600}
    assert query.release(odd, SURE)["k"] == ["shown"]
    wide = {"k": [1] * 300 + [2**63] * 300 + [None] * 300, "v": [5] * 900}
    assert query.release(wide, SURE)["k"] == [1]


def charged(query: Any, frame: Any) -> Iterator[Any]:
    """Yield answers without a budget, with one, with a label, and again."""
    budget = fx.Budget(9000.0, delta=0.1)
    yield query.release(frame, SURE)
    for label in (None, "x", "x"):
        yield query.release(frame, SURE, budget=budget, label=label)


NOON = dt.datetime(2024, 1, 1, 12, tzinfo=dt.UTC)
TOKYO = NOON.astimezone(dt.timezone(dt.timedelta(hours=9)))
FINE = np.datetime64("1970-01-01T00:00:00.000000001")
FAR = dt.datetime.min.replace(tzinfo=TOKYO.tzinfo)  # in UTC it is before the year 1
LATER = (dt.datetime.min + dt.timedelta(hours=1)).replace(
    tzinfo=dt.timezone(dt.timedelta(hours=10))
)
WRITTEN: dict[str, tuple[Any, list[Any]]] = {  # a label, and how rows may write its key
    "instants": (NOON, [NOON, TOKYO, pd.Timestamp(NOON), pd.Timestamp(TOKYO)]),
    "timestamps": (
        NOON.replace(tzinfo=None),
        [NOON.replace(tzinfo=None), np.datetime64("2024-01-01T12")],
    ),
    "fine timestamps": (FINE, [pd.Timestamp(FINE), FINE, FINE.astype("M8[ps]")]),
    "far timestamps": (np.datetime64("0000-12-31T15", "h"), [FAR, LATER]),
    "durations": (
        dt.timedelta(hours=1),
        [dt.timedelta(hours=1), np.timedelta64(60, "m"), pd.Timedelta(hours=1)],
    ),
    "integers": (1, [1, np.int64(1), np.uint8(1)]),
    "text": ("a", ["a", np.str_("a"), StrEnum("Letters", {"A": "a"})("a")]),
    "booleans": (True, [True, np.True_]),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_no_row_decides_how_a_group_is_shown(name: str) -> None:
    """Its label is made of its key alone, whoever wrote it how, also a row without a person."""
    label, keys = WRITTEN[name]
    private = fx.Query("k", fx.PrivateGroups(1e-3, 1.0), "p")
    for key, others in itertools.permutations(keys, 2):
        columns = {"k": [key] + [others] * 300, "p": [None, *range(300)], "v": [5] * 301}
        for frame in (columns, pd.DataFrame(columns, dtype=object)):
            for found in charged(private, frame):
                assert repr(list(found["k"])) == repr([label])
                assert isinstance(found["k"], list) or found["k"].dtype == "object"
        with pytest.warns(fx.PrivacyWarning):
            found = fx.Query("k", "from-data").release(columns, SURE)
        assert repr(found["k"]) == repr([label])


SCHEMAS = {
    "text": (["a"], pa.string(), True),
    "integers": ([7], pa.int64(), False),
    "decimals": ([7], pa.decimal128(9), True),
    "booleans": ([True], pa.bool_(), False),
    "dates": ([NOON.date()], pa.date32(), True),
    "of milliseconds": ([5], pa.date64(), True),
    "timestamps": ([5, 6], pa.timestamp("ns"), False),
    "seconds": ([5, 6], pa.timestamp("s"), False),
    "Paris": ([1704106800 * 10**6, 1719828000 * 10**6], pa.timestamp("us", "Europe/Paris"), True),
    "an offset": ([1, 2], pa.timestamp("ms", "+05:30"), True),
    "durations": ([5, 6], pa.duration("us"), False),
    "fine durations": ([5, 6], pa.duration("ns"), False),
}
AS_SHOWN = {"decimals": pa.int64(), "of milliseconds": pa.date32()}


@pytest.mark.parametrize("name", SCHEMAS)
def test_labels_have_the_type_of_their_column(name: str) -> None:
    """With and without a budget, and also if no group appears."""
    keys, kind, is_arrow = SCHEMAS[name]
    column = pa.array([key for key in keys for _ in range(300)], kind)
    table = pa.table({"k": column, "v": [5] * len(column)})
    expected = pa.array(keys, kind).cast(AS_SHOWN.get(name, kind), safe=False)
    for coins, size in (
        (fx.PrivateGroups(1e-3, 1.0), len(keys)),
        (fx.PrivateGroups(1e-60, 0.1), 0),
    ):
        query, shown = fx.Query("k", coins), expected[:size]
        for found in charged(query, table):
            assert found["k"].combine_chunks().equals(shown)
        if name not in ("decimals", "of milliseconds", "seconds", "an offset"):
            for found in charged(query, pl.from_arrow(table)):
                assert found["k"].equals(pl.Series("k", shown))
        for types in (None, pd.ArrowDtype)[name == "decimals" :]:  # else they are objects
            for found in charged(query, table.to_pandas(types_mapper=types)):
                is_object = types is None and kind in (pa.date32(), pa.date64())
                assert found["k"].dtype == (object if is_object else shown.to_pandas().dtype)
                assert found["k"].tolist() == shown.to_pandas().tolist()
        if not is_arrow:
            values = column.to_numpy(zero_copy_only=False)
            labels = shown.to_numpy(zero_copy_only=False)
            for found in charged(query, {"k": values, "v": [5] * len(column)}):
                is_time = values.dtype.kind in "mM"
                assert repr(found["k"]) == repr(list(labels) if is_time else labels.tolist())


# Budgets, files of answers, sessions


class Row(dict[str, Any]):
    """A row that nobody may see: its key may hold an exception."""

    def get(self, *_: Any) -> Any:
        raise self["v"]


def test_budgets(tmp_path: Path) -> None:
    """A charge comes before the rows, and kept answers are the same without them."""
    frame, query = rents(), fx.Query(["town", "rooms"], list(itertools.product(TOWNS, [1, 2])))
    for budget in (fx.Budget(9.0), fx.Budget.file(tmp_path / "b", epsilon=9.0)):
        account: dict[str, Any] = {"budget": budget, "nan": "drop"}
        first = query.release(frame, ANSWERS, label="one", **account)
        assert budget.spent == query.total(ANSWERS).epsilon == 5.5
        for kind, same in frames(frame | {"rent": [None] * 300}):
            if kind in ("dict", "pandas", "polars, lazy", "duckdb"):
                assert told(query.release(same, ANSWERS, label="one", **account)) == told(first)
        some = {"median": ANSWERS["median"]}
        for other, asked in (
            (fx.Query("town", TOWNS), ANSWERS),
            (fx.Query(query.by, query.groups, "owner"), ANSWERS),
            (query, some),
            (query, ANSWERS | {"median": (fx.Median(1.0, **GRID), "rooms")}),
            (query, ANSWERS | {"median": (fx.Median(1.0, (0, 100), step=2), "rent")}),
        ):
            with pytest.raises(fx.errors.LabelError, match="another question"):
                other.release(frame, asked, label="one", **account)
        with pytest.raises(fx.errors.LabelError, match="another question"):
            query.release(frame, ANSWERS, label="one", budget=budget, nan="lower")
        assert budget.spent == 5.5
        with pytest.raises(fx.errors.InvalidRecords, match="withheld") as caught:
            fx.Query().release([Row(v=RuntimeError("row 77"))], SMALL, budget=budget)
        assert budget.spent == 6.5
        assert "77" not in repr(caught.value) + repr(caught.value.__context__)
        with pytest.raises(fx.errors.BudgetExceeded):
            query.release(frame, ANSWERS, **account)
        for wrong in ({"town": frame["town"]}, pd.DataFrame(frame).astype({"rooms": float})):
            with pytest.raises((fx.errors.ParameterError, fx.errors.ParameterTypeError)):
                query.release(wrong, some, **account)
        assert budget.spent == 6.5


def test_budgets_of_private_groups(tmp_path: Path) -> None:
    """They need delta; a label keeps groups, also none, and a draw that ends uses it up."""
    query = fx.Query("k", fx.PrivateGroups(1e-8, 0.5), "p", 2)
    budget = fx.Budget.file(tmp_path / "b", epsilon=9000.0, delta=1e-6)
    both = SMALL | {"q": (fx.Quantiles([0.1, 0.5], 1.0, **GRID), "v")}
    empty: dict[str, Any] = {"k": [], "v": [], "p": []}
    time = pd.Timestamp("2024-01-01T05")
    keys = ["a", 7, True, time.date(), time, time.to_pydatetime(), time - time, "ä"]
    for i, key in enumerate(keys):
        frame = {"k": [key] * 300 + [None], "v": [5] * 301, "p": range(301)}
        for rows in (frame, {name: list(x)[:1] for name, x in frame.items()}):
            account: dict[str, Any] = {"budget": budget, "label": f"{i} {len(rows['v'])}"}
            one, again = (query.release(some, both, **account) for some in (rows, empty))
            assert len(one["k"]) == (len(rows["v"]) > 1)
            assert (one["k"], one["m"].tolist()) == (again["k"], again["m"].tolist())
            assert list(map(type, one["k"])) == list(map(type, again["k"]))
            assert one["k"] in ([], [key])
    assert budget.spent_delta == 32e-8
    assert budget.spent == 16 * 5.0
    whole = pa.table({"k": pa.array([7] * 300, pa.decimal128(9)), "v": [5] * 300, "p": range(300)})
    kept = [query.release(whole, SMALL, budget=budget, label="whole") for _ in range(2)]
    assert kept[0].equals(kept[1])
    assert kept[0]["k"].to_pylist() == [7]
    rows = [Row(k=1, p=1, v=KeyboardInterrupt())]
    for other in (fx.Budget(9000.0), fx.Budget(rho=9.0)):
        with pytest.raises(fx.errors.ParameterError, match=r"delta|rho"):
            query.release(rows, SMALL, budget=other)
    with pytest.raises(KeyboardInterrupt):
        query.release(rows, SMALL, budget=budget, label="interrupted")
    with pytest.raises(fx.errors.LabelError, match="used up"):
        query.release(empty, SMALL, budget=budget, label="interrupted")
    listed = fx.Query("k", [1])
    with pytest.raises(KeyboardInterrupt):
        listed.release(rows, SMALL, budget=budget, label="again")
    assert listed.release(empty, SMALL, budget=budget, label="again")["m"].size == 1


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".arrow"])
def test_output(tmp_path: Path, ending: str) -> None:
    """A file is written whole or not at all, never over another one, or refused before a charge."""
    query, asked, place = fx.Query("town", TOWNS), dict(ANSWERS), tmp_path / f"answers{ending}"
    budget = fx.Budget(99.0)
    found = told(query.release(rents(), asked, nan="drop", output=place))
    if ending == ".parquet":
        assert pa.parquet.read_table(place).to_pydict() == found
    elif ending == ".arrow":
        assert pa.feather.read_table(place).to_pydict() == found
    else:
        mark = "," if ending == ".csv" else "\t"
        with place.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file, delimiter=mark))
        parts = zip(*found.pop("parts"), strict=True)
        found |= {f"parts_{q}": part for q, part in zip((0.25, 0.5, 0.75), parts, strict=True)}
        rows = [[dict(zip(rows[0], row, strict=True))[name] for name in found] for row in rows]
        assert rows[0] == list(found)
        assert [[str(x) for x in row] for row in zip(*found.values(), strict=True)] == rows[1:]
    for wrong in (place, tmp_path / "no" / place.name):
        with pytest.raises(fx.errors.OutputError, match="cannot be made"):
            query.release(rents(), asked, nan="drop", output=wrong, budget=budget, label="x")
    for wrong, label in ((tmp_path / "answers.txt", "x"), (tmp_path / f"new{ending}", None)):
        with pytest.raises(fx.errors.ParameterError, match="output"):
            query.release(rents(), asked, nan="drop", output=wrong, budget=budget, label=label)
    assert budget.spent == 0

    def full(*_: Any) -> None:
        raise OSError(28, "full")

    other = tmp_path / f"other{ending}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.link", full)
        with pytest.raises(fx.errors.OutputError, match="full") as caught:
            query.release(rents(), asked, nan="drop", output=other, budget=budget, label="x")
    assert "were drawn, and charged to the budget" in caught.value.__notes__[0]
    kept = query.release({"town": []}, asked, nan="drop", output=other, budget=budget, label="x")
    assert told(kept) == told(caught.value.answers)
    assert budget.spent == 5.5
    assert sorted(path.name for path in tmp_path.iterdir()) == [place.name, other.name]


def test_each_quantile_is_a_column_of_text(tmp_path: Path) -> None:
    """No column is lost: others have its name, two have equal doubles, or no group appears."""
    close = [Fraction(499999998, 999999997), Fraction(499999999, 999999999)]
    bounds, place = [dt.date(2024, 1, 1), dt.date(2024, 1, 3)], tmp_path / "o.csv"
    asked = {
        "x": (fx.Quantiles(close, 1e6, (0, 9), step=9), "n"),
        "d": (fx.Quantiles([0.5, 0.75], 1e6, bounds), "day"),
        "x_0.4999999995": (fx.Median(1e6, (0, 9), step=9), "n"),
    }
    few, row = fx.PrivateGroups(1e-60, 0.01), "a,9,9,2024-01-03,2024-01-03,9\n"
    names = "d_0.5,x_0.4999999995_,x_0.4999999995__,d_0.5_,d_0.75,x_0.4999999995"
    for groups, n, line in ((["a"], 99, row), (few, 1, "")):
        rows = {"d_0.5": ["a"] * n, "n": [9] * n, "day": bounds[1:] * n}
        fx.Query("d_0.5", groups).release(rows, asked, output=place)
        assert place.read_text() == f"{names}\n{line}"
        place.unlink()


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pa.table])
def test_a_list_needs_its_columns(kind: Any) -> None:
    with pytest.raises(fx.errors.ParameterError, match="no column 'b': it has 'a'"):
        fx.Query(["a", "b"], kind({"a": [1]}))


def test_what_limits_is_a_column_of_persons_or_a_claim() -> None:
    asked = {"x": (fx.Median(0.5, (0, 9)), "v")}
    mine, found = (fx.Query(person=p, max_rows=2).total(asked).assumes for p in (None, "p"))
    assert mine.startswith("you claim, and nothing checks, that each person has at most 2 rows;")
    assert found.startswith("each person counts with at most 2 rows;")


def test_session() -> None:
    session = fx.Session(rents(), fx.Budget(9.0), person="owner")
    query = fx.Query("town", TOWNS, "owner")
    assert session.release(query, ANSWERS, nan="drop")["town"] == TOWNS
    assert session.budget.spent == 5.5
    with pytest.raises(fx.errors.BudgetExceeded):
        session.release(query, ANSWERS, nan="drop")
    for wrong in (fx.Query(), fx.Query("town", TOWNS), fx.Query("town", "from-data", "owner")):
        with pytest.raises(fx.errors.ParameterError, match="person='owner'"):
            session.release(wrong, ANSWERS)
    with pytest.raises(fx.errors.ParameterError, match="limits"):
        fx.Session(rents(), fx.Budget(9.0)).release(fx.Query(max_rows=2), ANSWERS)
    for wrong_type in (lambda: session.release(None, ANSWERS), lambda: fx.Session({}, 1.0)):
        with pytest.raises(fx.errors.ParameterTypeError, match="must be a"):
            wrong_type()
    assert "Bern" not in repr(session)


# Messages


WRONG: dict[str, tuple[Any, str]] = {
    "by without groups": (lambda: fx.Query("k"), "groups must be given with by"),
    "groups without by": (lambda: fx.Query(groups=["a"]), "groups must be given with by"),
    "max_groups without by": (lambda: fx.Query(max_groups=2), "groups must be given with by"),
    "columns twice": (lambda: fx.Query(["k", "k"], [(1, 2)]), "by must name each column once"),
    "no column": (lambda: fx.Query(7, [1]), "by must"),
    "person": (lambda: fx.Query(person=3), "person must be the name of a column, got 3"),
    "a word": (lambda: fx.Query("k", "data"), "a Path or 'from-data', got 'data'"),
    "a set": (lambda: fx.Query("k", {1, 2}), "groups must be a sequence, got set"),
    "no groups": (lambda: fx.Query("k", []), "groups must name one group or more"),
    "twice": (lambda: fx.Query("k", [1, 1]), "groups must be distinct"),
    "missing": (lambda: fx.Query("k", ["a", None]), "groups must not hold None or NaN"),
    "floats": (lambda: fx.Query("k", [0.5]), "groups must be one-dimensional, of one kind"),
    "not pairs": (lambda: fx.Query(["k", "l"], [1, 2]), "groups must be tuples of 2 keys"),
    "limits": (lambda: fx.Query("k", [1], max_groups=0), "max_groups must be between 1"),
    "a limit": (lambda: fx.Query(max_rows=1.5), "max_rows must be an integer, got float"),
    "membership": (lambda: fx.Query(membership="no"), "membership must be 'private' or 'public'"),
    "public persons": (lambda: fx.Query(person="p", membership="public"), "membership must be 'p"),
    "delta": (lambda: fx.PrivateGroups(0.1, 1.0), r"delta must be in \[1e-60, 1e-3\], got 0.1"),
    "epsilon": (lambda: fx.PrivateGroups(1e-8, 1e-9), "epsilon must be at most 100, and so large"),
    "epsilon 0": (lambda: fx.PrivateGroups(1e-8, 0), "epsilon must be > 0"),
    "n": (lambda: fx.PrivateGroups(1e-8, 1).law(-1), "n must be >= 0"),
    "n of floats": (lambda: fx.PrivateGroups(1e-8, 1).law(1.5), "n must be integers"),
    "probability": (
        lambda: fx.PrivateGroups(1e-8, 1).smallest(2),
        r"probability must be in \[0, 1\]",
    ),
    "answers": (lambda: fx.Query().release({"v": [1]}, [1]), "answers must be a dict"),
    "no answers": (lambda: fx.Query().release({"v": [1]}, {}), "number of answers must be between"),
    "no pair": (lambda: fx.Query().release({"v": [1]}, {"m": fx.Median}), "answer 'm' is no such"),
    "a mechanism": (
        lambda: fx.Query().release({"v": [1]}, {"m": (fx.Laplace(1.0, 1, step=1), "v")}),
        "answer 'm' must have a mechanism of numbers.*, got Laplace",
    ),
    "a name": (
        lambda: fx.Query("v", [1]).release({"v": [1]}, {"v": SURE["m"]}),
        "column of by, got 'v'",
    ),
    "nan": (lambda: fx.Query().release({"v": [1]}, SURE, nan="no"), "nan must be 'raise'"),
    "nan of others": (
        lambda: fx.Query().release({"v": [1]}, SURE, nan={"x": "drop"}),
        "nan must be for",
    ),
    "a column": (lambda: fx.Query().release({"é": [1]}, SURE), "got no column 'v': it has 'é'"),
    "another form": (
        lambda: fx.Query().release({"e\u0301": [1]}, {"m": (SURE["m"][0], "\u00e9")}),
        r"no column '\\xe9': it has 'e\\u0301'",
    ),
    "two columns": (
        lambda: fx.Query().release(pd.DataFrame([[1, 2]], columns=["v", "v"]), SURE),
        "got two columns 'v'",
    ),
    "a frame": (lambda: fx.Query().release(7, SURE), "frame must be a frame.*, got int"),
    "lengths": (lambda: fx.Query("k", [1]).release({"k": [1, 1], "v": [1]}, SURE), "one length"),
    "dimensions": (
        lambda: fx.Query().release({"v": np.ones((2, 2))}, SURE),
        "'v' must have one dim",
    ),
    "a label": (
        lambda: fx.Query().release({"v": [1]}, SURE, label="x"),
        "budget must be a Budget, which keeps labels",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_messages(name: str) -> None:
    call, message = WRONG[name]
    with pytest.raises((fx.errors.ParameterError, fx.errors.ParameterTypeError), match=message):
        call()


def test_spent_streams_and_closed_connections_are_refused() -> None:
    reader = pa.table({"v": [5, 5]}).to_reader()
    assert told(fx.Query().release(reader, SURE))["m"] == [5]
    connection = duckdb.connect()
    relation, budget = connection.sql("select 5 as v"), fx.Budget(1000.0)
    connection.close()
    for frame in (reader, relation):
        with pytest.raises(fx.errors.ParameterError, match=r"read before|be open"):
            fx.Query().release(frame, SURE, budget=budget)
    assert budget.spent == 0
    wide = duckdb.sql("select sum(i)::HUGEINT as k, 5 as v from range(4) t(i)")  # of 128 bits
    assert told(fx.Query("k", [6]).release(wide, SURE))["m"] == [5]
