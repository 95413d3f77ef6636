"""Are data sets of a user's functions, frames, arrays and files what they gave, by number alone?"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastexp as fx
from tests.doors.studies import data_sets, data_source
from tests.messages import heard, raises, says
from tests.support.each import each


def gamma(rng: np.random.Generator, n: int, shape: float = 2.0) -> np.ndarray:
    return rng.gamma(shape, size=n)


def votes(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, 9, n)


def study(**changes: Any) -> fx.Study:
    settings = {"name": "s", "mechanisms": ["median"], "epsilon": 1.0, "bounds": (0, 100)}
    return fx.Study(**{**settings, "datasets": 12, "n": 9, "draws": 2, "data": gamma, **changes})


def all_sets(design: fx.Study) -> np.ndarray:
    """The data sets of all blocks of the first scenario, one below the other."""
    size = design.block_size
    blocks = [
        data_sets(design.scenarios[0], place, place * size, min(size, 12 - place * size))
        for place in range(design.blocks)
    ]
    return np.concatenate(blocks)


class TestFunctions:
    def test_a_data_set_depends_on_its_number_alone(self):
        whole = all_sets(study())
        assert whole.shape == (12, 9)
        assert len({row.tobytes() for row in whole}) == 12
        for block in (1, 5, 12):
            assert all_sets(study(block=block)).tobytes() == whole.tobytes()
        assert all_sets(study(seed=1)).tobytes() != whole.tobytes()
        assert all_sets(study(n=10))[:, :9].tobytes() != whole.tobytes()

    def test_generators_are_drawn_by_blocks(self):
        """The twin: what is said of functions is not true of everything."""
        assert (
            all_sets(study(data="normal")).tobytes()
            != all_sets(study(data="normal", block=5)).tobytes()
        )

    def test_parameters_reach_it(self):
        made = all_sets(study(data={"function": gamma, "shape": 50.0}))
        assert 40 < made.mean() < 60
        assert all_sets(study()).mean() < 4

    def test_one_source_a_value_of_a_list(self):
        made = study(
            data=[
                {"function": gamma, "shape": [1.0, 50.0], "n": [4, 8]},
                {"name": "bimodal", "low": [-1.0, -2.0], "sd": [0.1, 0.2], "label": "two"},
            ]
        )
        labels = [(cell.data, cell.n) for cell in made.cells]
        assert labels == [
            ("gamma shape=1.0", 4),
            ("gamma shape=1.0", 8),
            ("gamma shape=50.0", 4),
            ("gamma shape=50.0", 8),
            *((f"two low={low} sd={sd}", 9) for low in (-1.0, -2.0) for sd in (0.1, 0.2)),
        ]
        assert fx.Study(**made.to_dict()).key == made.key

    def test_utilities(self):
        rows = (
            study(
                data={"function": votes, "takes": "utilities"},
                mechanisms=["exponential"],
                bounds=None,
            )
            .run(workers=1)
            .rows
        )
        assert [row["agree"] for row in rows] == [True]

    @each(
        "function",
        [
            lambda _rng, n: np.zeros(n - 1),
            lambda _rng, n: np.full(n, np.nan),
            lambda _rng, n: np.zeros((n, 1)),
            lambda _rng, _n: None,
        ],
    )
    def test_what_is_no_data_set(self, function):
        with raises("...<lambda>: numbers of a data set, got 9"):
            study(data=function).run(workers=1)

    def test_what_is_not_numbers(self):
        with pytest.raises(fx.StudyError, match=says("...data of <lambda>: numbers of a type")):
            study(data=lambda _rng, n: ["x"] * n).run(workers=1)

    def test_its_own_error_is_the_tasks(self):
        with raises("0: task that failed, got ZeroDivisionError..."):
            study(data=lambda _rng, n: [n / 0]).run(workers=1)

    def test_lists_are_numbers_too(self):
        assert all_sets(study(data=lambda _rng, n: list(range(n)))).dtype == np.int64


@pytest.mark.engines
class TestGiven:
    @each(
        "numbers",
        [[3, 1, 2], (3, 1, 2), np.array([3, 1, 2]), pd.Series([3, 1, 2]), pl.Series([3, 1, 2])],
    )
    def test_numbers_are_in_every_data_set(self, numbers):
        made = study(data=numbers, n=3)
        assert made.data == ({"name": "values", "values": [3, 1, 2]},)
        assert (all_sets(made) == [3, 1, 2]).all()

    def test_another_n_is_refused(self):
        """Numbers are one data set: an n that has no effect would mislead."""
        for n in (2, [3, 4]):
            with raises("n for given numbers"):
                study(data=pd.Series([3, 1, 2]), n=n)
        assert study(data=[3, 1, 2], n=1000).cells[0].n == 3  # the default
        assert {cell.n for cell in study(data=[[3, 1, 2], "normal"], n=[9, 99]).cells} == {3, 9, 99}

    @each("kind", [pd.DataFrame, pl.DataFrame, dict])
    def test_a_frame_is_resampled(self, kind):
        frame = kind({"age": [3, 1, 2], "name": ["a", "b", "c"]})
        made = study(data={"frame": frame, "column": "age"})
        assert made.cells[0].data == "age"
        assert made.cells[0].whole
        assert all_sets(made).shape == (12, 9)
        assert set(all_sets(made).reshape(-1).tolist()) == {1, 2, 3}
        assert fx.Study(**made.to_dict()).key == made.key

    def test_missing_records_of_a_frame(self):
        with raises("missing numbers in a file", column="'age'"):
            study(data={"frame": pl.DataFrame({"age": [1, None]}), "column": "age"})

    def test_a_column_that_is_not_there(self):
        with pytest.raises(fx.ParameterError) as caught:
            study(data={"frame": {"age": [1, 2]}, "column": "rent"})
        assert heard(str(caught.value), "'rent': column that is not there, got ")


@pytest.mark.engines
class TestFiles:
    def written(self, folder: Path, name: str) -> Path:
        path = folder / name
        if name == "a.tsv":
            path.write_text("age\tx\n3\ta\n1\tb\n")
        elif name == "a.csv.gz":
            path.write_bytes(gzip.compress(b"age,x\n3,a\n1,b\n"))
        elif name == "a.jsonl":
            path.write_text('{"age": 3}\n{"age": 1}\n')
        elif name == "many":
            path.mkdir()
            pl.DataFrame({"age": [3]}).write_parquet(path / "1.parquet")
            pl.DataFrame({"age": [1]}).write_parquet(path / "2.parquet")
        return path

    @pytest.mark.parametrize("name", ["a.tsv", "a.csv.gz", "a.jsonl", "many"])
    def test_files_of_any_kind_that_a_query_reads(self, tmp_path, name):
        made = study(data={"file": self.written(tmp_path, name), "column": "age"})
        assert set(all_sets(made).reshape(-1).tolist()) == {1, 3}
        assert made.cells[0].whole

    def test_a_folder_with_another_file_is_read_anew(self, tmp_path):
        folder = self.written(tmp_path, "many")
        before = study(data={"file": folder, "column": "age"})
        pl.DataFrame({"age": [7]}).write_parquet(folder / "3.parquet")
        after = study(data={"file": folder, "column": "age"})
        assert before.key != after.key
        assert 7 in all_sets(after)
        pl.DataFrame({"age": [8, 9]}).write_parquet(folder / "3.parquet")
        last = study(data={"file": folder, "column": "age"})
        assert 7 not in all_sets(last)


class TestOneSource:
    """What other parts use: `data_source`."""

    def test_kinds(self, tmp_path):
        np.save(tmp_path / "a.npy", np.arange(5.0))
        rng = np.random.default_rng(1)
        for data, label in (
            ("normal", "normal"),
            (gamma, "gamma"),
            (str(tmp_path / "a.npy"), "a.npy"),
            (tmp_path / "a.npy", "a.npy"),
        ):
            source = data_source(data)
            assert source.label == label
            assert (source.takes, source.fixed, source.size) == ("records", False, None)
            assert source.data_sets(rng, 3, 4).shape == (3, 4)
        assert data_source([1, 2]).size == 2

    def test_several(self):
        with raises("one source of data"):
            data_source({"name": "normal", "sd": [1, 2]})
