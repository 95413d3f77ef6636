"""A study's report needs nothing else, says what it shows, and is the same each time."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import fastexp as fx
from tests.doors.parameters import readable
from tests.doors.studies import parts, report, table_of
from tests.messages import raises

DATA = ("table.csv", "table.json")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def written(results: Any, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return report.write_report(results.to_dict(), tmp_path_factory.mktemp("report") / "new")


def row(**values: Any) -> dict[str, Any]:
    known = {"data": "normal", "n": 100, "mechanism": "median", "epsilon": 1.0, "level": None}
    numbers = {"figure": "error", "exact": 1.0, "monte_carlo": 1.1, "low": 0.8, "high": 1.3}
    promise = {"promised_epsilon": 1.0, "delta": 0.0, "rho": 0.1, "neighbors": "replace"}
    return {**known, **numbers, **promise, "agree": None, **values}


class Tags(HTMLParser):
    """All tags with their attributes, and the texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.slow
def test_the_page_loads_nothing_and_runs_nothing(written: list[Path]) -> None:
    text = written[0].read_text(encoding="utf-8")
    found = Tags(text)
    assert not found.open
    names = {tag for tag, _ in found.tags}
    assert not names & {"script", "link", "iframe", "object", "base", "form"}
    for tag, attributes in found.tags:
        assert not [name for name in attributes if name.startswith("on")]
        assert not {"srcset", "data"} & set(attributes), tag
        assert (attributes.get("src") or "data:").startswith("data:")
        link = attributes.get("href")
        if link is not None:
            assert "/" not in link
            assert (written[0].parent / link).is_file()
    assert "url(" not in text
    assert "@import" not in text
    assert "http://" not in text
    assert "https://" not in text
    policy = next(a for t, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"].startswith("default-src 'none';")


@pytest.mark.slow
def test_labels_are_shown_as_they_are(written: list[Path]) -> None:
    found = Tags(written[0].read_text(encoding="utf-8"))
    shown = "".join(found.texts)
    assert "b" not in {tag for tag, _ in found.tags}
    assert "<b>&\"'</b> $x_1$ \\x1b[31m" in shown
    assert "How far off is <a median> & why?" in shown
    assert "\x1b" not in shown


@pytest.mark.slow
def test_the_page_says_what_it_must(results: Any, written: list[Path]) -> None:
    shown = " ".join("".join(Tags(written[0].read_text(encoding="utf-8")).texts).split())
    assert "These are simulations, not private releases." in shown
    assert results.study.key in shown
    assert "fastexp study run small.json --out results" in shown
    assert "the number of workers." in shown
    for name, version in results.to_dict()["versions"].items():
        assert f"{name} {version}" in shown
    assert readable(results.rows[0]["exact"], 3) in shown


@pytest.mark.slow
def test_the_settings_on_the_page_are_the_study(results: Any, written: list[Path]) -> None:
    found = Tags(written[0].read_text(encoding="utf-8"))
    settings = next(t for t in found.texts if t.lstrip().startswith('{\n "name"'))
    assert json.loads(settings)["mechanisms"][0] == {"name": "median"}
    told = json.loads(settings.replace("\\x1b", "\\u001b"))
    assert fx.Study(**told) == results.study


def test_disagreement_is_told_first(results: Any) -> None:
    rows = [dict(row) for row in results.rows]
    rows[3]["agree"] = False
    text = report._page({**results.to_dict(), "rows": rows}, [], [])
    assert f"disagree in 1 of {len(rows)} rows" in text
    rows[3]["agree"] = None
    text = report._page({**results.to_dict(), "rows": rows}, [], [])
    assert "Exact figures and Monte Carlo disagree" not in text


@pytest.mark.slow
def test_an_unfinished_run_is_told_first_and_its_numbers_have_another_name(
    results: Any, tmp_path: Path
) -> None:
    table = {**results.to_dict(), "tasks": 1234, "finished": 7}
    text = report._page(table, [], [])
    assert "This run is unfinished: the figures are of 7 of 1,234 tasks." in text
    assert "unfinished" not in report._page(results.to_dict(), [], [])
    made = [path.name for path in report.write_report(table, tmp_path)]
    assert made[-2:] == ["unfinished.csv", "unfinished.json"]
    assert not (tmp_path / "table.csv").exists()


def test_captions_and_descriptions_say_what_is_seen() -> None:
    (part,) = parts([row(), row(mechanism="<b>")], {})
    text = report._figure(1, part, b"<svg/>")
    assert "Figure 1. Expected error (units of the records)." in text
    assert 'src="data:image/svg+xml;base64,PHN2Zy8+" alt="Expected error (units of the' in text
    assert "mechanisms: median, &lt;b&gt;. The numbers are in the tables below." in text


@pytest.mark.slow
def test_same_results_give_the_same_bytes(
    results: Any, written: list[Path], tmp_path: Path
) -> None:
    again = report.write_report(results.to_dict(), tmp_path)
    assert [p.name for p in again] == [p.name for p in written]
    for one, other in zip(written, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
    (part,) = parts([row()], {})
    kinds = ("png", "pdf")
    assert report.files_of(part, "a", [], kinds) == report.files_of(part, "a", [], kinds)


@pytest.mark.slow
def test_a_results_folder_gives_the_same_page(
    results: Any, written: list[Path], tmp_path: Path
) -> None:
    results.study.run(workers=1, out=tmp_path / "out")
    (there, *_) = report.write_report(table_of(tmp_path / "out"), tmp_path / "out")
    assert there.read_bytes() == written[0].read_bytes()


def test_without_matplotlib_there_is_a_page(
    results: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "find_spec", lambda _: None)
    made = report.write_report(results.to_dict(), tmp_path)
    assert [p.name for p in made] == ["report.html", *DATA]
    assert "pip install matplotlib" in made[0].read_text()


def test_the_folder_of_another_study_is_left_alone(results: Any, tmp_path: Path) -> None:
    fx.Study(
        name="other", mechanisms=["exponential"], data="votes", n=3, epsilon=1, datasets=2
    ).run(workers=1, out=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with raises("report into another study's folder"):
        results.report(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_faults_are_told(results: Any, tmp_path: Path) -> None:
    with raises("formats: one of several words, got 'gif'"):
        report.write_report(results.to_dict(), tmp_path, ("gif",))
    (tmp_path / "file").write_text("")
    with raises("results that cannot be written"):
        report.write_report(results.to_dict(), tmp_path / "file")
    with raises("folder of no study"):
        table_of(tmp_path)
    (tmp_path / "study.json").write_text("{}")
    with raises("folder of no study"):
        table_of(tmp_path)
    (tmp_path / "table.json").write_text('{"rows": ')
    with raises("damaged results"):
        table_of(tmp_path)


@pytest.mark.process
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_shows_the_page_at_a_phones_width(written: list[Path], tmp_path: Path) -> None:
    """No part of the page but its own scrolling boxes is wider than the window."""
    script = """<script>addEventListener("load", () => {
      const wide = document.documentElement.scrollWidth > innerWidth;
      const shown = [...document.querySelectorAll("img")].filter(i => i.clientWidth > 0);
      const box = [...document.querySelectorAll("div")].at(-1);
      box.scrollLeft = 10000;
      const pin = box.querySelector("td");
      const stays = pin.getBoundingClientRect().left - box.getBoundingClientRect().left;
      document.title = JSON.stringify({wide, shown: shown.length, stays});
    })</script>"""
    text = written[0].read_text(encoding="utf-8")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', script, text)
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=500,900",
            "--virtual-time-budget=5000",
            "--dump-dom",
            (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    found = re.search(r"<title>(.*?)</title>", done.stdout)
    assert found is not None
    told = json.loads(found[1])
    assert told == {
        "wide": False,
        "shown": 3,
        "stays": 0,
    }


@pytest.mark.slow
def test_files_are_named_by_number_and_figure(written: list[Path], tmp_path: Path) -> None:
    names = [f"figure-{i}-{f}.svg" for i, f in enumerate(("error", "bias", "error_quantile"), 1)]
    assert [p.name for p in written] == ["report.html", *names, "table.csv", "table.json"]
    assert all(path.read_bytes().startswith(b"<?xml") for path in written[1:4])
    one = fx.Study(
        name="one", mechanisms=["median"], epsilon=1.0, n=50, bounds=(-10, 10), datasets=2, draws=5
    )
    made = report.write_report(one.run(workers=1).to_dict(), tmp_path, ("png", "pdf"))
    assert [p.name for p in made] == [
        "report.html",
        "figure-1-error.png",
        "figure-1-error.pdf",
        *DATA,
    ]
    assert made[1].read_bytes().startswith(b"\x89PNG")
    assert made[2].read_bytes().startswith(b"%PDF")
    assert b"/Subtype /Type3" not in made[2].read_bytes()  # letters as a font, not as pictures
