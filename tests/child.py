"""Python processes whose kernels run in another way, with the installed package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(code: str, **variables: str) -> str:
    """Return what this code prints. It may import `tests`."""
    start = f"import sys; sys.path.append({str(Path(__file__).parents[1])!r})\n"
    command = [sys.executable, "-P", "-W", "error", "-c", start + code]
    environment = {**os.environ, **variables}
    return subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
