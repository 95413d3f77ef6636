"""What type checkers say of queries: the answers are a frame of the same type."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import duckdb
import narwhals as nw
import polars as pl

import fastexp as fx

median = fx.Median(1.0, (0, 1))
common = fx.MostCommon(1.0, ["a", "b"])
top = fx.JointTopK(2, 1.0, candidates=["a", "b"])
quantiles = fx.Quantiles([0.1, 0.9], 1.0, (0, 1))
answers = {"median": (median, "v"), "many": (quantiles, "v")}
query = fx.Query(by=["city"], groups=["x"])


def frames(
    eager: pl.DataFrame,
    lazy: pl.LazyFrame,
    relation: duckdb.DuckDBPyRelation,
    wrapped: nw.DataFrame[pl.DataFrame],
) -> None:
    assert_type(query.release(eager, answers), pl.DataFrame)
    assert_type(query.sample(lazy, answers, size=3, rng=1), pl.LazyFrame)
    assert_type(query.accuracy(relation, answers, probability=0.9), duckdb.DuckDBPyRelation)
    assert_type(query.release(wrapped, answers), nw.DataFrame[pl.DataFrame])
    assert_type(query.release({"v": [1], "city": ["x"]}, answers), dict[str, Any])
    query.release("rows.csv", answers, output=Path("x.csv")).to_pandas()
    query.release([Path("a.csv"), Path("b.csv")], answers).to_pandas()


def mixed(frame: pl.DataFrame, budget: fx.Budget) -> None:
    query.release(frame, {"a": (median, "v"), "b": (common, "w"), "c": (top, "w")}, budget=budget)
    several = {"a": (median, "v"), "b": (common, "w"), "c": (quantiles, "v")}
    rival = fx.LaplaceMedian(1.0, (0, 1))
    query.sample(frame, {"rival": (rival, "v")}, rng=3, temp=Path("/tmp"))
    query.release(frame, several, nan={"a": "drop"}, threads=0)
    query.total(several)


def mistakes(frame: pl.DataFrame) -> None:
    fx.Query(by=1)  # type: ignore[arg-type]
    fx.Query(membership="secret")  # type: ignore[arg-type]
    query.release(3, answers)  # type: ignore[call-overload]
    query.release(frame, {"a": ("median", "v")})  # type: ignore[dict-item]
    query.sample(frame, {"a": (median, 1)})  # type: ignore[dict-item]
    query.accuracy(frame, answers, nan="skip")  # type: ignore[call-overload]
    query.release(frame, answers, nan={"a": "skip"})  # type: ignore[dict-item]
    query.sample(frame, answers, rng="seed")  # type: ignore[arg-type]
    query.release(frame, answers, budgets=None)  # type: ignore[call-overload]


def candidates(mixture: fx.MostCommon) -> None:
    assert_type(common.release(["a"]), str)
    assert_type(fx.MostCommon(1.0, range(3)).release([1]), int)
    assert_type(common.release(["a"], by=["x"], groups=["x"]), list[str])
    assert_type(
        common.release(["a"], by=["x"], groups="from-data", threads=2), tuple[list[Any], list[str]]
    )
    assert_type(mixture.release(["a"]), Any)
