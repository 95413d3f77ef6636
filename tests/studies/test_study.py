"""Is a study what it says: settings with all faults told at once, and tasks that are pure?"""

from __future__ import annotations

import json
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from tests.doors.studies import Ranked, run_task
from tests.messages import says
from tests.support.each import each
from tests.support.small_study import SETTINGS, TASKS, small

LEAST: dict[str, Any] = {"name": "s", "mechanisms": ["median"], "epsilon": 1.0, "bounds": (0, 1)}


def faults(**changes: Any) -> list[str]:
    """The faults that a study with these settings is refused for, a line each."""
    with pytest.raises(fx.ParameterError) as caught:
        fx.Study(**{**LEAST, **changes})
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


class TestFaults:
    def test_all_are_told_at_once(self):
        found = faults(
            name="a b",
            mechanisms=["foo", {"name": "median", "colour": 1}, 3],
            epsilon=[-1.0, "x"],
            data=["zz", {"name": "normal", "sd": 0.0}],
            n=0,
            bounds=(3, 1),
            datasets=0,
            draws=-1,
            figures="err",
            levels=[1.0],
            seed=2**64,
            block=0,
            question=1,
        )
        begins = ["name", "bounds", "epsilon", "epsilon", "n", "figures", "levels", "data[0] (zz)"]
        begins += ["data[1] (normal)", "mechanisms[0] (foo)", "mechanisms[1] (median)"]
        begins += ["mechanisms[2]", "datasets", "draws", "seed", "block", "question"]
        assert sorted(line.partition(":")[0] for line in found) == sorted(begins)

    @each(
        ("changes", "words"),
        [
            ({"epsilon": []}, "epsilon: must not be empty"),
            ({"epsilon": [1, 1.0]}, "epsilon: must not hold a value twice"),
            ({"epsilon": float("nan")}, "epsilon: must be finite"),
            ({"epsilon": 10**400}, "epsilon: must be finite"),
            ({"bounds": (0, 10**400)}, "bounds: must be two finite numbers"),
            ({"bounds": None}, "mechanisms[0] (median): bounds are missing"),
            ({"n": True}, "n: must be an integer"),
            ({"n": 1.5}, "n: must be an integer"),
            ({"mechanisms": []}, "mechanisms: must not be empty"),
            ({"mechanisms": ["median", "median"]}, "mechanisms: two have the same label"),
            ({"mechanisms": [{"name": "quantile"}]}, "required positional argument: 'q'"),
            ({"mechanisms": [{"name": "quantile", "q": 2}]}, "mechanisms[0] (quantile): q must"),
            ({"mechanisms": [{"name": "median", "step": object()}]}, "(median): step must be a"),
            ({"mechanisms": [{"name": "median", "truth": 1j}]}, "(median): truth must be a number"),
            ({"mechanisms": ["exponential"]}, "takes utilities, and no data of the study are that"),
            ({"figures": "theorem_6"}, "mechanisms[0] (median): has none of the figures; it has"),
            (
                {"data": {"name": "normal", "mean": float("inf")}},
                "mean must be between -1e+150",
            ),
            ({"data": {"name": "normal", "mean": 10**400}}, "mean must be between -1e+150"),
            ({"data": {"name": "zipf", "values": 1.5}}, "values must be an integer"),
            ({"data": {"name": "zipf", "exponent": -1}}, "exponent must be between 0 and 100"),
            ({"data": {"name": "bimodal", "share": 2}}, "share must be between 0 and 1, got 2"),
            ({"data": {"name": "ages", "heaping": -2}}, "heaping must be between 0 and 100"),
            ({"data": {"name": "uniform", "low": 3}}, "low must be less than high"),
            ({"data": {"name": "values"}}, "values must be a list of finite numbers"),
            ({"data": {"name": "values", "values": [1, "a"]}}, "values must be a list of finite"),
            ({"data": ["normal", {"name": "normal"}]}, "data: two have the same label"),
            ({"data": np.zeros((2, 2))}, "data[0]: must be a name, a dict of settings"),
            ({"data": 3}, "data[0]: must be a name, a dict of settings"),
            ({"data": {"function": "os:getcwd"}}, "data[0]: function must be a callable f(rng, n)"),
            ({"data": {"function": len, "takes": "x"}}, "takes must be one of"),
            ({"data": {"function": len, "mean": None}}, "mean must be a number"),
            ({"data": {"name": "normal", "n": 0}}, "data[0] (normal): n must be between"),
            ({"data": {"name": "normal", "sd": [1, 0]}}, "sd must be between 1e-150 and 1e+150"),
            ({"data": {"frame": {"age": []}}}, "data must be finite numbers"),
            (
                {"data": {"frame": {"age": range(100_001)}}},
                "a frame must have at most 100,000 rows",
            ),
            (
                {"data": {"frame": {"age": [1]}, "n": 3, "q": 1}},
                "unknown parameters q; there are: column",
            ),
            (
                {"data": {"file": "nowhere.csv"}},
                "data[0]: frame must be a path that can be read, got 'nowhere.csv'",
            ),
            ({"data": {"file": "x.csv", "row": 1}}, "data[0]: unknown parameters row"),
        ],
    )
    def test_one_of_each_kind(self, changes, words):
        assert words in "\n".join(faults(**changes))
        assert len(faults(**changes)) == 1

    def test_mechanisms_without_exact_figures_need_draws(self, monkeypatch):
        monkeypatch.setattr(Ranked, "closed", False)
        assert faults(draws=0) == [
            "mechanisms[0] (median): has no exact figures: draws must be > 0"
        ]
        assert fx.Study(**{**LEAST, "draws": 1}).draws == 1


class TestSettings:
    def test_defaults(self):
        study = fx.Study(**LEAST)
        assert study.data == ({"name": "normal", "mean": 0.0, "sd": 1.0},)
        assert (study.n, study.epsilon, study.datasets, study.draws) == ((1000,), (1.0,), 1000, 100)
        assert (study.figures, study.levels, study.seed) == (("error",), (0.5, 0.95), 0)
        assert study.block == 1000  # 2**20 records, or all data sets
        assert fx.Study(**{**LEAST, "draws": 2**16}).block == 16  # 2**20 draws
        assert fx.Study(**{**LEAST, "draws": 0, "n": 1}).block == 1000  # no more than there are

    def test_round_trip(self):
        study = small()
        assert fx.Study(**study.to_dict()) == study
        plain = json.loads(json.dumps(study.to_dict()))
        assert fx.Study(**plain) == study
        assert fx.Study(**plain).key == study.key
        assert pickle.loads(pickle.dumps(study)) == study
        assert pickle.loads(pickle.dumps(study)).key == study.key

    def test_numpy_values_are_plain_ones(self):
        other = small(epsilon=np.array([0.5, 2.0]), n=[np.int64(5), np.int64(12)])
        assert other.key == small().key

    def test_any_setting_changes_the_key(self):
        changes: dict[str, Any] = {
            "name": "other",
            "data": ["normal"],
            "n": [5],
            "bounds": (-10, 121),
            "epsilon": [0.5],
            "mechanisms": ["median"],
            "datasets": 23,
            "draws": 9,
            "figures": ["error"],
            "levels": [0.5],
            "seed": 1,
            "block": 5,
            "question": "Which?",
            "version": "2",
        }
        assert set(changes) == set(small().to_dict())
        keys = {small(**{key: value}).key for key, value in changes.items()} | {small().key}
        assert len(keys) == len(changes) + 1

    @pytest.mark.slow
    def test_order_of_a_mechanisms_parameters_does_not_count(self):
        given = {"neighbors": "replace", "q": 0.9, "name": "quantile"}
        study, other = (
            small(mechanisms=[table]) for table in (given, dict(reversed(given.items())))
        )
        assert study.key == other.key
        assert study.run(workers=1).to_csv() == other.run(workers=1).to_csv()

    def test_is_immutable(self):
        with pytest.raises(AttributeError):
            small().seed = 1


class TestFiles:
    def write(self, folder: Path) -> Path:
        (folder / "ages.csv").write_text("age\n1\n2\n3\n")
        path = folder / "ages.toml"
        path.write_text(
            'epsilon = [0.5, 1.0]\nbounds = [0, 10]\nmechanisms = ["median"]\nn = 5\n'
            '[[data]]\nname = "normal"\nsd = 2.0\n[[data]]\nfile = "ages.csv"\n'
        )
        return path

    def test_toml(self, tmp_path):
        study = fx.Study.load(self.write(tmp_path))
        assert (study.name, study.n, study.bounds) == ("ages", (5,), (0, 10))
        assert study.data[0] == {"name": "normal", "mean": 0.0, "sd": 2.0}
        assert study.data[1]["file"] == str(tmp_path / "ages.csv")

    def test_json_of_a_results_folder(self, tmp_path, monkeypatch):
        self.write(tmp_path)
        monkeypatch.chdir(tmp_path)  # the file's path is relative, as the run was given it
        study = small(data=[{"file": "ages.csv"}])
        study.run(workers=1, out=tmp_path / "out")
        assert fx.Study.load(tmp_path / "out" / "study.json") == study

    @pytest.mark.parametrize(
        ("name", "text", "words"),
        [
            ("a.toml", "epsilon = ", "study that is not valid"),
            ("a.json", "[1]", "settings of a study"),
            ("a.json", "{", "study that is not valid"),
            ("a.toml", "epsilon = 1\ncolour = 2", "...colour: unknown setting"),
            ("a.toml", "epsilon = 1\ncolour = 2", "...mechanisms: missing setting"),
        ],
    )
    def test_damaged_files(self, tmp_path, name, text, words):
        (tmp_path / name).write_text(text)
        with pytest.raises(fx.ParameterError, match=says(words)):
            fx.Study.load(tmp_path / name)

    def test_missing_file(self, tmp_path):
        with pytest.raises(fx.ParameterError, match=says("file that cannot be read")):
            fx.Study.load(tmp_path / "a.toml")


class TestPurity:
    @pytest.mark.slow
    def test_tasks_do_not_depend_on_order_or_repetition(self):
        study = small()
        assert study.tasks == TASKS
        forward = [run_task(study, number) for number in range(TASKS)]
        backward = [run_task(small(), number) for number in reversed(range(TASKS))]
        assert json.dumps(forward) == json.dumps(backward[::-1])
        assert len({json.dumps(task["cells"]) for task in forward}) == TASKS

    @pytest.mark.process
    def test_tasks_are_the_same_in_another_process(self):
        study, numbers = small(), [0, TASKS - 1]
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            there = list(pool.map(run_task, [study] * 2, numbers))
        assert json.dumps(there) == json.dumps([run_task(study, number) for number in numbers])

    @pytest.mark.slow
    def test_the_last_block_has_the_rest(self):
        rows = [run_task(small(), number)["rows"] for number in range(6)]
        assert rows == [4, 4, 4, 4, 4, 2]
        assert {row["datasets"] for row in small().run(workers=1).rows} == {22}

    def test_more_data_sets_keep_the_first_ones(self):
        first, more = run_task(small(), 1), run_task(small(datasets=400), 1)
        assert json.dumps(first["cells"]) == json.dumps(more["cells"])

    @pytest.mark.slow
    def test_a_cell_does_not_depend_on_what_is_beside_it(self):
        """Neither mechanisms nor epsilons nor data nor n nor labels beside it change a row."""
        alone = small(data="ages", n=12, epsilon=2.0, mechanisms=["median"])
        own = [("ages", 12, "median", 2.0)] * 4
        rows = [list(row.values()) for row in alone.run(workers=1).rows]
        beside = [
            list(row.values())
            for row in small().run(workers=1).rows
            if (row["data"], row["n"], row["mechanism"], row["epsilon"]) == own[0]
        ]
        assert len(rows) == 4
        assert rows == beside

    @pytest.mark.parametrize("setting", ["seed", "bounds"])
    def test_draws_do_depend_on(self, setting):
        value = {"seed": 1, "bounds": (-11, 120)}[setting]
        assert run_task(small(), 0)["cells"] != run_task(small(**{setting: value}), 0)["cells"]

    def test_every_mechanism_has_draws_of_its_own(self):
        twins = [{"name": "quantile", "q": 0.5, "convention": c} for c in ("lower", "upper")]
        cells = small(mechanisms=["median", *twins], epsilon=SETTINGS["epsilon"]).cells
        assert len({cell.key for cell in cells}) == len(cells)
