"""``fastexp key``: a release key in a file; ``--key`` of the commands that release."""

from __future__ import annotations

import os
import shlex
import stat
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from . import output
from .errors import Failure, UserMistake
from .files import opened

if TYPE_CHECKING:
    from .._release_key import ReleaseKey

ALONE = stat.S_IRUSR | stat.S_IWUSR  # 0600
LONGEST = 1 << 12


def key(options: Namespace) -> None:
    """Make a key.

    Parameters
    ----------
    options : Namespace
        Of the command line.
    """
    from .. import release_key

    text = release_key().export()
    try:
        number = os.open(options.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, ALONE)
    except FileExistsError:
        raise UserMistake(
            f"{options.file!r} exists: a key is never overwritten, as answers could not be "
            "repeated without it"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise UserMistake(f"cannot write {options.file!r}: {reason}") from None
    try:
        with os.fdopen(number, "w", encoding="ascii") as made:
            made.write(f"{text}\n")
    except OSError as error:
        Path(options.file).unlink(missing_ok=True)
        raise Failure(f"cannot write {options.file!r}: {error.strerror}") from None
    if options.json:
        output.as_json({"key": options.file})
    else:
        output.line(options.file)
    output.note("a secret: whoever reads it can undo the protection; without it nobody can repeat")


def read_key(file: str) -> ReleaseKey:
    """The key of an option ``--key FILE``."""
    from .. import FastexpError, ReleaseKey

    with opened(file) as raw:
        content = raw.read(LONGEST)
    try:
        found = ReleaseKey.restore(content.decode("ascii"))
    except (FastexpError, UnicodeDecodeError):
        found = None
    if found is None:
        raise UserMistake(f"--key {file!r} holds no release key; make one with: fastexp key FILE")
    if os.name == "posix" and Path(file).stat().st_mode & 0o077:
        quoted = output.printable(shlex.quote(file))
        output.note(f"WARNING: others can read {file!r}, which is a secret: chmod 600 {quoted}")
    return found
