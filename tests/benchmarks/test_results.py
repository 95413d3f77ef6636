"""Records of benchmarks: tables show every row, and the newest results."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import growth, page, report, run
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
    text = report.all_rows(record)
    assert "| 1,000 | fastexp | ours | 12.3 µs | 1.00x | 2% | 250 ms | 3 x 9 |" in text
    assert "| 1,000 | winner | rival | **4.94 µs** | **0.400x** | 2% | 250 ms | 3 x 9 |" in text
    assert "| 1,000 | loser | rival | 1.00 ms | 81.0x | 2% | 250 ms | 3 x 9 |" in text
    assert "absent: not installed" in text
    assert "commit 0123456789 with changes" in report.about(record)


def test_the_summary_shows_the_best_peer_even_if_it_won(record: dict[str, Any]) -> None:
    assert "| release | 1,000 | 12.3 µs | winner | 4.94 µs | **0.400x** |" in report.summary(record)


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
    tally = "A peer is better in 2 of the 3 cases that have peers."
    assert f"{tally} The table was measured at commit 0123456789 with changes on a CPU." in table


def test_the_readme_says_which_work_was_measured_elsewhere(record: dict[str, Any]) -> None:
    other = copy.deepcopy(record)
    other["provenance"]["cpu"] = "another CPU"
    other["cases"][0]["id"] = "single/k=1000"
    for entry in [*other["rows"], *other["absent"]]:
        entry["case"] = "single/k=1000"
    table = report.headlines([record, other])
    assert table.endswith(
        "The table was measured at commit 0123456789 with changes on a CPU; "
        "*draw one of k, seeded* at commit 0123456789 with changes on another CPU."
    )


def test_the_page_has_every_row_of_the_newest_results() -> None:
    runs = report.latest(report.results())
    text = page.tables(runs)
    for run_of_cases in runs:
        ids = {case["id"] for case in run_of_cases["cases"]}
        for entry in run_of_cases["rows"]:
            assert entry["case"] not in ids or report.line(entry) in text
        assert (report.about(run_of_cases) in text) == bool(ids)


def test_growth_is_shown_of_cases_with_several_sizes(record: dict[str, Any]) -> None:
    case_of(record, 10, 1.5)
    assert growth.curves([record]) == {}
    case_of(record, 1_000_000, 1.5)
    curves = growth.curves([record])["release"]
    assert curves["winner"] == ([1_000, 10, 1_000_000], [4.938e-6] * 3)
    assert len(curves["loser"][0]) == 1


def test_rows_of_utilities_are_shown(record: dict[str, Any]) -> None:
    for entry in record["rows"]:
        entry["rows"] = 10_000
    assert "| 1e4 x 1,000 | fastexp | ours |" in report.all_rows(record)
    assert "| release | 1e4 x 1,000 |" in report.summary(record)


def test_titles_say_what_the_inputs_are() -> None:
    made = BY_ID["median_release/uniform/eps=0.01/k=10000000"], BY_ID["rows/rows=10000/k=1000"]
    assert [report.title({"id": case.id}) for case in made] == [
        "median_release uniform eps=0.01",
        "rows",
    ]


def test_noisy_rows_are_marked(record: dict[str, Any]) -> None:
    record["rows"][0]["spread"] = 0.2
    assert "| 12.3 µs ~ |" in report.all_rows(record)


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


def test_the_readme_has_the_newest_results(
    record: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two results of a case the newest counts; `--write` leaves the rest of the page."""
    assert f"{report.BEGIN}\n{report.headlines(report.results())}\n" in report.README.read_text()
    older = copy.deepcopy(record)
    older["rows"][1]["name"] = "former winner"
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    monkeypatch.setattr(report, "README", page)
    monkeypatch.setattr(report, "results", lambda: [older, record])
    monkeypatch.setattr(sys, "argv", ["report", "--write"])
    report.main()
    table = report.headlines([older, record])
    assert page.read_text() == f"before\n{report.BEGIN}\n{table}\n{report.END}\nafter\n"
    assert "| winner |" in table
    assert "former winner" not in table


def test_a_run_is_written_and_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (report, run):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    toy = BY_ID["gumbel/k=1000000"].toy()
    record = run.measure_all([toy], TOY)
    run.write(record)
    assert report.results() == [record]
    assert record["provenance"]["date"][:10] in capsys.readouterr().err
    assert "| numpy_gumbel | rival |" in report.all_rows(record)
