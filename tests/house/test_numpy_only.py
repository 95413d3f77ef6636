"""Do answers by group need nothing but NumPy and numba?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
OTHERS = [
    "dask",
    "distributed",
    "duckdb",
    "matplotlib",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "pyspark",
    "rich",
    "scipy",
]
ALONE = """
import sys
from tests.mutants.jury import Finder
sys.meta_path.insert(0, Finder({path!r}, {text!r}))
sys.modules.update(dict.fromkeys({others!r}))  # importing one of them now fails
import numpy as np
import fastexp as fx
from tests.support.checks import groups as checks_groups
checks_groups.run()
city = np.array(["Oslo", "Rome", "Oslo", "Bern"])
key = fx.release_key()
found = [
    fx.Median(1.0, (0, 9), step=1).release(
        values, by=by, groups=["Rome", "Oslo"], person=[1, 1, 2, 3], key=key, label="q"
    )
    for values in ([1, 2, 3, 4], np.arange(1.0, 5.0))
    for by in (city, city.tolist(), city.astype(object))
]
assert len({{tuple(f.tolist()) for f in found}}) == 1
extra = {{name.split(".")[0] for name in sys.modules}} & set({others!r})
assert all(sys.modules[name] is None for name in extra)
print("done")
"""


FIRST = "from __future__ import annotations\n"


def alone(import_more=""):
    """Answers by group without the others, of a package that imports more."""
    path = ROOT / "fastexp" / "grouped" / "verbs.py"
    text = path.read_text().replace(FIRST, FIRST + import_more)
    script = ALONE.format(others=OTHERS, path=str(path), text=text)
    return subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=500
    )


def test_groups_need_no_other_library():
    run = alone()
    assert run.stdout.strip() == "done", run.stderr


@pytest.mark.parametrize("name", ["polars", "pandas"])
def test_the_block_is_one(name):
    """A power control: a package that imports the library fails for that."""
    error = f"ModuleNotFoundError: import of {name} halted; None in sys.modules"
    assert alone(f"import {name}\n").stderr.splitlines()[-1] == error
