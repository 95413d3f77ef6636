"""Copies of the package with a further mechanism, which a patch of a few files adds."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.house.rooms import PACKAGE

FOLDER = Path(__file__).parents[1] / "data" / "toys"


def patch_of(name: str) -> str:
    """The patch that adds a mechanism, as `git diff` prints it."""
    return (FOLDER / f"{name}.patch").read_text()


def applied(patch: str, folder: Path) -> list[str]:
    """Copy the package into a folder and patch it there; which of its files the patch changes."""
    shutil.copytree(PACKAGE, folder / "fastexp", ignore=shutil.ignore_patterns("__pycache__"))
    changed = []
    for part in re.split(r"^--- ", patch, flags=re.MULTILINE)[1:]:
        heads, *hunks = re.split(r"^@@.*\n", part, flags=re.MULTILINE)
        path = folder / heads.split("+++ b/")[1].strip()
        text = "" if heads.startswith("/dev/null") else path.read_text()
        for hunk in hunks:
            lines = hunk.splitlines(keepends=True)
            before = "".join(line[1:] for line in lines if line[0] != "+")
            after = "".join(line[1:] for line in lines if line[0] != "-")
            assert text.count(before) == 1 or not text, f"{path}: the place is not there once"
            text = text.replace(before, after) if text else after
        path.write_text(text)
        changed.append(path.relative_to(folder / "fastexp").as_posix())
    return changed
