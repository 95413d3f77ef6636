"""The command ``fastexp``."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code."""
    from .demo import demo

    words = sys.argv[1:] if arguments is None else arguments
    if words == ["demo"]:
        return demo()
    if words == ["--version"]:
        import numpy as np

        from .. import __version__
        from ..kernels.jit import MODE, MODULE

        level = f", level {MODULE.LEVEL}" if MODULE else ""
        print(f"fastexp {__version__}, NumPy {np.__version__}, kernels {MODE}{level}")
        return 0
    print("usage: fastexp demo | --version", file=sys.stderr)
    return 2
