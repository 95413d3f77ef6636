"""``--key FILE``: a release key that is read."""

from __future__ import annotations

import os
import shlex
import stat
from typing import TYPE_CHECKING

from ..._parameters.text import printable
from ..errors import UserMistake
from ..files import opened
from ..tell.tables import note

if TYPE_CHECKING:
    from ..._randomness.release_key import ReleaseKey

LONGEST = 1 << 12
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_key(file: str) -> ReleaseKey:
    """The key of an option ``--key FILE``; with a warning if others can read it."""
    from ... import FastexpError, ReleaseKey

    with opened(file) as raw:
        mode, content = os.fstat(raw.fileno()).st_mode, raw.read(LONGEST)
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
