"""What a test report says about the machine."""

from __future__ import annotations

import platform

import llvmlite
import numba
import numpy as np


def pytest_report_header() -> str:
    return (
        f"numpy {np.__version__}, numba {numba.__version__}, llvmlite {llvmlite.__version__}, "
        f"{platform.machine()}"
    )
