"""Is a forked process like one that was started, so that tests of either mean the same?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.support import processes

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not processes.FORKS, reason="nothing is forked"),
]
KINDS = ["package", "compiler", "nothing"]
SCRIPTS = {
    "the start": "import os, sys; print(sys.argv, os.getcwd(), sys.path[0], sorted(vars()))",
    "variables": "import os; print(os.environ['CITY'], sorted(os.environ))",
    "streams": "import sys; print(sys.stdin.read(), [(s.encoding, s.errors, s.line_buffering, "
    "s.newlines, s.fileno()) for s in (sys.stdin, sys.stdout, sys.stderr)])",
    "open files": "import os; print(len(os.listdir('/proc/self/fd')))",
    "one thread": "import os; print(len(os.listdir('/proc/self/task')))",
    "signals": "import signal\nfor s in (2, 13, 15, 17): print(signal.getsignal(s))\n"
    "print(signal.pthread_sigmask(0, []), signal.set_wakeup_fd(-1))",
    "warnings": "import sys, warnings; print(sys.warnoptions, sys.flags)",
    "its end": "import atexit; atexit.register(print, 'bye'); print('end', end='')",
    "a thread's end": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.1), print('bye'))).start()",
    "a code": "import sys; sys.exit(3)",
    "a large code": "import sys; sys.exit(256 + 7)",
    "a message": "import sys; sys.exit('why')",
    "no code": "import sys; sys.exit()",
    "at once": "import os; os._exit(4)",
    "an error": "print(1 / 0)",
    "an interrupt": "import os; os.kill(os.getpid(), 2)",
    "a kill": "import os; os.kill(os.getpid(), 9)",
    "a process of its own": "import multiprocessing as m\nm.set_start_method('spawn')\n"
    "if __name__ == '__main__':\n    one = m.Process(target=print, args=('child',))\n"
    "    one.start(); one.join(); print(one.exitcode, m.parent_process())",
}


def ended(script: str, imported: str, **options: object) -> tuple[int, str, str]:
    """Code, stdout, and the last line of stderr."""
    command = [sys.executable, "-c", script, "a", "b c"]
    env = {**os.environ, "CITY": "Ærø"}
    done = processes.run(command, given="rows\n", text=True, env=env, imported=imported, **options)
    return done.returncode, done.stdout, (done.stderr.splitlines() or [""])[-1]


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_does_the_same(name, tmp_path):
    forked, too, new = (ended(SCRIPTS[name], kind, cwd=tmp_path) for kind in KINDS)
    assert forked == too == new


def test_it_is_forked_where_it_can_be():
    shows = "import sys; print([n for n in ('fastexp', 'numba') if n in sys.modules])"
    told = [ended(shows, kind)[1] for kind in KINDS]
    assert told == ["['fastexp', 'numba']\n", "['numba']\n", "[]\n"]
    hashes = {**os.environ, "PYTHONHASHSEED": "7", "CITY": ""}
    command = [sys.executable, "-c", shows]
    assert processes.run(command, env=hashes, text=True).stdout == "[]\n"


def test_modules_and_scripts(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint(__file__, sys.argv, sys.path[0])\n")
    for words in ([str(script), "x"], ["-m", "fastexp", "--version"], ["-m", "json.tool", "-h"]):
        command = [sys.executable, *words]
        forked = processes.run(command, text=True)
        assert forked.returncode == 0
        assert forked.stdout == processes.run(command, text=True, imported="nothing").stdout


def test_signals_and_waiting():
    script = "import signal, time; print(signal.SIGTERM, flush=True); time.sleep(60)"
    command = [sys.executable, "-c", script]
    for number in (signal.SIGTERM, signal.SIGKILL):
        with processes.started(command, stdout=subprocess.PIPE) as one:
            assert one.stdout.readline() == b"15\n"
            assert one.poll() is None
            with pytest.raises(subprocess.TimeoutExpired):
                one.wait(0.01)
            one.send_signal(number)
            assert one.wait(60) == one.poll() == -number
    begin = time.monotonic()
    with processes.started(command):
        pass
    assert time.monotonic() - begin < 30
