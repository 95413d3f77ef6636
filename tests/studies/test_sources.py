"""Are the data of studies what they are called: laws, shapes, keys, files?"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from scipy import stats

import fastexp as fx
from tests.doors.studies import (
    SHARES,
    SOURCES,
    UTILITIES,
    Scenario,
    check,
    data_sets,
    data_sources,
    key_of,
)
from tests.messages import raises, says
from tests.support.each import each

ROWS, N = 40, 500
GIVEN = {name: {"values": [3, 1, 2]} for name in ("values", "utilities", "sample")}


def sets(name: str, place: int = 0, rows: int = ROWS, n: int = N, **settings: Any) -> np.ndarray:
    """Data sets of one block of a generator."""
    table = {"name": name, **check(name, {**GIVEN.get(name, {}), **settings})}
    scenario = Scenario(data_sources.source_of(table), n, key_of(7, table, n), None)
    return data_sets(scenario, place, 0, rows)


def p_value(sample: np.ndarray, law: Any) -> float:
    return float(stats.kstest(sample.reshape(-1), law.cdf).pvalue)


class TestGenerators:
    @each("name", SOURCES)
    def test_shape_and_reproduction(self, name):
        made = sets(name)
        assert made.shape == (ROWS, 3 if name in ("values", "utilities") else N)
        assert np.isfinite(made).all()
        assert made.tobytes() == sets(name).tobytes()
        assert (made == np.rint(made)).all() or not SOURCES[name].whole

    @each("name", SOURCES)
    def test_blocks_have_keys_of_their_own(self, name):
        same = sets(name).tobytes() == sets(name, place=1).tobytes()
        assert same is SOURCES[name].fixed
        rows = {row.tobytes() for row in sets(name)}
        assert (len(rows) == 1) if SOURCES[name].fixed else (len(rows) > 30)

    def test_a_shorter_block_is_a_part_of_a_whole_one(self):
        assert sets("normal", rows=5).tobytes() == sets("normal")[:5].tobytes()

    @pytest.mark.fast
    @pytest.mark.statistical
    def test_continuous_laws(self):
        assert p_value(sets("normal", mean=3.0, sd=2.0), stats.norm(3, 2)) > 1e-4
        assert p_value(sets("lognormal", median=5.0, sigma=0.7), stats.lognorm(0.7, 0, 5)) > 1e-4
        assert p_value(sets("uniform", low=-2.0, high=4.0), stats.uniform(-2, 6)) > 1e-4
        assert p_value(sets("normal"), stats.norm(0.05, 1)) < 1e-4  # the test can see that

    @pytest.mark.fast
    @pytest.mark.statistical
    def test_bimodal(self):
        made = sets("bimodal", low=-3.0, high=5.0, sd=0.5, share=0.25).reshape(-1)
        left = made[made < 1]
        assert left.size / made.size == pytest.approx(0.25, abs=0.015)
        assert p_value(left, stats.norm(-3, 0.5)) > 1e-4

    @pytest.mark.fast
    @pytest.mark.statistical
    def test_zipf(self):
        made = sets("zipf", values=50, exponent=1.5).reshape(-1)
        weights = np.arange(1, 51) ** -1.5
        seen = np.bincount(made, minlength=51)
        assert seen[0] == 0
        assert stats.chisquare(seen[1:], weights / weights.sum() * made.size).pvalue > 1e-4

    @pytest.mark.fast
    @pytest.mark.statistical
    def test_ages_of_adults(self):
        """The mean and the deviation of the source, which are printed elsewhere, and its range."""
        made = sets("adult-ages", n=20_000).reshape(-1)
        assert (made.min(), made.max()) == (17, 90)
        assert not (made == 89).any()
        assert np.unique(made).size == 73
        error = 13.64 / np.sqrt(made.size)
        assert abs(made.mean() - 38.5816) < 5 * error
        assert abs(made.std() - 13.6404) < 0.1

    @pytest.mark.fast
    @pytest.mark.statistical
    def test_ages(self):
        made = sets("ages").reshape(-1)
        seen = np.bincount(made, minlength=100)
        weights = np.repeat(np.array(SHARES) / 10, 10)
        weights[::10] *= 2
        assert seen.size == 100
        assert stats.chisquare(seen, weights / weights.sum() * made.size).pvalue > 1e-4
        assert np.median([np.unique(row).size for row in sets("ages")]) < 100  # of 500: ties

    @each(("n", "low"), [(1, 1), (2, 2), (5, 3), (6, 4)])
    def test_adversarial(self, n, low):
        made = sets("adversarial", n=n, low=-1.0, high=9.0)
        assert (made == np.array([-1.0] * low + [9.0] * (n - low))).all()

    @pytest.mark.fast
    @pytest.mark.statistical
    def test_utilities(self):
        leader = sets("leader", lead=3.0)
        assert (np.sort(leader, axis=1)[:, -2:] == (0.0, 3.0)).all()
        assert np.unique(leader.argmax(axis=1)).size > 20
        scores = np.bincount(sets("scores", most=4).astype(int).reshape(-1))
        assert scores.size == 5
        assert stats.chisquare(scores).pvalue > 1e-4
        votes = sets("votes", votes=1000, n=20)
        assert (votes.sum(axis=1) == 1000).all()
        weights = 1 / np.arange(1, 21)
        assert stats.chisquare(votes.sum(0), weights / weights.sum() * 1000 * ROWS).pvalue > 1e-4
        assert {name for name in SOURCES if SOURCES[name].rows == UTILITIES} == {
            "utilities",
            "leader",
            "scores",
            "votes",
        }

    def test_labels_do_not_change_what_is_drawn(self):
        how: dict[str, Any] = {
            "name": "s",
            "mechanisms": ["median"],
            "epsilon": 1,
            "bounds": (0, 1),
        }
        first, second = (
            fx.Study(**how, data=data).scenarios[0].key
            for data in ("normal", {"name": "normal", "label": "Gauss", "sd": 1.0})
        )
        assert first == second


class TestBounds:
    """Data may have bounds of their own, as they may have sizes of their own."""

    SETTINGS: ClassVar[dict[str, Any]] = {
        "name": "t",
        "epsilon": 1.0,
        "datasets": 20,
        "draws": 10,
        "n": 50,
    }

    def rows(self, **settings: Any) -> list[dict[str, Any]]:
        return fx.Study(**self.SETTINGS, **settings).run(workers=1).rows

    def test_they_are_as_good_as_those_of_the_study(self):
        """Another kind of data with other bounds beside them changes nothing."""
        kinds = ["median", "smooth-sensitivity-median"]
        one = self.rows(mechanisms=kinds, data="normal", bounds=(-1, 2))
        several = self.rows(
            mechanisms=kinds,
            data=["uniform", {"name": "normal", "bounds": (-1, 2)}],
            bounds=(0, 9),
        )
        assert several[2:] == one
        wide = self.rows(mechanisms=kinds, data=["normal"], bounds=(-9, 9))
        assert wide != one
        assert several[:2] == self.rows(mechanisms=kinds, data="uniform", bounds=(0, 9))

    def test_no_others_are_needed_and_utilities_have_none(self):
        data = [{"name": "normal", "bounds": (-1, 1)}, {"name": "scores", "n": 3}]
        rows = self.rows(mechanisms=["median", "exponential"], data=data)
        assert [row["mechanism"] for row in rows] == ["median", "exponential"]

    def test_a_study_with_them_comes_back(self):
        data = [{"name": "normal", "bounds": (-1, 1)}]
        study = fx.Study(**self.SETTINGS, mechanisms=["median"], data=data)
        assert fx.Study(**study.to_dict()) == study
        wider = [{"name": "normal", "bounds": (-1, 2)}]
        assert fx.Study(**self.SETTINGS, mechanisms=["median"], data=wider).key != study.key

    @each("bounds", [(1, 0), 3, (0, float("inf")), None, "01"])
    def test_they_are_two_numbers(self, bounds):
        data = [{"name": "normal", "bounds": bounds}]
        with raises("bounds of a source"):
            fx.Study(**self.SETTINGS, mechanisms=["median"], data=data)


class TestFiles:
    def study(self, **data: Any) -> fx.Study:
        return fx.Study(
            name="s",
            mechanisms=["median"],
            epsilon=1.0,
            bounds=(0, 100),
            data=data,
            n=7,
            datasets=30,
            draws=3,
        )

    def rows(self, study: fx.Study) -> np.ndarray:
        return data_sets(study.scenarios[0], 0, 0, 30)

    def write(self, folder: Any, kind: str) -> str:
        path, records = folder / f"ages.{kind}", [18, 21, 21, 65, 90]
        if kind == "csv":
            path.write_text("name, age\nx, 18\nx, 21\nx, 21\nx, 65\nx, 90\n")
        elif kind == "npy":
            np.save(path, np.array(records, dtype=np.float32))
        else:
            pl.DataFrame({"age": records, "name": list("xxxxx")}).write_parquet(path)
        return str(path)

    @pytest.mark.engines
    def test_kinds_of_files_give_the_same_data_sets(self, tmp_path):
        made = []
        for kind in ("csv", "parquet"):
            study = self.study(file=self.write(tmp_path, kind), column="age")
            made.append(self.rows(study))
            assert study.cells[0].data == "age"
            assert study.cells[0].whole
        assert made[0].tobytes() == made[1].tobytes()
        study = self.study(file=self.write(tmp_path, "npy"))
        assert study.cells[0].data == "ages.npy"
        made.append(self.rows(study))
        for rows in made:
            assert rows.shape == (30, 7)
            assert set(rows.reshape(-1).tolist()) == {18, 21, 65, 90}
            shares = [(rows == age).mean() for age in (18, 21, 65, 90)]
            assert shares == pytest.approx([0.2, 0.4, 0.2, 0.2], abs=0.12)

    @pytest.mark.engines
    def test_where_a_file_lies_does_not_count(self, tmp_path):
        (tmp_path / "other").mkdir()
        here = self.study(file=self.write(tmp_path, "csv"), column="age")
        there = self.study(file=self.write(tmp_path / "other", "csv"), column="age")
        assert self.rows(here).tobytes() == self.rows(there).tobytes()
        assert here.run(workers=1).to_csv() == there.run(workers=1).to_csv()

    def test_another_content_is_refused(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text("age\n1\n2\n")
        study = self.study(file=str(path))
        path.write_text("age\n1\n2\n3\n")
        with raises("data that changed"):
            fx.Study(**study.to_dict())
        with pytest.raises(fx.StudyError, match=says("data that changed")):
            study.run(workers=1)

    def test_a_file_that_is_written_anew_is_read_anew(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text("age\n1\n2\n")
        before = self.study(file=str(path))
        path.write_text("age\n1\n2\n3\n")
        assert self.study(file=str(path)).key != before.key

    def test_fractions_are_not_whole(self, tmp_path):
        (tmp_path / "a.csv").write_text("x\n1\n2.5\n")
        assert not self.study(file=str(tmp_path / "a.csv")).cells[0].whole

    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("a.csv", b"a,b\n1,2\n", "frame has no column '': it has 'a', 'b'"),
            ("a.csv", b"41\n42\n43\n", "may be a record (is there a header row?)"),
            ("a.csv", b"a\n1\nx\n", "must hold numbers only"),
            ("a.csv", b"a\n1\ninf\n", "data must be finite numbers"),
            ("a.csv", b"a\n", "data must be finite numbers"),
            ("a.npy", b"nothing", "cannot be read as a .npy file of numbers"),
            ("a.parquet", b"PAR1 nothing PAR1", "a.parquet"),
        ],
    )
    def test_damaged_files(self, tmp_path, name, content, words):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(fx.ParameterError) as caught:
            self.study(file=str(tmp_path / name))
        assert words in str(caught.value)

    def test_shapes_that_are_no_records(self, tmp_path):
        np.save(tmp_path / "a.npy", np.zeros((2, 2)))
        with raises("numbers of a study"):
            self.study(file=str(tmp_path / "a.npy"))
