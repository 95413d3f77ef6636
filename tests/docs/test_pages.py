"""Does all code on all pages run, and print what the page says?"""

from __future__ import annotations

import re

import pytest

from tests.docs.page_code import DOCS, ROOT, pages, run

pytestmark = pytest.mark.process  # commands of a page may start some

PEERS = re.compile("^% needs: .*(dp_accounting|opendp|diffprivlib)", re.MULTILINE)
NAMES = [
    pytest.param(
        page.relative_to(ROOT).as_posix(),
        marks=pytest.mark.peers if PEERS.search(page.read_text(encoding="utf-8")) else (),
    )
    for page in pages()
]


@pytest.mark.parametrize("name", NAMES)
def test_the_code_of_a_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("MPLBACKEND", "agg")
    absent = run(ROOT / name, DOCS / "data", tmp_path)
    if absent:
        pytest.skip("; ".join(absent))


def fence(info, *lines, above=()):
    return "\n".join([*above, f"```{info}", *lines, "```", ""])


BROKEN = {
    "a cell raises": fence("{code-cell}", ":tags: [remove-cell]", "assert 1 == 2"),
    "a doctest prints something else": fence("pycon", ">>> 1 + 1", "3"),
    "a command prints something else": fence("console", "$ echo 1", "2"),
    "a shape differs": fence("pycon", ">>> [1, 2]", "[3]", above=["% answers vary"]),
    "a language that is not run": fence("python", "1 + 1"),
    "one in a tab": ":::{tab-item} A\n" + fence("pycon", ">>> 1", "2") + ":::\n",
    "a file that is not written": fence("console", "$ cat a.txt", "1"),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_on_a_page_is_seen(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text)
    (tmp_path / "data").mkdir()
    with pytest.raises(AssertionError):
        run(page, tmp_path / "data", tmp_path)


def test_what_is_right_runs_in_one_folder_and_one_namespace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        fence("{code-cell}", "a = 7")
        + fence("pycon", ">>> a, 0.25", "(8, 0.5)", above=["<!-- answers vary -->"])
        + fence("{code-block} toml", ":caption: a.toml", "", "[table]")
        + fence("{code-block} text", ":caption: a.txt", "", "line")
        + fence("console", "$ cat a.toml a.txt", "[table]", "line")
        + fence("console", "$ fastexp --version", "fastexp ...")
        + fence("console", "$ PATH=/bin; python -c 'import fastexp' && echo 1", "1")
        + fence("pycon", ">>> int('x')", "Traceback (most recent call last):", "ValueError: ...")
        + fence("sh", "reboot", above=["% not run: it takes a minute"])
        + fence("pycon", ">>> 1", "2", above=["% needs: no_such_module"])
    )
    (tmp_path / "data").mkdir()
    (absent,) = run(page, tmp_path / "data", tmp_path)
    assert absent.endswith("needs no_such_module")
