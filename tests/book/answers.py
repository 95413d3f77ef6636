"""Answers of queries under a key: several at once, of persons, from frames and files."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import fastexp as fx
from tests.book.entries import KEY, Entry, digest, numbers, outcome, written

TOWNS = ["Oslo", "Nowhere", "\u00c5rhus", "", "Bern"]
CITIES = ["Oslo", "\u00c5rhus", "", "Bern", "Rome", None]
DRINKS = ["tea", "coffee", "milk"]
YEARS = range(2020, 2024)
MEDIAN = fx.Median(0.5, (0, 1000), step=1)
ANSWERS: dict[str, tuple[Any, str]] = {
    "rent": (MEDIAN, "rent"),
    "fine": (fx.Quantile(0.75, 0.5, (0.0, 1000.0)), "holes"),
    "rooms": (fx.MostCommon(0.3, (1, 2, 3, 4)), "rooms"),
    "drink": (fx.MostCommon(0.3, tuple(DRINKS)), "drink"),
    "price": (fx.Price(0.5, (0, 1000), step=5), "rent"),
    "spread": (fx.Quantiles([0.25, 0.75], 1.0, (0, 1000), step=1), "rent"),
    "largest": (fx.Maximum(0.5, (0, 1000), step=1), "rooms"),
    "commonest": (fx.Mode(0.5, (0, 9), step=1), "rooms"),
    "best two": (fx.JointTopK(2, 0.5, candidates=DRINKS), "drink"),
}
QUERIES = {
    "all rows": fx.Query(),
    "town": fx.Query("town", TOWNS),
    "town and year": fx.Query(["town", "year"], fx.product(town=TOWNS[:2], year=YEARS)),
    "listed pairs": fx.Query(["town", "year"], [("Oslo", 2023), ("Bern", 1999), ("", 2020)]),
    "persons": fx.Query("town", TOWNS, person="person"),
    "persons with limits": fx.Query("town", TOWNS, person="person", max_groups=2, max_rows=3),
    "persons by text": fx.Query(["year"], list(YEARS), person="alias", max_groups=3),
    "all of a person": fx.Query(person="person", max_rows=2),
}


def rows(count: int = 700) -> dict[str, list[Any]]:
    """Columns with gaps, and people who have several rows in several groups."""
    draws = {name: numbers(count, 1 << 30, seed).tolist() for seed, name in enumerate("abcdefg")}
    people = [None if i % 11 == 0 else i % 90 for i in draws["e"]]
    return {
        "town": [CITIES[i % 6] for i in draws["a"]],
        "year": [2019 + i % 6 for i in draws["b"]],
        "rent": [i % 90_000 / 100 for i in draws["c"]],
        "holes": [None if i % 9 == 0 else i % 90_000 / 100 for i in draws["d"]],
        "rooms": [None if i % 10 == 9 else 1 + i % 5 for i in draws["f"]],
        "drink": [[*DRINKS, "cola", "coffee", None][i % 6] for i in draws["g"]],
        "person": people,
        "alias": [None if i is None else f"p{i}" for i in people],
    }


DATA = rows()


def entries() -> Iterator[Entry]:
    """All of them."""
    for name, query in QUERIES.items():
        answers = _released(query, DATA, ANSWERS)
        for column, values in answers.items():
            yield Entry(f"{name} / {column}", written(values))
    yield from _draws()
    yield from _frames()
    with tempfile.TemporaryDirectory() as folder:
        yield from _files(Path(folder))
        yield from _written(Path(folder))


def _released(
    query: fx.Query, frame: Any, answers: dict[str, tuple[Any, str]], **options: Any
) -> Any:
    """Answers under the key that everybody knows."""
    return query.release(frame, answers, **{"key": KEY, "label": "q", "nan": "drop", **options})


def _draws() -> Iterator[Entry]:
    """Seeded draws, the charge, and answers in other words."""
    query = QUERIES["persons with limits"]
    for size in (None, 3):
        drawn = query.sample(DATA, ANSWERS, size=size, rng=7, nan="drop")
        for column, values in drawn.items():
            yield Entry(f"sample / {column}, size={size}", written(values))
    for name, query in QUERIES.items():
        total = query.total(ANSWERS)
        yield Entry(f"total / {name}", [total.epsilon, total.rho, total.neighbors])
    query, one = QUERIES["town"], {"rent": ANSWERS["rent"]}
    for name, options in {
        "another label": {"label": "r"},
        "no label": {"label": None},
        "threads": {"threads": 2},
        "lower": {"nan": "lower"},
    }.items():
        yield Entry(name, written(_released(query, DATA, one, **options)["rent"]))
    gaps = outcome(lambda: _released(query, DATA, {"fine": ANSWERS["fine"]}, nan="raise"))
    yield Entry("gaps are refused", gaps)
    spread = _released(query, DATA, {"spread": ANSWERS["spread"]}, expand=True)
    yield Entry("expanded", {name: written(values) for name, values in spread.items()})
    accuracy = query.accuracy(DATA, ANSWERS, nan="drop", rng=7)
    for figure in ("n", "truth", "expected", "quantile", "best"):
        yield Entry(f"accuracy / {figure}", accuracy[figure].tolist())


def _frames() -> Iterator[Entry]:
    """The same rows in frames of every kind, with the types of what they give."""
    table = pa.table(DATA)
    query, answers = QUERIES["persons with limits"], {k: ANSWERS[k] for k in ("rent", "drink")}
    for name, frame in {
        "Arrow": table,
        "Arrow, chunks": pa.concat_tables([table[:5], table[5:]]),
        "pandas": table.to_pandas(types_mapper=pd.ArrowDtype),
        "Polars": pl.DataFrame(table),
        "Polars, lazy": pl.DataFrame(table).lazy(),
        "a dict, backwards": {column: values[::-1] for column, values in DATA.items()},
    }.items():
        yield _of_frame(name, _released(query, frame, answers))


def _of_frame(name: str, frame: Any) -> Entry:
    """A frame of answers, by its type and its columns."""
    kind = type(frame)
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    columns = frame.columns if not isinstance(frame, (dict, pa.Table)) else list(_columns(frame))
    texts = {str(column): " ".join(map(str, list(frame[column]))) for column in columns}
    return Entry(name, {"type": f"{kind.__module__.partition('.')[0]} {kind.__name__}", **texts})


def _columns(frame: Any) -> list[str]:
    return frame.column_names if isinstance(frame, pa.Table) else list(frame)


def _files(folder: Path) -> Iterator[Entry]:
    """Files, one and several, in memory and out of it."""
    table, many = pa.table(DATA), pa.table(rows(30_000))
    pq.write_table(table, folder / "rows.parquet")
    pq.write_table(many, folder / "many.parquet")
    (folder / "parts").mkdir()
    for i in range(3):
        pq.write_table(table[i * 250 : (i + 1) * 250], folder / "parts" / f"{i}.parquet")
    with (folder / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[*DATA], *zip(*DATA.values(), strict=True)])
    lines = [
        json.dumps(dict(zip(DATA, row, strict=True))) for row in zip(*DATA.values(), strict=True)
    ]
    (folder / "rows.jsonl").write_text("\n".join(lines) + "\n")
    for name in ("rows.parquet", "parts/*.parquet", "rows.csv", "rows.jsonl"):
        answers = {k: ANSWERS[k] for k in ("rent", "fine", "drink")}
        yield _of_frame(name, _released(QUERIES["persons with limits"], folder / name, answers))
    for name, query in QUERIES.items():
        for memory in (1 << 20, None):
            shown = outcome(lambda q=query, m=memory: _many(q, folder / "many.parquet", m))
            yield Entry(f"many rows / {name}, memory={memory}", shown)


def _many(query: fx.Query, path: Path, memory: int | None) -> str:
    """The first answers of many rows, and a digest of all."""
    frame = _released(query, path, ANSWERS, memory=memory)
    columns = {column: str(frame[column].to_pylist()) for column in frame.column_names}
    return f"{columns['rent'][:60]} ... {digest(json.dumps(columns, sort_keys=True).encode())}"


def _written(folder: Path) -> Iterator[Entry]:
    """Files of answers, by their bytes."""
    for kind in ("csv", "tsv", "jsonl"):
        path = folder / f"out.{kind}"
        _released(QUERIES["town and year"], DATA, ANSWERS, output=path)
        yield Entry(f"output / {kind}", path.read_text())
