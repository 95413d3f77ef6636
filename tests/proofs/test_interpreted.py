"""Do kernels give the same bits without the compiler, and is every line of them run?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.proofs.interpreted import all as interpreted

pytestmark = [pytest.mark.process, pytest.mark.proof]

ROOT = Path(__file__).parents[2]


def test_interpreted_kernels_give_the_same_bits_and_every_line_runs(tmp_path):
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "COVERAGE_FILE": str(tmp_path / "coverage")}
    coverage = [sys.executable, "-m", "coverage"]
    script = ["run", "--include=*/fastexp/kernels/*", "-m", "tests.proofs.interpreted.all"]
    run = subprocess.run(
        coverage + script, env=env, cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == interpreted.main()
    report = tmp_path / "report.json"
    subprocess.run(
        [*coverage, "json", "-o", str(report), "-q"], env=env, cwd=ROOT, check=True, timeout=600
    )
    files = json.loads(report.read_text())["files"]
    missed = {name: f["missing_lines"] for name, f in files.items() if f["missing_lines"]}
    assert missed == {}
    kernels = (ROOT / "fastexp" / "kernels").rglob("*.py")
    assert {str(path.relative_to(ROOT)) for path in kernels} <= {Path(f).as_posix() for f in files}
