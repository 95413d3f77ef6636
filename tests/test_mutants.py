"""Would a broken sampler be noticed? Each mutant of the source must fail a deterministic check.

A mutant is a copy of the package with one text replaced; `tests.checks` runs against it in
the interpreter, without the compiler.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

MUTANTS = {
    "missing factor 2": ("privacy.py", "(1 if monotonic else 2)", "1"),
    "replace counts as monotone": ("privacy.py", 'monotonic=neighbors == "add-remove"', "monotonic=True"),
    "envelope without slack": ("kernels/envelope.py", "return r + (r >> SLACK) + 3", "return r"),
    "one unit of slack": ("kernels/envelope.py", "+ (r >> SLACK) + 3", "+ 0"),
    "lower bound one too high": ("kernels/envelope.py", "(r >> SLACK) - 2", "(r >> SLACK) + 1"),
    "wrong side of the block search": ("kernels/envelope.py", "and low <= r0)", "and low < r0)"),
    "wrong side of the search": ("kernels/envelope.py", "        seen += uppers[i]\n        passed = seen <= rho", "        seen += uppers[i]\n        passed = seen < rho"),
    "groups before are forgotten": ("kernels/envelope.py", "group += 1 if passed else 0\n        before = seen if passed else before", "group += 1 if passed else 0"),
    "coin accepted at the bound": ("kernels/envelope.py", "if rho < lower(", "if rho <= lower("),
    "coin of the whole block": ("kernels/envelope.py", "    rho -= before\n", ""),
    "heights cut off too early": ("kernels/envelope.py", "DEEPEST = 60.0", "DEEPEST = 20.0"),
    "blocks' bounds without slack": ("kernels/envelope.py", "+ 5 * BLOCK", "- 5 * BLOCK"),
    "last block dropped": ("kernels/envelope.py", "range(count):\n        bound = blocks[", "range(max(count - 1, 1)):\n        bound = blocks["),
    "void rounds end in the last candidate": ("kernels/envelope.py", "    if index == part.size:  # between the block's sum and its bound\n        return AGAIN", "    if index == part.size:\n        index = part.size - 1"),
    "base ignored": ("kernels/heights.py", "out[i] - log_base[i] if", "out[i] if"),
    "best over base 0 too": ("kernels/heights.py", "key if counts else NONE", "key"),
    "biased bounded integer": ("kernels/words.py", "counts = c1b > rest1", "counts = True or c1b > rest1"),
    "bounded integer refuses too much": ("kernels/words.py", "p0 >= rest0)", "p0 > rest0)"),
    "signs of floats": ("kernels/heights.py", "(sign & spread) | flip", "flip"),
    "unsigned as signed": ("kernels/heights.py", "flip = NONE if kind == UNSIGNED else SIGN", "flip = SIGN"),
    "float32 heights": ("kernels/heights.py", "out[i] = rate * (gap if gap >= tiny else 0.0)", "out[i] = np.float32(rate * (gap if gap >= tiny else 0.0))"),
    "alias cut off by one": ("kernels/alias.py", "cell < (entry >> bits)", "cell <= (entry >> bits)"),
    "alias gives too much": ("kernels/alias.py", "rest -= capacity - weights[i]", "rest -= weights[i]"),
    "alias doubt too small": ("kernels/alias.py", ">> SLACK) + 7", ">> SLACK)"),
    "slow cells end early": ("reference.py", "index = bisect_right(doubt_sums, cell)", "index = bisect_right(doubt_sums, cell + 1)"),
    "slow cells within": ("reference.py", "inside = cell - int(doubt_sums[index - 1] if index else 0)", "inside = cell"),
    "accepts everything": ("reference.py", "if least >= hi:\n            return False", "if least >= hi:\n            return True"),
    "coin forgotten": ("reference.py", "least = rho + Fraction(coin, 1 << bits)", "least = Fraction(rho)"),
    "exact gap rounded": ("_scan.py", "return best - bits_value(int(self.bits[index]), self.kind)", "return Fraction(float(best) - float(bits_value(int(self.bits[index]), self.kind)))"),
    "exact base forgotten": ("_scan.py", "* self.weighting.base_of(index)", ""),
    "polynomial": ("kernels/envelope.py", "0.0096181291811644", "0.00961812"),
}  # fmt: skip


def survives(folder: Path, change: tuple[str, str, str] | None) -> tuple[bool, str]:
    """Whether the checks pass on a copy of the package with one text changed."""
    shutil.copytree(
        ROOT / "fastexp", folder / "fastexp", ignore=shutil.ignore_patterns("__pycache__")
    )
    (folder / "tests").mkdir()
    for name in ("__init__.py", "checks.py", "cases.py"):
        shutil.copy(ROOT / "tests" / name, folder / "tests" / name)
    if change:
        path, old, new = change
        source = (folder / "fastexp" / path).read_text()
        assert source.count(old) >= 1, f"the text to change is gone from {path}"
        (folder / "fastexp" / path).write_text(source.replace(old, new))
    env = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-W", "ignore", "-m", "tests.checks"]
    run = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=100)
    return run.returncode == 0, run.stderr[-2000:]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """All mutants, two at a time."""
    folder = tmp_path_factory.mktemp("mutants")

    def judge(item):
        number, (name, change) = item
        place = folder / str(number)
        place.mkdir()
        return name, survives(place, change)

    with ThreadPoolExecutor(2) as pool:
        return dict(pool.map(judge, enumerate([(None, None), *MUTANTS.items()])))


def test_the_package_itself_survives(verdicts):
    alive, message = verdicts[None]
    assert alive, message


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_killed(verdicts, name):
    alive, message = verdicts[name]
    assert not alive
    assert "Traceback" in message  # by a failing check, not by a missing interpreter
    assert "SyntaxError" not in message
    assert "ImportError" not in message
