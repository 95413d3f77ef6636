"""Is nobody told to install the package from an index, or to visit a page of the project?

No index has the package, and the project has no page: whoever takes the name first would run code
beside private data.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.each import each

ROOT = Path(__file__).parents[2]
FOLDERS = (".ci", ".github", "bench_results", "benchmarks", "docs", "examples", "fastexp", "tests")
BUILT = {"_build", "api", "__pycache__"}
NAME = r"(?<![\w./-])fastexp(?![-\w.*]*\.whl)"
ADVICE = re.compile(
    rf"\b(?:pip3?|pipx|uv|conda|mamba) (?:install|add|run|tool)\b[^\n|;&]*?{NAME}"
    rf"|{NAME}\[[a-z]"
    r"|(?:https?://|git@|git\+)[^\s\"'<>)`]*fastexp",
    re.IGNORECASE,
)


def files() -> list[Path]:
    """The files of the repository, without what is built."""
    inside = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    paths = [path for path in (*ROOT.iterdir(), *inside) if path.is_file() and path.name != ".git"]
    written = [path for path in paths if not BUILT & set(path.relative_to(ROOT).parts)]
    return [path for path in written if path != Path(__file__)]


@pytest.mark.slow
def test_nothing_leads_to_a_name_that_others_can_take():
    texts = {path: path.read_text(errors="replace") for path in files()}
    assert len(texts) > 900
    advice = {path: [m[0] for m in ADVICE.finditer(text)] for path, text in texts.items()}
    assert {str(path.relative_to(ROOT)): found for path, found in advice.items() if found} == {}


@each(
    "text",
    [
        "pip install fastexp",
        'RUN pip install "fastexp[cli]"',
        "pip install --upgrade 'fastexp'",
        "uv add fastexp",
        "It needs fastexp[distributed]",
        "https://github.com/fastexp/fastexp",
        "https://fastexp.readthedocs.io",
        "git@host:someone/fastexp",
    ],
)
def test_such_advice_is_noticed(text):
    assert ADVICE.search(text)


@each(
    "text",
    [
        'python -m pip install ".[cli,plot]" && fastexp demo',
        'RUN pip install "/fastexp[cli]"',
        "pip install dist/fastexp-0.1.0-py3-none-any.whl",
        "pip install fastexp-0.1.0-py3-none-any.whl",
        "pip install duckdb pyarrow",
    ],
)
def test_a_clone_a_wheel_and_other_packages_are_none(text):
    assert not ADVICE.search(text)


def test_a_vulnerability_is_reported_to_an_address():
    """One that the maintainers have put in, or the place that the release notes say to fill."""
    reporting = (ROOT / "SECURITY.md").read_text().partition("\n## Reporting\n")[2]
    assert re.search(r"[\w.+-]+@[\w-]+\.\w|https://|`SECURITY-CONTACT`", reporting)
    assert "`SECURITY-CONTACT`" in (ROOT / "RELEASING.md").read_text()
