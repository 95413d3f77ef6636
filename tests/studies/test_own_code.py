"""Does a study know the user's code by name and content, on whatever runs it, and after a stop?"""

from __future__ import annotations

import json
import pickle
import sys
import types
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastexp as fx
from tests.doors.studies import Code, code_of
from tests.messages import raises, says
from tests.support.each import each
from tests.support.own_code import Noisy, Wide, far, gamma

MODULE = "tests.support.own_code"


def study(**changes: Any) -> fx.Study:
    settings: dict[str, Any] = {
        "name": "mine",
        "data": gamma,
        "mechanisms": ["median", Noisy()],
        "figures": ["error", far],
        "epsilon": 1.0,
        "n": 9,
        "bounds": (0, 10),
        "datasets": 12,
        "draws": 3,
        "block": 4,
    }
    return fx.Study(**{**settings, **changes})


def stopped(folder: Path, **changes: Any) -> Path:
    """A results folder in which two of three tasks are done."""
    path = folder / "out"
    study(**changes).run(workers=1, out=path)
    lines = (path / "tasks.jsonl").read_bytes().splitlines(keepends=True)
    (path / "tasks.jsonl").write_bytes(b"".join(lines[:2]))
    return path


def digest(value: Any, version: str = "") -> str:
    return code_of(value, version).digest


def with_scale(scale: Any) -> Any:
    def scaled(rng: Any, n: int) -> Any:
        return rng.normal(0, scale, n)

    return scaled


class TestDigests:
    def test_the_same_code_is_the_same(self):
        assert digest(gamma) == digest(gamma)
        assert digest(Noisy()) == digest(Noisy())
        assert digest(with_scale(2)) == digest(with_scale(2))
        assert digest(partial(gamma, shape=2)) == digest(partial(gamma, shape=2))
        assert code_of(gamma).reference == f"{MODULE}:gamma"
        assert code_of(Noisy()).reference == f"{MODULE}:Noisy"
        assert code_of(partial(gamma, shape=2)).reference == f"{MODULE}:gamma"

    @each(
        ("one", "other"),
        [
            (with_scale(1), with_scale(2)),
            (with_scale([1, 2]), with_scale([1, 3])),
            (with_scale({"a": np.arange(3)}), with_scale({"a": np.arange(4)})),
            (with_scale({1, 2}), with_scale({1, 3})),
            (partial(gamma, shape=1), partial(gamma, shape=2)),
            (Noisy(1), Noisy(2)),
            (Noisy(1).sample, Noisy(2).sample),
            (lambda rng, n: rng.random(n), lambda rng, n: -rng.random(n)),
            (lambda rng, n: rng.random(n), lambda rng, n: rng.standard_normal(n)),
            (lambda _, n: [0] * n, lambda _, n: [1] * n),
            (lambda _, n, x=1: [x] * n, lambda _, n, x=2: [x] * n),
            (
                lambda _, n: [[0 for _ in "a"] for _ in n],
                lambda _, n: [[1 for _ in "a"] for _ in n],
            ),
            (len, sum),
        ],
    )
    def test_other_code_is_another(self, one, other):
        assert digest(one) != digest(other)
        assert digest(one, "1") == digest(other, "1") != digest(one, "2")

    def test_what_goes_on_in_secret_does_not_count(self):
        used = Noisy()
        used._cache = [1, 2, 3]  # type: ignore[attr-defined]
        assert digest(used) == digest(Noisy())

    def test_a_name_that_is_bound_later(self):
        def early(rng, n):
            return later(rng, n)

        before = digest(early)
        later = gamma
        assert before != digest(early)

    def test_what_goes_round(self):
        made = Noisy()
        made.myself = made  # type: ignore[attr-defined]
        assert digest(made) != digest(Noisy())

    def test_it_is_in_the_key_and_the_version_stands_for_it(self):
        other = Noisy(3)
        assert study().key == study().key
        assert study(mechanisms=["median", other]).key != study().key
        both = [study(mechanisms=["median", it], version="1").key for it in (Noisy(), other)]
        assert both[0] == both[1] != study(version="2").key

    def test_a_script_and_its_module_draw_the_same(self, monkeypatch):
        here = study().run(workers=1).to_csv()
        monkeypatch.setattr(gamma, "__module__", "__main__")
        assert study().codes[0].reference == "__main__:gamma"
        assert study().run(workers=1).to_csv() == here


class TestPlain:
    def test_round_trip_has_names_only(self):
        made = study()
        plain = json.loads(json.dumps(made.to_dict()))
        assert plain["data"][0]["function"] == {
            "code": f"{MODULE}:gamma",
            "digest": digest(gamma),
        }
        again = fx.Study(**plain)
        assert again == made
        assert [cell.averages for cell in again.cells] == [cell.averages for cell in made.cells]
        with pytest.raises(
            fx.StudyError, match=says("code that is not given", reference=f"{MODULE}:gamma")
        ):
            again.run(workers=1)

    def test_pickle_has_the_code(self):
        again = pickle.loads(pickle.dumps(study()))
        assert again == study()
        assert again.run(workers=1).to_csv() == study().run(workers=1).to_csv()

    def test_unfinished_results_can_be_read(self, tmp_path):
        results = fx.StudyResults.open(stopped(tmp_path))
        assert [row["datasets"] for row in results.rows] == [8] * 4


class TestResume:
    def test_with_the_study(self, tmp_path):
        path = stopped(tmp_path)
        results = fx.Study.resume(path, study=study(), workers=1)
        assert results.to_csv() == study().run(workers=1).to_csv()

    def test_by_import(self, tmp_path):
        path = stopped(tmp_path)
        results = fx.Study.resume(path, workers=1, allow_import=True)
        assert results.to_csv() == study().run(workers=1).to_csv()

    def test_who_stops_a_run_is_told_to_give_the_study(self, tmp_path):
        def stop(*_: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as caught:
            study().run(workers=1, out=tmp_path / "out", progress=stop)
        call = f"fastexp.Study.resume({str(tmp_path / 'out')!r}, study=study)"
        assert caught.value.__notes__[0].endswith(f"go on with {call}")

    def test_neither(self, tmp_path):
        path = stopped(tmp_path)
        with raises("code that is not given"):
            fx.Study.resume(path, workers=1)

    def test_other_code_is_told(self, tmp_path):
        path = stopped(tmp_path, data=partial(gamma, shape=3.0))
        words = says("code that changed", reference=f"{MODULE}:gamma")
        with pytest.raises(fx.StudyError, match=says(words)):
            fx.Study.resume(path, study=study(), workers=1)
        with pytest.raises(fx.StudyError, match=says(words)):
            fx.Study.resume(path, workers=1, allow_import=True)

    def test_a_version_lets_it_pass(self, tmp_path):
        path = stopped(tmp_path, data=partial(gamma, shape=3.0), version="1")
        fx.Study.resume(path, study=study(version="1"), workers=1)
        with raises("...version: setting that changed, got '2'", there="'1'"):
            fx.Study.resume(path, study=study(version="2"), workers=1)

    def test_another_setting_is_told_as_before(self, tmp_path):
        path = stopped(tmp_path)
        with raises("...seed: setting that changed, got 1", there="0"):
            fx.Study.resume(path, study=study(seed=1), workers=1)


@pytest.mark.process
class TestWorkers:
    def test_processes_give_the_same_bytes(self):
        there = study().run("processes", workers=2)
        assert there.to_csv() == study().run(workers=1).to_csv()

    @pytest.mark.parametrize("kind", ["processes", "pool"])
    def test_a_lambda_stays_at_home(self, kind, tmp_path):
        made = study(data=lambda rng, n: rng.random(n))
        words = "...<lambda>: code that stays here"
        with ProcessPoolExecutor(1) as pool:
            executor = pool if kind == "pool" else kind
            with pytest.raises(fx.ParameterError, match=says(words)):
                made.run(executor, out=tmp_path / "out")
        assert not (tmp_path / "out").exists()
        assert made.run("threads", workers=2).rows

    def test_new_processes_do_not_know_a_notebook(self, tmp_path, monkeypatch):
        notebook = types.ModuleType("__main__")
        exec("def drawn(rng, n):\n    return rng.random(n)", notebook.__dict__)  # noqa: S102 - a cell
        monkeypatch.setitem(sys.modules, "__main__", notebook)
        with raises("__main__:drawn: code that stays here"):
            study(data=notebook.drawn).run("processes", out=tmp_path / "out")
        assert not (tmp_path / "out").exists()


class TestFiles:
    TOML = """
epsilon = 1.0
n = 9
bounds = [0, 10]
datasets = 12
draws = 3
block = 4
figures = ["error", "MODULE:far"]
data = {function = "MODULE:gamma", shape = [2.0]}
mechanisms = ["median", {subject = "MODULE:Noisy"}]
"""

    def written(self, folder: Path, module: str = MODULE) -> Path:
        path = folder / "mine.toml"
        path.write_text(self.TOML.replace("MODULE", module))
        return path

    def test_a_file_is_data(self, tmp_path):
        with raises("code named in a file"):
            fx.Study.load(self.written(tmp_path))

    def test_that_nothing_is_imported(self, tmp_path):
        (tmp_path / "mymodule.py").write_text("raise SystemExit('imported')")
        with raises("code named in a file"):
            fx.Study.load(self.written(tmp_path, "mymodule"))
        with pytest.raises(SystemExit):
            fx.Study.load(self.written(tmp_path, "mymodule"), allow_import=True)

    def test_allowed(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sys, "path", [*sys.path])
        made = fx.Study.load(self.written(tmp_path), allow_import=True)
        same = study(data={"function": gamma, "shape": 2.0})
        found, expected = made.run(workers=1).rows, same.run(workers=1).rows
        assert [row["monte_carlo"] for row in found] == [row["monte_carlo"] for row in expected]

    def test_results_folders_are_files_too(self, tmp_path):
        path = stopped(tmp_path) / "study.json"
        with raises("code named in a file"):
            fx.Study.load(path)
        assert fx.Study.load(path, allow_import=True) == study()

    def test_a_class_that_needs_arguments(self, tmp_path):
        path = self.written(tmp_path)
        path.write_text(path.read_text().replace(":Noisy", ":Wide"))
        reference = f"{MODULE}:Wide"
        with raises("class with arguments", reference=reference):
            fx.Study.load(path, allow_import=True)
        results = stopped(tmp_path, mechanisms=["median", Wide(2.0)])
        with raises("class with arguments", reference=reference):
            fx.Study.resume(results, workers=1, allow_import=True)

    @pytest.mark.parametrize("name", ["nowhere", "tests.support.own_code:nothing", "no such:x", ""])
    def test_names_of_nothing(self, tmp_path, name):
        path = tmp_path / "mine.toml"
        path.write_text(self.TOML.replace("MODULE:gamma", name).replace("MODULE", MODULE))
        with raises("code by its name"):
            fx.Study.load(path, allow_import=True)


class TestMessages:
    def test_a_study_that_is_called_in_another_way(self):
        with pytest.raises(TypeError, match=r"Study\.__init__.* 'mechanisms' and 'epsilon'"):
            fx.Study(name="s")

    def test_code_is_shown_by_name(self):
        assert "data gamma; n 9; mechanisms median, noisy" in repr(study())
        assert "figures error, far" in repr(study())
        results = study().run(workers=1)
        assert "error, far" in results._repr_html_()
        assert results.table("far").title.startswith("Far: ")
        assert Code("a:b.c", "0").name == "c"

    @pytest.mark.slow
    def test_reports_have_figures_of_ones_own(self, tmp_path):
        study().run(workers=1, out=tmp_path / "out")
        (page, *_) = fx.StudyResults.open(tmp_path / "out").report(tmp_path / "report")
        assert "far" in page.read_text()
