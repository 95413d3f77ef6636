"""``fastexp study``: what is printed and written, and how it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import fastexp as fx
from fastexp import StudyResults
from tests.doors.cli import errors
from tests.doors.studies import MECHANISMS, READY, SOURCES, report, tables_of
from tests.support.command_line import Run
from tests.support.own_code import Noisy

TASKS = 6  # of the fixture `file`


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal on which each row of a table is a line."""
    monkeypatch.setenv("COLUMNS", "200")


# ---- list ----


@pytest.mark.usefixtures("wide")
def test_the_list_tells_names_sizes_and_questions(run: Run) -> None:
    code, out, err = run("study", "list")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["study", "cells", "data", "sets", "draws", "question"]
    studies = lines[1 : 1 + len(READY)]
    assert [line.split()[0] for line in studies] == [*READY]
    others = [line.split()[0] for line in lines[1 + len(READY) :] if line]
    assert others == ["data", *SOURCES, "mechanism", *MECHANISMS]
    for line, study in zip(studies, map(fx.Study.ready, READY), strict=True):
        assert line.endswith(f"  {study.question}")
        assert f" {study.datasets:,} " in line
    code, out, _ = run("study", "list", "--json")
    told = json.loads(out)["studies"]
    assert [s["name"] for s in told] == [*READY]
    assert set(told[0]) == {"name", "question", "cells", "datasets", "draws"}


# ---- run ----


@pytest.mark.usefixtures("wide")
def test_a_file_is_run_and_its_rows_are_shown(run: Run, file: str) -> None:
    code, out, err = run("study", "run", file)
    assert code == 0
    assert err == "nothing was saved: add --out DIR to keep results, or --json\n"
    assert out.startswith("medians: How far off?\n12 data sets of each kind and size, 20 draws")
    assert "Simulations, not private releases" in out
    results = fx.Study.load(file).run(workers=1)
    assert f"agree in all {len(results.rows)} rows" in out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    error, quantile = tables_of(results.to_dict())
    for table in (error, quantile):
        assert table.title in out
        assert {" ".join(cells) for cells in (table.columns, *table.rows)} <= set(lines)
        assert table.note in " ".join(lines)
    cells = {(r["n"], r["epsilon"], r["mechanism"]): r["exact"] for r in results.rows[::2]}
    assert error.rows[0][0:2] == ["50", "0.5"]
    assert error.rows[0][2] == f"{cells[50, 0.5, 'median']:.3g}"
    assert len(error.rows) == len(quantile.rows) == 4
    assert "[b]other[/b]" in out


def test_json_is_one_document_with_rows_and_tables(run: Run, file: str) -> None:
    code, out, _ = run("study", "run", file, "--json")
    told = json.loads(out)
    results = fx.Study.load(file).run(workers=1)
    assert code == 0
    tables = told.pop("tables")
    assert told == json.loads(json.dumps(results.to_dict()))
    assert [table["columns"][:3] for table in tables] == [["n", "epsilon", "median"]] * 2
    arguments = ("--json", "--datasets", "2", "--draws", "2", "-q")
    code, out, err = run("study", "run", "randomized-response", *arguments)
    assert err == ""
    tables = json.loads(out)["tables"]
    assert tables
    assert set(tables[0]) == {"title", "columns", "rows", "note", "keys"}
    assert all(len(row) == len(tables[0]["columns"]) for row in tables[0]["rows"])


def test_a_ready_made_study_prints_its_own_tables(run: Run) -> None:
    arguments = ("--datasets", "2", "--draws", "50", "--seed", "3")
    code, out, _ = run("study", "run", "randomized-response", *arguments)
    assert code == 0
    found = fx.Study.ready("randomized-response", datasets=2, draws=50, seed=3).run(workers=1)
    (table,) = tables_of(found.to_dict())
    assert table.title in out
    assert table.note in " ".join(out.split())
    assert all(row[-1] in out for row in table.rows)
    assert "error_quantile" not in out


def test_settings_are_changed(run: Run, file: str) -> None:
    arguments = ("--datasets", "5", "--draws", "0", "--seed", "7")
    code, out, _ = run("study", "run", file, *arguments, "--json")
    told = json.loads(out)["study"]
    assert (told["datasets"], told["draws"], told["seed"]) == (5, 0, 7)
    assert (told["block"], told["name"], code) == (4, "medians", 0)
    code, out, _ = run("study", "run", file, *arguments)
    assert "agree" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "there is no study 'nothing'; there are table1, "),
        (("nothing.toml",), "nothing.toml cannot be read"),
        (("FILE", "--datasets", "0"), "--datasets must be an integer between 1 and"),
        (("FILE", "--scheduler", "tcp://x:1"), "--scheduler needs --executor dask"),
        (
            ("FILE", "--executor", "dask", "--scheduler", "x:1", "--workers", "2"),
            "--workers does not go with --scheduler",
        ),
        (("FILE", "--out", "FOLDER"), "out must be a new or an empty folder"),
    ],
)
def test_mistakes_are_told(run: Run, file: str, arguments: tuple[str, ...], message: str) -> None:
    words = {"FILE": file, "FOLDER": str(Path(file).parent)}
    code, out, err = run("study", "run", *(words.get(a, a) for a in arguments))
    assert (code, out) == (2, "")
    assert err.startswith(("fastexp: error: ", "fastexp study run: error: "))
    assert message in err


def test_disagreement_is_a_failure_after_the_tables(
    run: Run, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disagree(self: Any, *_: Any, **__: Any) -> StudyResults:
        results = real(self, workers=1)
        results.rows[2]["agree"] = False
        return results

    real = fx.Study.run
    monkeypatch.setattr(fx.Study, "run", disagree)
    code, out, err = run("study", "run", file)
    assert code == 1
    assert out.count(" !") == 1
    assert "!: exact figures and draws disagree." in out
    assert "agree in all" not in out
    assert "error: exact figures and Monte Carlo disagree in 1 of 16 rows" in err
    code, out, _ = run("study", "run", file, "--json")
    assert (code, json.loads(out)["rows"][2]["agree"]) == (1, False)


# ---- folders ----


def test_code_is_allowed_in_the_command_that_goes_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path / "out")
    own = fx.Study(name="own", mechanisms=[Noisy()], epsilon=1.0, n=9, datasets=2, draws=1, block=1)
    own.run(workers=1, out=folder)
    tasks = Path(folder, "tasks.jsonl")
    tasks.write_bytes(tasks.read_bytes().splitlines(keepends=True)[0])
    Path(folder, "table.json").unlink()
    command = f"1 of 2 tasks are finished and kept; go on with: fastexp study resume {folder}"
    _, _, err = run("study", "report", folder)
    assert f"{command} --allow-import\n" in err
    page = Path(folder, "report.html").read_text(encoding="utf-8")
    assert "fastexp study run own.json --out results" in page
    assert "need <code>--allow-import</code>" in page

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fx.Study, "resume", stop)
    _, _, err = run("study", "resume", folder, "--allow-import")
    assert f"study resume {folder} --allow-import\n" in err


@pytest.mark.slow
def test_out_resume_and_report(
    run: Run, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, shown, err = run("study", "run", file, "--out", "my results", "--workers", "1")
    assert code == 0
    assert "study report 'my results'" in err
    table = Path("my results/table.csv").read_bytes()
    lines = Path("my results/tasks.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) == TASKS
    Path("my results/tasks.jsonl").write_bytes(b"".join(lines[:3]))
    Path("my results/table.json").unlink()
    Path("my results/table.csv").unlink()
    code, out, err = run("study", "report", "my results")
    assert (code, Path(out.splitlines()[0])) == (0, Path("my results/report.html"))
    assert "unfinished run: 3 of 6 tasks are finished and kept; go on with:" in err
    assert "study resume 'my results'" in err
    assert not Path("my results/table.csv").exists()
    code, again, _ = run("study", "resume", "my results", "--executor", "threads")
    assert (code, again) == (0, shown)
    assert Path("my results/table.csv").read_bytes() == table
    code, out, err = run("study", "report", "my results", "--format", "png", "svg")
    assert (code, err) == (0, "")
    names = ["report.html", "figure-1-error.png", "figure-1-error.svg"]
    assert [Path(line).name for line in out.splitlines()[:3]] == names
    assert all(Path(line).stat().st_size > 1000 for line in out.splitlines())
    code, out, _ = run("study", "report", "my results", "--output", "there", "--json")
    written = json.loads(out)["files"]
    assert (code, written[0]) == (0, str(Path("there/report.html")))
    assert Path(written[0]).exists()
    code, _, err = run("study", "resume", "there")
    assert (code, "is not the results folder of a study" in err) == (1, True)


def test_a_page_without_matplotlib(
    run: Run, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path / "out")
    assert run("study", "run", file, "--out", folder, "-q")[0] == 0
    monkeypatch.setattr(report, "find_spec", lambda _: None)
    code, out, err = run("study", "report", folder)
    assert (code, len(out.splitlines())) == (0, 3)
    assert "pip install matplotlib" in err
    monkeypatch.setattr(errors, "optional", lambda name: None)
    code, _, err = run("study", "report", folder, "--format", "png")
    assert (code, "--format needs a package" in err) == (1, True)


# ---- code of the user's ----


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """A study that names a function beside it."""
    (tmp_path / "beside_the_study.py").write_text(
        "def data(rng, n):\n    return rng.random(n)\n", encoding="utf-8"
    )
    path = tmp_path / "coded.toml"
    path.write_text(
        "epsilon = 1.0\nn = 9\nbounds = [0, 1]\ndatasets = 6\nblock = 2\ndraws = 2\n"
        'mechanisms = ["median"]\ndata = {function = "beside_the_study:data"}\n',
        encoding="utf-8",
    )
    return path


def test_a_file_is_data_unless_code_is_allowed(
    run: Run, coded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder = str(coded.parent / "out")
    code, _, err = run("study", "run", str(coded), "--out", folder)
    assert code == 2
    assert "names code, 'beside_the_study:data', which is imported only if" in err
    assert "beside_the_study" not in sys.modules
    code, _, _ = run("study", "run", str(coded), "--out", folder, "--allow-import")
    assert code == 0
    (coded.parent / "out" / "tasks.jsonl").write_bytes(b"")
    code, _, err = run("study", "resume", folder)
    assert code == 1
    assert "the study needs beside_the_study:data, and its file holds only that name" in err
    code, out, _ = run("study", "resume", folder, "--allow-import")
    assert code == 0
    assert "data" in out
