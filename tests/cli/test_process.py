"""The program starts fast and ends cleanly, in any folder and terminal."""

from __future__ import annotations

import json
import os
import platform
import re
import runpy
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import fastexp
from fastexp.cli import main
from tests.doors.cli import FIRST_CALLS, info, waiting
from tests.doors.compiler import jit, warmup
from tests.doors.kernels import logexp
from tests.support import processes
from tests.support.each import each
from tests.support.processes import started

SELECT = ["select", "-", "--column", "c", "--candidates", "a,b", "--epsilon", "50"]
LISTED = ["select", "records.csv", *SELECT[2:]]
MODULE = [sys.executable, "-m", "fastexp"]
ALL_KERNELS = "all kernels: from the cache, or compiled, which takes a minute or two ...\n"
posix = pytest.mark.skipif(os.name != "posix", reason="signals and pseudo-terminals of POSIX")


def run(
    *arguments: str, stdin: str = "", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    command = [*MODULE, *arguments]
    return processes.run(command, given=stdin, cwd=cwd, env=env, encoding="utf-8")


# ---- starting ----


HEAVY = {"numpy", "numba", "rich", "csv", "matplotlib", "distributed", "duckdb", "shtab"}
HELPS = [
    ["--help"],
    ["select", "--help"],
    ["median", "--help"],
    ["price", "--help"],
    ["key", "--help"],
    *(["study", *command, "--help"] for command in ([], ["list"], ["run"], ["resume"], ["report"])),
]


@pytest.mark.process
@each("arguments", [*HELPS, ["--version"], ["demo"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\nfrom fastexp.cli import main\n"
        f"code = main({arguments!r})\n"
        f"heavy = {HEAVY} & set(sys.modules)\n"
        "print(sorted(heavy), code, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    )
    last = done.stderr.splitlines()[-1]
    if arguments == ["demo"]:  # the check can fail
        assert "'numpy'" in last
    else:
        assert last == "[] 0"
        assert done.stdout


def test_help_documents_exit_codes_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for code in ("0 ", "1 ", "2 ", "3 ", "130 "):
        assert re.search(rf"^  {code} *\w", text, re.MULTILINE)
    assert main(["select", "--help-all"]) == 0
    text = capsys.readouterr().out
    for key in ("kind", "private", "selected", "loss_95", "log_probability", "frequency"):
        assert key in text


# ---- ending ----


@pytest.mark.process
def test_streams_and_exit_codes_of_a_process() -> None:
    done = run(*SELECT, stdin="c\n" + "a\n" * 500)
    assert (done.returncode, done.stdout) == (0, "a\n")
    assert done.stderr.startswith("promises ")
    done = run(*SELECT[:-1], "zero", stdin="c\na\n")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.process
@posix
def test_interrupted_process_ends_with_130() -> None:
    with started(
        [*MODULE, *SELECT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"c\n" + b"a\n" * 1_000_000)  # returns when nearly all is read
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, b"")
    assert err.splitlines()[-1:] == [b"fastexp: interrupted"]  # after the promise, perhaps


@pytest.mark.process
@posix
def test_broken_pipe_is_silent() -> None:
    reading, writing = os.pipe()
    os.close(reading)  # nobody will read
    try:
        done = subprocess.run(
            [*MODULE, "demo", "--records"],
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
            timeout=300,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.process
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux")
def test_full_disk_is_a_failure() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*MODULE, "info"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=300
        )
    assert done.returncode == 1
    assert done.stderr == b"fastexp: the output could not be written: No space left on device\n"


def test_without_stdout_nothing_is_released(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["info"]) == 1
    assert capsys.readouterr().err == "fastexp: there is no stdout\n"


@pytest.mark.process
def test_labels_beyond_the_terminals_alphabet_are_escaped() -> None:
    arguments = [*SELECT[:4], "--candidates", "ä,b", "--epsilon", "50"]
    done = run(*arguments, stdin="c\n" + "ä\n" * 500, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout) == (0, "\\xe4\n")


def on_terminal(*arguments: str, **environment: str) -> str:
    """What a call shows on a pseudo-terminal."""
    import pty

    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    with started([*MODULE, *arguments], stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # Linux: the other side was closed
            pass
        process.wait(60)
    os.close(ours)
    assert process.returncode == 0
    return shown.decode()


@pytest.mark.process
@posix
def test_demo_on_a_terminal() -> None:
    fancy = on_terminal("demo", NO_COLOR="")
    plain = on_terminal("demo", NO_COLOR="1")
    assert "─" in fancy  # a table of rich
    assert "\x1b" not in plain
    assert len(fancy.splitlines()) <= 64  # and perhaps the note on compiling


@pytest.mark.process
@posix
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_first_use_on_a_terminal_explains_the_wait(tmp_path: Path) -> None:
    (tmp_path / "records.csv").write_text("c\na\na\nb\n")
    question = ("select", str(tmp_path / "records.csv"), *SELECT[2:])  # compiles little
    fresh = {"FASTEXP_CACHE_DIR": str(tmp_path / "fresh"), "XDG_CACHE_HOME": str(tmp_path)}
    note = r"compiling kernel \d+, once on this machine \(see fastexp warmup\) \.\.\."
    assert re.search(note, on_terminal(*question, **fresh))
    assert "compiling" not in on_terminal(*question, **fresh)


PUBLICATION = """
source = "private.csv"
budget = "b"
label = "c"
[answers.c]
mechanism = "most-common"
column = "c"
epsilon = 1
candidates = ["a", "b"]
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo"],
        [*LISTED, "--law"],
        [*LISTED, "--draws", "3"],
        [*LISTED, "--accuracy"],
        ["select", "utilities.csv", "--utilities", "--sensitivity", "1", "--epsilon", "1", "--law"],
        ["release", "p.toml", "--check", "--like", "records.csv"],
    ],
)
def test_what_is_no_release_explains_it_too(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def announced() -> None:
        raise SystemExit(77)

    monkeypatch.chdir(tmp_path)
    Path("records.csv").write_text("c\na\na\nb\n")
    Path("utilities.csv").write_text("candidate,utility\na,1\nb,2\n")
    Path("p.toml").write_text(PUBLICATION)
    fastexp.Budget.file("b", epsilon=1.0)
    monkeypatch.setattr(waiting, "announce_compilation", announced)
    assert main(arguments) == 77
    if "--law" in arguments:
        assert main([*arguments, "-q"]) == 0


# ---- info and warmup ----


@pytest.mark.slow
def test_info(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where others left nothing over
    assert main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    plain = {"fastexp", "python", "platform", "cpu", "threads"}
    assert set(found) == plain | {"cache", "left_over", "packages"}
    assert found["fastexp"] == fastexp.__version__
    assert found["threads"] >= 1
    assert set(found["cache"]) == {"folder", "places"}
    assert {"name", "folder", "kernels", "refusal"} == set(
        *map(tuple, found["cache"]["places"][:1])
    )
    assert found["packages"]["numba"]
    assert main(["info"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = list(dict.fromkeys(line.split()[0] for line in lines))
    assert names == ["fastexp", "python", "platform", "cpu", "threads", "cache", *info.PACKAGES]


def test_info_names_what_is_not_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(info, "PACKAGES", ("no-such-package-7341",))
    monkeypatch.setenv("FASTEXP_CACHE", "off")
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    assert "no-such-package-7341 not installed" in out
    assert re.search(r"^cache +off$", out, re.MULTILINE)


@pytest.mark.slow
@posix
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_info_says_which_folders_of_the_cache_are_used_and_why_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(name: str) -> tuple[str, int, str]:
        """A place's folder, number of kernels, refusal."""
        assert main(["info"]) == 0
        (line,) = [x for x in capsys.readouterr().out.splitlines() if f"cache       {name} " in x]
        path, kernels, rest = re.fullmatch(r"cache +\S+ (\S+) \((\d+) kernels\)(.*)", line).groups()
        return str(Path(path).parent), int(kernels), rest

    own = tmp_path / "own" / "fastexp"
    monkeypatch.delenv("FASTEXP_CACHE", raising=False)
    monkeypatch.delenv("FASTEXP_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(own.parent))
    assert shown("own") == (str(own), 0, "")
    logexp.exp_fill.build()
    assert shown("own") == (str(own), 1, "")
    (entry,) = own.rglob("bits.logexp.exp_fill-*")
    other = entry.with_name("bits.logexp.log_fill-of-other-sources")
    other.write_bytes(entry.read_bytes())
    other.chmod(0o600)
    assert shown("own") == (str(own), 1, "")
    entry.chmod(0o620)
    assert shown("own") == (str(own), 0, f": others may write to {entry} (mode 0620)")
    own.chmod(0o777)
    assert shown("own") == (str(own), 0, f": others may write to {own} (mode 0777)")
    assert main(["info", "--json"]) == 0
    cache = json.loads(capsys.readouterr().out)["cache"]
    assert cache["folder"] is None
    assert cache["places"][-1]["refusal"] == f"others may write to {own} (mode 0777)"
    chosen = tmp_path / "chosen"
    monkeypatch.setenv("FASTEXP_CACHE_DIR", str(chosen))
    assert shown("FASTEXP_CACHE_DIR") == (str(chosen), 0, "")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "nowhere"))
    assert shown("image") == (str(tmp_path / "nowhere/share/fastexp"), 0, ": not there")


@pytest.mark.slow
@posix
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_warmup_for_an_image(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warmup, "import_kernels", lambda: None)  # one is enough
    monkeypatch.setattr(jit, "KERNELS", {logexp.exp_fill.name: logexp.exp_fill})
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert main(["warmup", "--image", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["kernels"] == 1
    (entry,) = (tmp_path / "share" / "fastexp").rglob("bits.logexp.*")
    assert answer["cache"] == str(entry.parent)
    entry.parent.chmod(0o777)
    assert main(["warmup", "--image"]) == 1
    where, why = f"{tmp_path}/share/fastexp", f"others may write to {entry.parent} (mode 0777)"
    said = f"fastexp: error: kernels cannot be kept in {where}: {why}\n"
    assert capsys.readouterr().err == ALL_KERNELS + said


@pytest.mark.process
@posix
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="a CPU of x86-64")
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_warmup_of_a_part_for_a_fleet(tmp_path: Path) -> None:
    into, own = tmp_path / "into", tmp_path / "own"
    environment = {**os.environ, "XDG_CACHE_HOME": str(own), "FASTEXP_CACHE": "1"}
    command = [sys.executable, "-m", "fastexp", "warmup", "--only", "select", "--json"]
    command += ["--into", str(into), "--cpu", "x86-64-v3"]
    answer = json.loads(subprocess.check_output(command, env=environment, timeout=300))
    assert answer["kernels"] == answer["cached"] > 1
    files = [path for path in into.rglob("*") if path.is_file()]
    assert len(files) == answer["cached"]
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in files)
    assert not own.exists()
    assert str(files[0].parent) == answer["cache"]


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
@pytest.mark.parametrize("command", FIRST_CALLS)
def test_warmup_of_each_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warmup", "--only", command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernels"] > 1


def test_warmup_refuses_a_cpu_that_is_chosen_too_late(capsys: pytest.CaptureFixture[str]) -> None:
    fastexp.warmup()
    assert main(["warmup", "--cpu", "x86-64-v3"]) == 1
    assert "a process that has not imported the compiler" in capsys.readouterr().err


def test_warmup(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warmup", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"kernels", "seconds", "cached", "cache"}
    assert found["kernels"] == fastexp.warmup()
    assert main(["warmup"]) == 0
    assert re.match(r"\d+ kernels ready in \d+\.\d\d s\n", capsys.readouterr().out)


@pytest.mark.slow
@posix
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_warmup_says_what_is_cached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where a folder could be written to: a disk may be full, sources may be missing."""

    def warmed_up() -> tuple[object, object, str]:
        """Of JSON how many are cached, and where; what is said without it."""
        assert main(["warmup", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert main(["warmup"]) == 0
        return answer["cached"], answer["cache"], capsys.readouterr().err.removeprefix(ALL_KERNELS)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.delenv("FASTEXP_CACHE", raising=False)
    monkeypatch.setenv("FASTEXP_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(warmup, "import_kernels", lambda: None)
    kernels = {k.name: jit.Kernel(k.function, k.signature) for k in (logexp.exp_fill,)}
    monkeypatch.setattr(jit, "KERNELS", kernels)
    with monkeypatch.context() as disk:
        disk.setattr(os, "replace", full)
        said = "1 of 1 not cached (see fastexp info): compiled in every process\n"
        assert warmed_up() == (0, None, said)
    kernels["again"] = jit.Kernel(logexp.exp_fill.function, logexp.exp_fill.signature)
    cached, folder, text = warmed_up()
    assert (cached, Path(str(folder)).parent) == (1, tmp_path)
    assert text == f"1 of 2 cached in {folder}\n{said.replace('of 1', 'of 2')}"


def test_the_module_is_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fastexp", "--version"])
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit) as ending:
        runpy.run_module("fastexp", run_name="__main__")
    signal.signal(signal.SIGINT, before)  # the command line takes the process for its own
    assert ending.value.code == 0
    assert capsys.readouterr().out == f"fastexp {fastexp.__version__}\n"
