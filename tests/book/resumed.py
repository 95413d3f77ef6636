"""A study's folder whose run was killed and resumed: byte for byte that of a whole run."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import fastexp as fx
from tests.book.entries import Entry, digest
from tests.support.processes import started
from tests.support.small_study import small

ROOT = Path(__file__).parents[2]
ENOUGH = 9  # tasks that are done when the run is killed
RAN_ON = re.compile(rb'"(versions|machine)": \{[^}]*\}')


def entries() -> Iterator[Entry]:
    """All of them."""
    with tempfile.TemporaryDirectory() as folder:
        whole, resumed = Path(folder, "whole"), Path(folder, "resumed")
        small().run(workers=1, out=whole)
        yield Entry("lines of a killed run", killed(resumed))
        fx.Study.resume(resumed)
        yield Entry("files", sorted(path.name for path in resumed.iterdir()))
        for path in sorted(resumed.iterdir()):
            lines = lines_of(path)
            yield Entry(f"{path.name} / as of a whole run", lines == lines_of(whole / path.name))
            digests = [digest(line)[:4] for line in lines]
            yield Entry(path.name, {"all": digest(b"".join(lines)), "lines": " ".join(digests)})


def killed(out: Path) -> int:
    """Kill a run after some tasks, leave half of a line as well, and count the whole ones."""
    command = [sys.executable, "-m", "tests.support.killed_run", str(out), "threads", str(ENOUGH)]
    with started(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        run.stdout.readline()
        run.send_signal(signal.SIGKILL)
        run.wait(60)
    file = out / "tasks.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines) + lines[0][:100])
    return len(lines)


def lines_of(path: Path) -> list[bytes]:
    """The lines of a file without versions and machine; those of tasks in the order of tasks."""
    lines = RAN_ON.sub(rb'"\1": {}', path.read_bytes()).splitlines(keepends=True)
    if path.suffix != ".jsonl":
        return lines
    return sorted(map(_task, lines), key=lambda line: int(json.loads(line)["task"]))


def _task(line: bytes) -> bytes:
    """A task's line whose checksum is right."""
    text, checksum = line.rstrip(b"\n").split(b"\t")
    if int(checksum, 16) != zlib.crc32(text):
        raise ValueError("the checksum of a task is wrong")
    return text
