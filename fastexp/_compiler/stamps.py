"""The state of this package's files when this process began to import it.

A stamp is what the file system says of a file; an unchanged stamp means the same file with the same
text. Stamps are taken before anything else is imported, so that a file that is edited or exchanged
later, a renamed folder or a switched link (in a deployment, say) is noticed, whatever the clocks
are.
"""

from __future__ import annotations

import os

Stamp = tuple[int, ...]


def stamp(info: os.stat_result) -> Stamp:
    """Return a file's identity, size and times of change (on Windows: of change and creation)."""
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def stamps(folder: str, prefix: str = "") -> dict[str, Stamp]:
    """Return the stamp of each Python file below a folder, by its path from there."""
    by_path: dict[str, Stamp] = {}
    try:
        names = os.listdir(folder)  # noqa: PTH208  # pathlib takes a third of an import's time
    except OSError:  # not a folder (a zip file), or one that may not be read
        return by_path
    for name in names:
        path = f"{folder}{os.sep}{name}"
        if name.endswith(".py"):
            try:
                by_path[prefix + name] = stamp(os.stat(path))  # noqa: PTH116  # as above
            except OSError:  # an editor's link to nowhere
                continue
        elif "." not in name and name != "__pycache__":
            by_path |= stamps(path, f"{prefix}{name}/")
    return by_path


STAMPS = stamps(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120  # as above
