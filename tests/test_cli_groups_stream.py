"""Does `--by` read files larger than memory, within its limit, to the same answers?"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fastexp as fx
from fastexp.cli import (
    arguments,
    blocks,
    grouped_csv,
    grouped_parquet,
    grouped_places,
    grouped_progress,
    grouped_store,
)
from fastexp.cli.errors import Failure
from tests.command_line import Run

GROUPS = [f"c{i}" for i in range(40)]
COMMAND = ["--column", "x", "--by", "city", "--epsilon", "0.1"]
BOUNDS = ["--bounds", "0", "1000", "--step", "0.25"]


def frame(n: int = 20_000) -> pl.DataFrame:
    rng = np.random.default_rng(8)
    city = rng.integers(0, 39, n)
    city[: n // 5] = 7  # a large group
    x = np.round(rng.normal(500, 150, n), 2)
    label = rng.choice(["red", "green", "blue"], n)
    return pl.DataFrame({"city": [f"c{i}" for i in city], "x": x, "label": label, "id": city // 3})


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    data = frame()
    data.write_csv(tmp_path / "a.csv")
    data.write_parquet(tmp_path / "a.parquet", row_group_size=3000)
    (tmp_path / "groups.txt").write_text("\n".join(GROUPS))
    (tmp_path / "a.key").write_text(fx.release_key().export())
    (tmp_path / "a.key").chmod(0o600)
    return {path.name: str(path) for path in tmp_path.iterdir()}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Small blocks and no least memory; the lengths of what was gathered, range by range."""
    monkeypatch.setattr(arguments, "LEAST_MEMORY", 1)
    monkeypatch.setattr(blocks, "SIZE", 5000)
    monkeypatch.setattr(grouped_csv, "BATCH", 700)
    monkeypatch.setattr(grouped_parquet, "ROWS", 900)
    monkeypatch.setattr(grouped_parquet, "SLICE", 2500)
    seen: list[int] = []
    plain = grouped_places.Places.segments

    def segments(self: Any, dtype: Any) -> Any:
        found = plain(self, dtype)
        seen.append(found.values.size)
        return found

    monkeypatch.setattr(grouped_places.Places, "segments", segments)
    return seen


def answers(run: Run, *arguments: object) -> list[Any]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    rows: list[dict[str, Any]] = json.loads(out)["rows"]
    assert [row["group"] for row in rows] == GROUPS
    return [row[next(name for name in row if name != "group")] for row in rows]


@pytest.mark.engines
@pytest.mark.parametrize("arrow", [False, True])
@pytest.mark.parametrize("file", ["a.csv", "a.parquet"])
def test_answers_do_not_depend_on_memory_or_batches(
    run: Run, files, small, monkeypatch, file: str, arrow: bool
) -> None:
    if arrow:
        monkeypatch.setitem(sys.modules, "polars", None)
    data = frame()
    key = fx.ReleaseKey.restore(Path(files["a.key"]).read_text())
    made = fx.Median(0.1, (0, 1000), step=0.25)
    how = {"by": data["city"], "groups": GROUPS, "key": key, "label": "x by city"}
    exact = made.release(data["x"], **how).tolist()
    ask = ["median", files[file], *COMMAND, *BOUNDS, "--groups", files["groups.txt"]]
    for memory, ranges in (("2GB", 1), ("300KB", 1), ("230KB", 2), ("150KB", 3)):
        small.clear()
        assert answers(run, *ask, "--key", files["a.key"], "--memory", memory) == exact
        assert len(small) == ranges
        assert sum(small) == data.height
        assert ranges == 1 or max(small) * 8 <= 1024 * int(memory[:3])
    code, out, err = run(*ask, "--key", files["a.key"], "--memory", "50KB")
    assert (code, out) == (2, "")  # the large group
    assert "the records of a group do not fit into memory, as they must with --key" in err
    code, out, err = run(*ask, "--draws", "2", "--memory", "50KB")
    assert (code, "as they must with --draws" in err) == (2, True)


@pytest.mark.engines
def test_draws_do_not_depend_on_memory(run: Run, files, small) -> None:
    ask = ["select", files["a.csv"], "--by", "city", "--column", "label", "--candidates"]
    ask += ["red,green,blue", "--epsilon", "0.01", "--groups", files["groups.txt"]]
    ask += ["--draws", "5", "--seed", "2"]
    plain = answers(run, *ask)
    assert len(small) == 1
    assert answers(run, *ask, "--memory", "150KB") == plain
    assert len(small) == 4
    data, made = frame(), fx.MostCommon(0.01, ["red", "green", "blue"])
    drawn = made.sample(data["label"], 5, by=data["city"], groups=GROUPS, rng=2)
    assert plain == np.array(made.candidates)[drawn].tolist()


@pytest.mark.engines
@pytest.mark.parametrize("file", ["a.csv", "a.parquet"])
def test_groups_from_the_data_in_several_passes(run: Run, files, small, file: str) -> None:
    ask = ["median", files[file], *COMMAND, *BOUNDS, "--groups", "from-data", "--key"]
    ask += [files["a.key"], "--json"]
    plain = json.loads(run(*ask)[1])["rows"]
    small.clear()
    assert json.loads(run(*ask, "--memory", "150KB")[1])["rows"] == plain
    assert len(small) > 1
    assert [row["group"] for row in plain] == sorted(set(frame()["city"]))


@pytest.mark.engines
@pytest.mark.parametrize("file", ["a.csv", "a.parquet"])
def test_groups_beyond_memory_are_read_in_passes(run: Run, files, small, file: str) -> None:
    data = frame()
    ask = ["--by", "city", "--groups", files["groups.txt"], "--memory", "50KB"]
    certain = ["--epsilon", "1000", "--column", "x", "--bounds", "0", "1000", "--step", "0.01"]
    found = answers(run, "median", files[file], *ask, *certain)
    assert max(small) * 8 <= 50 << 10
    for group in ("c7", "c3"):
        records = sorted(data.filter(pl.col("city") == group)["x"])
        assert records[(len(records) - 1) // 2] <= found[GROUPS.index(group)]
        assert found[GROUPS.index(group)] <= records[len(records) // 2]
    labels = ["--epsilon", "1000", "--column", "label", "--candidates", "red,green,blue"]
    selected = answers(run, "select", files[file], *ask, *labels)
    for group in ("c7", "c3"):
        counts = data.filter(pl.col("city") == group)["label"].value_counts(sort=True)
        assert selected[GROUPS.index(group)] == counts["label"][0]


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_the_selection_of_a_group_beyond_memory_has_its_law(
    run: Run, tmp_path: Path, small, monkeypatch: pytest.MonkeyPatch, neighbors: str
) -> None:
    path, laws = tmp_path / "b.csv", []
    path.write_text("g,v\n" + "1,a\n" * 300 + "1,b\n" * 301 + "1,other\n" * 99)
    plain = fx.Exponential.release

    def release(made: Any, counts: Any) -> Any:
        laws.append(made.law(counts))
        return plain(made, counts)

    monkeypatch.setattr(fx.Exponential, "release", release)
    ask = ["select", path, "--by", "g", "--groups", "1,2", "--column", "v", "--candidates", "a,b,c"]
    code, out, err = run(*ask, "--epsilon", "0.7", "--neighbors", neighbors, "--memory", "4KB")
    assert (code, len(out.split())) == (0, 6), err
    exact = fx.MostCommon(0.7, ["a", "b", "c"], neighbors=neighbors)  # type: ignore[arg-type]
    (law,) = laws
    assert (
        law.log_probabilities.tolist()
        == exact.law(["a"] * 300 + ["b"] * 301).log_probabilities.tolist()
    )
    assert set(small) == {0}


@pytest.mark.engines
def test_persons_must_fit(run: Run, files, small) -> None:
    ask = ["median", files["a.csv"], *COMMAND, *BOUNDS, "--groups", files["groups.txt"]]
    assert answers(run, *ask, "--person", "id")
    code, out, err = run(*ask, "--person", "id", "--memory", "170KB")
    assert (code, out) == (2, "")
    assert "with --person all rows of listed groups must fit into memory" in err


@pytest.mark.engines
def test_stdin_is_read_once(run: Run, files, small, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = ["median", "-", *COMMAND, *BOUNDS, "--groups", files["groups.txt"]]
    ask += ["--key", files["a.key"]]

    def give() -> None:
        raw = io.BytesIO(Path(files["a.csv"]).read_bytes())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))

    give()
    plain = answers(run, "median", files["a.csv"], *ask[2:])
    assert answers(run, *ask) == plain
    give()
    code, out, err = run(*ask, "--memory", "100KB")
    assert (code, out) == (2, "")
    assert "stdin can be read only once" in err


@pytest.mark.engines
@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_that_changes_is_noticed(run: Run, files, small, monkeypatch, change: int) -> None:
    """More records than were counted must not be written beyond their places."""
    plain, path = grouped_store.Store.ordered, Path(files["a.csv"])
    lines = path.read_text().splitlines(keepends=True)

    def ordered(*arguments: Any) -> Any:
        path.write_text("".join(lines[:-1] if change < 0 else [*lines, lines[-1]]))
        return plain(*arguments)

    monkeypatch.setattr(grouped_store.Store, "ordered", ordered)
    ask = ["median", path, *COMMAND, *BOUNDS, "--groups", files["groups.txt"]]
    code, out, err = run(*ask, "--memory", "170KB")
    assert (code, out) == (1, "")
    assert err == "fastexp: error: FILE changed while it was read\n"


def test_more_records_than_were_counted_are_not_moved() -> None:
    room = grouped_places.Places(np.array([2, 1, 0]))
    room.add(np.array([0, 1]), np.array([7.0, 8.0]))
    with pytest.raises(Failure, match="changed"):
        room.add(np.array([1]), np.array([9.0]))
    with pytest.raises(Failure, match="changed"):  # one is missing
        room.segments(np.dtype(np.float64))
    room.add(np.array([0]), np.array([6.0]))
    segments = room.segments(np.dtype(np.float64))
    assert segments.values.tolist() == [7, 6, 8]
    assert segments.offsets.tolist() == [0, 2, 3, 3]


def test_integers_and_decimals_are_one_type_or_refused(run: Run, tmp_path: Path, small) -> None:
    path = tmp_path / "mixed.csv"
    ask = ["median", path, "--column", "x", "--by", "g", "--groups", "1,2", "--epsilon", "50"]
    path.write_text("g,x\n" + "1,7\n" * 3000 + "2,3.5\n" * 3000)
    for memory in ("1GB", "80KB", "30KB"):
        code, out, err = run(*ask, "--bounds", "0", "9", "--step", "0.5", "--memory", memory, "-q")
        assert (code, out.split()) == (0, ["g", "x", "1", "7.0", "2", "3.5"]), err
    path.write_text("g,x\n" + f"1,{2**60 + 1}\n" * 3000 + "2,3.5\n" * 3000)
    for memory in ("1GB", "80KB"):
        code, out, err = run(*ask, "--bounds", "0", "9", "--memory", memory)
        assert (code, out) == (2, "")
        assert "integers beyond 2**53 beside decimals or gaps" in err
    path.write_text("g,x\n" + f"1,{2**60 + 1}\n" * 3000)
    low, high = 2**60, 2**60 + 2
    code, out, err = run(*ask, "--bounds", low, high, "--step", "1", "-q", "--memory", "80KB")
    assert (code, out.split()[3]) == (0, str(2**60 + 1))


# ---- memory ----

SCRIPT = """
import re, sys
from pathlib import Path
from fastexp.cli import main
small, large, *options = sys.argv[1:]
peak = lambda: int(re.search("VmHWM: *\\t* *([0-9]+)", Path("/proc/self/status").read_text())[1])
assert main(["median", small, *options]) == 0
before = peak()
assert main(["median", large, *options]) == 0
print(peak() - before)
"""
ROWS = 1_500_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Files of some 45 MB (CSV); in one pass their records take 36 MB."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(1)
    city, x = rng.integers(0, 40, ROWS), rng.integers(0, 4000, ROWS) / 4
    data = pl.DataFrame({"city": [f"c{i}" for i in range(40)]})[city].with_columns(
        x=x, more=pl.lit("something else")
    )
    for name, part in (("large", data), ("small", data[:100_000])):
        part.write_csv(folder / f"{name}.csv")
        part.write_parquet(folder / f"{name}.parquet", row_group_size=250_000)
    yield folder
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.process
@pytest.mark.engines
@pytest.mark.skipif(sys.platform != "linux", reason="kilobytes of resident memory")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_memory_is_bounded(large: Path, kind: str) -> None:
    files = [str(large / f"{name}.{kind}") for name in ("small", "large")]
    options = [*COMMAND, *BOUNDS, "--groups", ",".join(GROUPS), "-q"]
    grown = {}
    for memory in ("8MB", "1GB")[: 2 if kind == "csv" else 1]:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, *files, *options, "--memory", memory],
            env={**os.environ, "POLARS_MAX_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        grown[memory] = int(done.stdout.split()[-1]) / 1024
    assert grown["8MB"] < 60
    assert grown.get("1GB", 999) > grown["8MB"] + 10  # the check can fail


SIZES = [("2GB", 2 << 30), ("1.5 GiB", 3 << 29), ("500m", 500 << 20), ("2000KB", 2000 << 10)]


@pytest.mark.parametrize(("text", "size"), SIZES)
def test_sizes(text: str, size: int) -> None:
    assert arguments.memory(text) == size
    for wrong in ("", "GB", "-1GB", "1KB", "2 bytes", "1e9", "9999999TB"):
        with pytest.raises(arguments.argparse.ArgumentTypeError):
            arguments.memory(wrong)


# ---- progress ----


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys, quiet: bool) -> None:
    with grouped_progress.Progress(quiet) as progress:
        progress.begin()
    assert capsys.readouterr() == ("", "")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with grouped_progress.Progress(quiet) as progress:
        progress.begin()
        progress.begin()
    shown = terminal.getvalue()
    assert ("reading, pass 2" in shown) is not quiet
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with grouped_progress.Progress(quiet) as progress:
        progress.begin()
    assert terminal.getvalue() == shown


@pytest.mark.parametrize("memory", ["1GB", "150KB"])
def test_a_terminal_is_not_told_how_many_rows_there_are(
    run: Run, tmp_path: Path, monkeypatch, memory: str
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(arguments, "LEAST_MEMORY", 1)
    monkeypatch.setenv("TERM", "xterm")
    path = tmp_path / "a.csv"
    path.write_text("g,x\n" + "".join(f"{'abc'[i % 3]},{i % 7}\n" for i in range(7351)))
    how = ["--column", "x", "--epsilon", "1", "--bounds", "0", "9", "--step", "1"]
    more = ["--by", "g", "--groups", "a,b,c", "--memory", memory]
    assert run("median", path, *how, *more)[0] == 0
    shown = terminal.getvalue()
    assert not re.search(r"\d rows|7,?351|2,?45[01]|\d to \d", shown)
    assert "reading, pass 1" in shown
    assert ("reading, pass 2" in shown) is (memory == "150KB")
