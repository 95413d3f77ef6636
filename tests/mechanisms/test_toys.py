"""Is a new mechanism four files of the package, and does it then work in every form?"""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support import processes, toys
from tests.support.each import each

MOST = 4
SHARED = {"__init__.pyi", "mechanisms/table.py", "privacy/rates.py"}
FORMS = {
    *("array", "rows", "groups", "persons", "query", "session", "publication", "release", "help"),
    *("law", "accuracy", "comparison", "epsilon", "study", "audit"),
}
# A line that a row lacks, and the forms that then fail.
LACKS = {
    ("hinge", "grouped=True,"): {"session", "publication"},
    ("hinge", "compared=True,"): {"comparison", "epsilon"},
    ("hinge", '"ranks",'): {"study"},
    ("hinge", 'answer="an end of the middle half",'): {"release", "help", "warmup"},
    ("plurality", 'counts="plurality",'): {"release"},
}


def failures(folder: Path, word: str) -> dict[str, str]:
    """The forms that fail, with their errors, in a process that has the package of a folder."""
    script = Path(toys.__file__).with_name("toy_forms.py")
    command = [sys.executable, "-B", str(script), word]
    env = {**os.environ, "PYTHONPATH": str(folder)}
    run = processes.run(
        command, imported="nothing", env=env, cwd=folder, text=True, check=False, timeout=300
    )
    assert run.returncode == 0, run.stderr
    tried = json.loads(run.stdout)
    assert tried.keys() >= FORMS
    return {form: error for form, error in tried.items() if error}


@pytest.mark.process
@pytest.mark.engines
@each("word", ["hinge", "plurality"])
def test_a_toy_of_four_files_works_in_every_form(word, tmp_path):
    files = toys.applied(toys.patch_of(word), tmp_path / word)
    assert len(files) <= MOST
    assert set(files) == {*SHARED, f"mechanisms/{word}.py"}
    assert failures(tmp_path / word, word) == {}


@pytest.mark.process
@pytest.mark.engines
@each("lack", LACKS, ids=str)
def test_a_row_that_lacks_something_is_seen(lack, tmp_path_factory):
    (word, line), patch = lack, toys.patch_of(lack[0])
    assert patch.count(f"+        {line}\n") == 1
    folder = tmp_path_factory.mktemp(word)
    toys.applied(patch.replace(f"+        {line}\n", ""), folder)
    assert failures(folder, word).keys() == LACKS[lack]


def test_the_guide_leads_through_the_first_toy():
    guide = (toys.PACKAGE.parent / "CONTRIBUTING.md").read_text()
    blocks = re.findall(r"^ *```diff\n(.*?)^ *```", guide, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        assert textwrap.dedent(block) in toys.patch_of("hinge")
