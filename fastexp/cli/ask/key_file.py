"""``--key FILE``: a release key from a file."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..._parameters.text import printable
from ..terminal.errors import UserMistake, reason_of
from ..terminal.printing import note

if TYPE_CHECKING:
    from ..._randomness.release_key import ReleaseKey

LONGEST = 1 << 12
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_key(file: str) -> ReleaseKey:
    """The key in a file, or from stdin for ``-``; with a warning if others can read it."""
    from ... import FastexpError, ReleaseKey

    if file == "-" and sys.stdin is None:
        raise UserMistake("--key is - but there is no stdin")
    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as raw:
            mode, content = os.fstat(raw.fileno()).st_mode, raw.read(LONGEST)
    except (OSError, ValueError) as error:
        raise UserMistake(f"cannot read {file!r}: {reason_of(error)}") from None
    try:
        key = ReleaseKey.restore(content.decode("ascii"))
    except (FastexpError, UnicodeDecodeError):
        key = None
    if key is None:
        raise UserMistake(f"--key {file!r} holds no release key; make one with: fastexp key FILE")
    if os.name == "posix" and stat.S_ISREG(mode) and mode & OTHERS:
        quoted = printable(shlex.quote(file))
        note(f"WARNING: others can read {file!r}, which is a secret: chmod 600 {quoted}")
    return key
