"""Records of benchmarks: the schema accepts right ones alone, tables show every row."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import growth, page, report, run
from benchmarks.harness import schema
from benchmarks.harness.outcome import TOY
from tests.benchmarks.test_cases import BY_ID
from tests.support.each import each


def row(name: str, role: str, repeats: list[float], ratio: float | None) -> dict[str, Any]:
    return {
        "case": "release/k=1000",
        "k": 1_000,
        "size": 1,
        "threads": 1,
        "name": name,
        "role": role,
        "unit": "s",
        "repeats": repeats,
        "median": sorted(repeats)[1],
        "spread": 0.02,
        "ratio": ratio,
        "checked": 50,
        "calls": 9,
        "first_s": 0.25,
        "cpu_share": 1.0,
    }


@pytest.fixture
def record() -> dict[str, Any]:
    names = ["fastexp", "winner", "loser", "gone"]
    versions = {"fastexp": "0", "numpy": "2", "numba": "1", "llvmlite": "1", "opendp": None}
    return {
        "format": 1,
        "provenance": {
            "date": "2026-01-02T03:04:05Z",
            "commit": "0123456789abcdef",
            "dirty": True,
            "cpu": "a CPU",
            "cores": 2,
            "system": "a system",
            "python": "3.11.7",
            "versions": versions,
        },
        "options": {"repeats": 3, "sample_s": 0.1, "check_s": 0.3, "runs": 20},
        "load": [0.1, None],
        "cases": [{"id": "release/k=1000", "names": names}],
        "rows": [
            row("fastexp", "ours", [1.2345e-5, 1.2e-5, 1.3e-5], 1.0),
            row("winner", "rival", [4.938e-6, 4.9e-6, 5e-6], 0.4),
            row("loser", "rival", [0.9996e-3, 0.9e-3, 1.1e-3], 80.97),
        ],
        "absent": [{"case": "release/k=1000", "name": "gone", "reason": "not installed"}],
    }


def test_the_report_shows_every_row_with_lost_ones_in_bold(record: dict[str, Any]) -> None:
    text = report.markdown(record)
    assert "| 1,000 | fastexp | ours | 12.3 µs | 1.00x | 2% | 250 ms | 3 x 9 |" in text
    assert "| 1,000 | winner | rival | **4.94 µs** | **0.400x** | 2% | 250 ms | 3 x 9 |" in text
    assert "| 1,000 | loser | rival | 1.00 ms | 81.0x | 2% | 250 ms | 3 x 9 |" in text
    assert "absent: not installed" in text
    assert "commit 0123456789 with changes" in text


def test_the_summary_shows_the_best_peer_even_if_it_won(record: dict[str, Any]) -> None:
    assert "| release | 1,000 | **0.400x** | 12.3 µs | winner | 4.94 µs |" in report.summary(record)


def case_of(record: dict[str, Any], k: int, ratio: float) -> None:
    """Put a case of this k into the record, whose winner has this ratio."""
    name = f"release/k={k}"
    record["cases"].append({"id": name, "names": ["fastexp", "winner"]})
    for old in record["rows"][:2]:
        entry = old | {"case": name, "k": k}
        record["rows"].append(entry | {"ratio": ratio} if old["role"] == "rival" else entry)


def test_the_readme_has_the_worst_case_of_each_kind_of_work(record: dict[str, Any]) -> None:
    assert {case.partition("/")[0] for case in BY_ID} >= report.HEADLINES.keys()
    assert len(report.HEADLINES) <= 10
    case_of(record, 10, 0.25)
    case_of(record, 1_000_000, 1.5)
    table = report.headlines([record])
    (line,) = (line for line in table.splitlines() if "winner" in line)
    assert line.startswith("| select one of k | 10 |")
    assert line.endswith("| **0.250x** | 1.50x |")
    assert "A peer is better in 2 of the 3 cases that have peers. Processor: a CPU." in table


def test_the_readme_says_which_work_another_processor_did(record: dict[str, Any]) -> None:
    other = copy.deepcopy(record)
    other["provenance"]["cpu"] = "another CPU"
    other["cases"][0]["id"] = "single/k=1000"
    for entry in [*other["rows"], *other["absent"]]:
        entry["case"] = "single/k=1000"
    table = report.headlines([record, other])
    assert table.endswith("Processor: a CPU; of *draw one of k, seeded*: another CPU.")


def test_the_page_has_every_row_and_what_it_ran_on(record: dict[str, Any]) -> None:
    case_of(record, 10, 1.5)
    record["cases"].append({"id": "former/k=1", "names": ["fastexp"]})
    record["rows"].append(record["rows"][0] | {"case": "former/k=1", "k": 1})
    text = page.tables([record])
    assert "### Selection\n\nA peer is better in 1 of the 2 cases" in text
    assert "All 5 rows: selection" in text
    assert f"### {page.RETIRED}" in text
    assert "**release** (a CPU; 2026-01-02, commit 0123456789)" in text
    assert text.count("| 1,000 | winner | rival | **4.94 µs**") == 1
    assert report.about(record) in text


@pytest.mark.slow
def test_the_page_has_every_row_of_the_newest_results() -> None:
    newest, text = report.newest(report.results()), page.tables(report.results())
    assert sum(line.startswith("|") for line in text.splitlines()) > len(newest["rows"])
    for row in newest["rows"]:
        assert report.line(row) in text


def test_growth_is_shown_of_cases_with_several_sizes(
    record: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case_of(record, 10, 1.5)
    assert growth.titles(record) == []
    case_of(record, 1_000_000, 1.5)
    assert growth.titles(record) == ["release"]
    assert growth.curves(record, "release")["winner"] == ([10, 1_000, 1_000_000], [4.938e-6] * 3)
    assert len(growth.curves(record, "release")["loser"][0]) == 1


def test_rows_of_utilities_are_shown(record: dict[str, Any]) -> None:
    for entry in record["rows"]:
        entry["rows"] = 10_000
    schema.validate(record)
    assert "| 1e4 x 1,000 | fastexp | ours |" in report.markdown(record)
    assert "| release | 1e4 x 1,000 |" in report.summary(record)


def test_titles_say_what_the_inputs_are() -> None:
    made = BY_ID["median_release/uniform/eps=0.01/k=10000000"], BY_ID["rows/rows=10000/k=1000"]
    assert [report.title({"id": case.id}) for case in made] == [
        "median_release uniform eps=0.01",
        "rows",
    ]


def test_noisy_rows_are_marked(record: dict[str, Any]) -> None:
    record["rows"][0]["spread"] = 0.2
    assert "| 12.3 µs ~ |" in report.markdown(record)


def test_missing_rows_raise(record: dict[str, Any]) -> None:
    for part, count in (("rows", 3), ("absent", 1)):
        for i in range(count):
            broken = copy.deepcopy(record)
            del broken[part][i]
            with pytest.raises(schema.BrokenRecord, match="missing"):
                report.markdown(broken)


@each(
    ("value", "unit", "text"),
    [
        (1.2345e-5, "s", "12.3 µs"),
        (9.996e-4, "s", "1.00 ms"),
        (3.2e-10, "s", "0.320 ns"),
        (999.4e-9, "s", "999 ns"),
        (123.4, "s", "123 s"),
        (1234.0, "s", "1230 s"),
        (239_616.0, "B", "240 kB"),
        (0.0, "|t|", "0"),
        (0.1234, "|t|", "0.123"),
    ],
)
def test_figures_have_three_digits(value: float, unit: str, text: str) -> None:
    assert report.quantity(value, unit) == text


def test_a_measurement_of_zero_raises() -> None:
    with pytest.raises(ValueError, match="> 0"):
        report.quantity(0.0, "s")


def test_the_summary_goes_between_markers(
    record: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of two results of a case the newest counts."""
    older = copy.deepcopy(record)
    older["rows"][1]["name"] = older["cases"][0]["names"][1] = "former winner"
    (tmp_path / "2026-01-01.json").write_text(json.dumps(older))
    (tmp_path / "2026-01-02.json").write_text(json.dumps(record))
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    monkeypatch.setattr(report, "README", page)
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    assert report.main(["--check"]) == 1
    assert "--write" in capsys.readouterr().out
    assert report.main(["--write"]) == 0
    assert report.main(["--check"]) == 0
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| winner |" in text
    assert "former winner" not in text
    assert "old" not in text
    with pytest.raises(ValueError, match="once each"):
        report.put_between("no markers", "table")


@pytest.mark.slow
def test_the_readme_has_the_newest_results() -> None:
    """Which must all be valid to be read."""
    assert report.main(["--check"]) == 0


BREAKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no provenance": lambda r: r.pop("provenance"),
    "an unknown entry": lambda r: r.update(more=1),
    "format": lambda r: r.update(format=2),
    "a commit of 3 letters": lambda r: r["provenance"].update(commit="abc"),
    "dirty as a number": lambda r: r["provenance"].update(dirty=1),
    "no core": lambda r: r["provenance"].update(cores=0),
    "True as a number": lambda r: r["provenance"].update(cores=True),
    "a version as a number": lambda r: r["provenance"]["versions"].update(numpy=2),
    "an unknown role": lambda r: r["rows"][0].update(role="enemy"),
    "no repeats": lambda r: r["rows"][0].update(repeats=[]),
    "a negative repeat": lambda r: r["rows"][0]["repeats"].append(-1.0),
    "NaN": lambda r: r["rows"][0].update(first_s=float("nan")),
    "a ratio of 0": lambda r: r["rows"][0].update(ratio=0),
    "rows as a text": lambda r: r["rows"][0].update(rows="2"),
    "another median": lambda r: r["rows"][0].update(median=1e-9),
    "unchecked": lambda r: r["rows"][0].update(checked=0),
    "a row twice": lambda r: r["rows"].append(r["rows"][0]),
    "an unplanned row": lambda r: r["cases"][0]["names"].remove("loser"),
    "a missing row": lambda r: r["rows"].pop(),
    "absent without a reason": lambda r: r["absent"][0].update(reason=""),
}


def test_the_schema_accepts_a_right_record(record: dict[str, Any]) -> None:
    schema.validate(record)


@pytest.mark.parametrize("name", BREAKS)
def test_the_schema_rejects(record: dict[str, Any], name: str) -> None:
    BREAKS[name](record)
    with pytest.raises(schema.BrokenRecord):
        schema.validate(record)


def test_an_unknown_word_in_the_schema_raises() -> None:
    with pytest.raises(schema.BrokenRecord, match="unknown words"):
        schema.check("text", {"type": "string", "pattern": "^a"}, {}, "here")


def test_a_run_writes_a_valid_file_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy = BY_ID["gumbel/k=1000000"].toy()
    record = run.measure_all([toy], TOY)
    path = tmp_path / "result.json"
    run.write(record, path)
    assert schema.read(path) == record
    assert run.default_path(record).name.startswith(record["provenance"]["date"][:10])
    with pytest.raises(FileExistsError):
        run.write(record, path)
    assert report.main([str(path)]) == 0
    assert "numpy_gumbel" in capsys.readouterr().out
