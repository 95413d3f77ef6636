"""Do loky, MPI and Ray, as the pages use them, run studies for real, with the bytes of one thread?

Dask is in `test_kills.py`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.page_code import DOCS, blocks
from tests.support.small_study import small, tables, undisturbed

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[2]
PAGE = DOCS / "howto" / "studies-on-many-machines.md"


@pytest.fixture(scope="module")
def wanted() -> tuple[bytes, bytes]:
    return undisturbed(small())


def carried_out(script: str, folder: Path, *command: str) -> None:
    """Run a script that uses `study` in a process of its own."""
    begun = f"""
from tests.support.small_study import small

study = small()
{script}
"""
    (folder / "script.py").write_text(begun)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    done = subprocess.run(
        [*command, str(folder / "script.py")],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(find_spec("joblib") is None, reason="no joblib")
def test_loky(tmp_path: Path, wanted: tuple[bytes, bytes]) -> None:
    from joblib.externals.loky import get_reusable_executor

    with get_reusable_executor(max_workers=2) as executor:
        small().run(executor, out=tmp_path / "out")
    assert tables(tmp_path / "out") == wanted


MPI = """
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    with MPIPoolExecutor(max_workers=1) as executor:
        study.run(executor, out="out")
"""


@pytest.mark.skipif(find_spec("mpi4py") is None or shutil.which("mpiexec") is None, reason="no MPI")
def test_processes_of_mpi(tmp_path: Path, wanted: tuple[bytes, bytes]) -> None:
    python = [sys.executable, "-m", "mpi4py.futures"]
    carried_out(MPI, tmp_path, "mpiexec", "-n", "2", *python)
    assert tables(tmp_path / "out") == wanted


@pytest.mark.skipif(find_spec("ray") is None, reason="no Ray")
def test_ray_by_the_class_of_the_page(tmp_path: Path, wanted: tuple[bytes, bytes]) -> None:
    page = {block.file: block.text for block in blocks(PAGE.read_text())}
    script = page["study_ray.py"].replace("from medians import study\n", "")
    script = script.replace("RayExecutor()", 'RayExecutor(), out="out"', 1)
    carried_out(script, tmp_path, sys.executable)
    assert tables(tmp_path / "out") == wanted
