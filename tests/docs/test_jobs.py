"""Do the five jobs, each a script, run from any folder and print what they are for?"""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec

import pytest

from tests.docs.page_code import DOCS, ROOT
from tests.support import processes

pytestmark = pytest.mark.process  # each is run as a reader runs it

JOBS = ROOT / "examples" / "jobs"
LINES = 40
PRINTED = {  # what says that the job was done, as no answer is the same twice
    "medians_by_group": [
        "an owner is protected with epsilon = 0.8",
        r"Rome +(7|8|9|1,0|1,1)\d\d",  # but with probability 1e-15
        "the same answers, True",
        "refused: the release costs 0.8 of epsilon",
    ],
    "accuracy_first": [
        r"half of them +0\.05\d+\n",
        r"all of them +0\.0[78]\d+\n",
        r"95% at most +2\n",
        r"private median age: \d+, for 0\.\d+",
    ],
    "compared_selection": [
        r"1  exponential +0\.05 +0\.0003125 +0\.608 ",
        r"2  permute-and-flip +0\.05 +0\.00125 +0\.3056 ",
        r"by permute-and-flip: \d+\n",
    ],
    "price": [
        r"9[5-9]\.\d% of the best revenue on average",
        r"ask (\d|1,\d)\d\d;",  # likewise
        "both relations",
    ],
    "own_study": (
        [r"n +epsilon +fastexp +OpenDP", r"1,000 +1 "]
        if find_spec("opendp")
        else [r"n +epsilon = 0.1 +epsilon = 1", r"1,000 "]
    ),
}


def test_each_job_is_among_these_and_on_the_page():
    scripts = {path.stem for path in JOBS.glob("*.py")}
    assert scripts == PRINTED.keys()
    page = (DOCS / "howto" / "five-jobs.md").read_text(encoding="utf-8")
    assert {*re.findall(r"literalinclude} \.\./\.\./examples/jobs/(\w+)\.py", page)} == scripts


@pytest.mark.parametrize(
    "job", [pytest.param(j, marks=pytest.mark.peers if j == "own_study" else ()) for j in PRINTED]
)
def test_a_job_is_short_and_done(job, tmp_path):
    script = JOBS / f"{job}.py"
    assert len(script.read_text(encoding="utf-8").splitlines()) <= LINES
    done = processes.run([sys.executable, str(script)], cwd=tmp_path, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for text in PRINTED[job]:
        assert re.search(text, done.stdout), (text, done.stdout)
    if job == "own_study":
        assert ("OpenDP" in done.stdout) == (find_spec("opendp") is not None)
