"""Is a publication charged once and answered once, whatever dies, fills up or comes twice?"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fastexp as fx
from fastexp.cli import main
from tests.doors.budget import atomic_files
from tests.doors.query import execute, reading, verbs
from tests.messages import heard
from tests.support import processes
from tests.support.command_line import Run, released_pipes

pytest.importorskip("duckdb")
pytestmark = [
    pytest.mark.process,
    pytest.mark.engines,
    pytest.mark.skipif(os.name != "posix", reason="forks and signals of POSIX"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]
TEXT = """\
source = "d.csv"
budget = "b"
label = "rents 2024"
output = "out.csv"

[query]
by = "city"
groups = ["Rome", "Oslo", "Bonn"]

[answers.median]
mechanism = "median"
column = "rent"
epsilon = 0.5
bounds = [0, 1_000_000_000]
step = 1
nan = "drop"

[answers.heating]
mechanism = "most-common"
column = "heating"
epsilon = 0.25
candidates = ["gas", "oil"]
"""
STEPS = [  # functions of `os` that write something, or say that it is there
    *("open", "write", "fsync", "ftruncate", "link", "unlink", "replace", "posix_fallocate"),
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A publication in the folder that the process is in, with all that it needs."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{city},{rent},{kind}" for rent in range(400, 500) for city, kind in HOMES]
    Path("d.csv").write_text("\n".join(["city,rent,heating", *rows]))
    Path("p.toml").write_text(TEXT)
    fx.Budget.file("b", epsilon=2.0)
    return tmp_path


HOMES = [("Rome", "gas"), ("Oslo", "oil"), ("Bonn", "gas")]


def budget() -> fx.Budget:
    return fx.Budget.file("b")


def answers() -> list[str]:
    """What the budget keeps, as lines of the output."""
    median, heating = budget().answers("rents 2024")[1:]
    rows = zip(["Rome", "Oslo", "Bonn"], median.tolist(), heating, strict=True)
    return ["city,median,heating", *(",".join(map(str, row)) for row in rows)]


def whole() -> None:
    """One charge, one set of answers, and the output has them."""
    assert (budget().charges, budget().spent) == (1, 0.75)
    assert Path("out.csv").read_text().splitlines() == answers()


def edited(text: str, *changes: tuple[str, str]) -> None:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path("p.toml").write_text(text)


# ---- once and again ----


@pytest.mark.fast
def test_a_publication_is_made(place: Path, run: Run) -> None:
    ended = run("release", "p.toml")
    assert (ended.code, ended.out) == (0, "")
    whole()
    first, second = ended.err.splitlines()
    assert "0.75-differential privacy" in first
    assert "0.75" in second
    assert second.endswith("written: out.csv")


@pytest.mark.fast
def test_again_it_costs_nothing_and_needs_no_source(place: Path, run: Run) -> None:
    run("release", "p.toml")
    before = Path("out.csv").stat()
    Path("d.csv").unlink()
    edited(TEXT, ("label", 'key = "k"\nlabel'))  # a key that was lost
    ended = run("release", "p.toml")
    assert (ended.code, ended.out) == (0, "")
    assert "out.csv has these answers already" in ended.err
    whole()
    after = Path("out.csv").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    Path("out.csv").unlink()
    assert run("release", "p.toml", "-q") == (0, "", "")
    whole()


@pytest.mark.fast
def test_answers_of_several_values_have_a_column_each(place: Path, run: Run) -> None:
    several = '[answers.rents]\nmechanism = "quantiles"\nq = [0.25, 0.75]'
    edited(TEXT, ('[answers.median]\nmechanism = "median"', several))
    assert run("release", "p.toml", "-q") == (0, "", "")
    rents, heating = budget().answers("rents 2024")[1:]
    lines = [
        f"{city},{low},{high},{kind}"
        for city, (low, high), kind in zip(
            ["Rome", "Oslo", "Bonn"], rents.tolist(), heating, strict=True
        )
    ]
    header = "city,rents_0.25,rents_0.75,heating"
    assert Path("out.csv").read_text().splitlines() == [header, *lines]
    Path("out.csv").unlink()
    shown = run("release", "p.toml", "-q", "--json")
    assert (shown.code, json.loads(shown.out)["rows"][0]["rents_0.25"]) == (0, rents[0, 0])


@pytest.mark.fast
def test_as_a_table_and_as_json(place: Path, run: Run) -> None:
    edited(TEXT, ('output = "out.csv"\n', ""))
    table = run("release", "p.toml", "-q").out
    assert [",".join(line.split()) for line in table.splitlines()] == answers()
    facts = json.loads(run("release", "p.toml", "--json", "-q").out)
    rows = [",".join(map(str, row.values())) for row in facts["rows"]]
    assert rows == answers()[1:]
    assert budget().charges == 1


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_every_format_is_known_again(place: Path, run: Run, ending: str) -> None:
    edited(TEXT, ("out.csv", f"out{ending}"))
    assert run("release", "p.toml").code == 0
    assert "has these answers already" in run("release", "p.toml").err
    Path(f"out{ending}").write_bytes(Path(f"out{ending}").read_bytes() + b"\n")
    assert run("release", "p.toml").code == 2
    assert run("release", "p.toml", "--force").code == 0
    assert "has these answers already" in run("release", "p.toml", "--force").err
    assert budget().charges == 1


def test_another_file_in_the_place_of_the_output_is_left(place: Path, run: Run) -> None:
    Path("out.csv").write_text("mine\n")
    ended = run("release", "p.toml")
    assert ended.code == 2
    assert "output 'out.csv' exists" in ended.err
    assert "add --force to replace it" in ended.err
    assert budget().charges == 0
    edited(TEXT, ("out.csv", "other.csv"))
    assert run("release", "p.toml").code == 0
    edited(TEXT)
    assert run("release", "p.toml").code == 2  # by now it has answers
    assert Path("out.csv").read_text() == "mine\n"
    assert run("release", "p.toml", "--force").code == 0
    whole()


CHANGES = {
    "mechanism": ('"median"\n', '"mode"\n'),
    "epsilon": ("0.25", "0.2"),
    "bounds": ("1_000", "2_000"),
    "candidates": ('"oil"]', '"coal"]'),
    "missing records": ('"drop"', '"lower"'),
    "name": ("answers.median", "answers.middle"),
    "column": ('"heating"', '"city"'),
    "groups": (', "Bonn"]', "]"),
    "order of groups": ('"Oslo", "Bonn"', '"Bonn", "Oslo"'),
    "persons": ("[query]", '[query]\nperson = "rent"'),
    "limits": ("[query]", "[query]\nmax_groups = 2"),
    "source": ("d.csv", "e.csv"),
    "delimiter": ("label", 'delimiter = ";"\nlabel'),
}
NO_CHANGES = {
    "output": ("out.csv", "./out.csv"),
    "note": ("label", 'note = "for the yearbook"\nlabel'),
    "comment": ("[query]", "# for the yearbook\n[query]"),
    "blanks": (" = ", "   = "),
    "writing of numbers": ("0.25", "25e-2"),
    "writing of integers": ("1_000_000_000", "1000000000"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_edited_publication_needs_another_label(
    place: Path, run: Run, change: tuple[str, str]
) -> None:
    run("release", "p.toml")
    edited(TEXT, change)
    for more in ([], ["--force"], ["--check"]):
        ended = run("release", "p.toml", *more)
        assert ended.code == 2
        assert "another label" in ended.err
    whole()


@pytest.mark.parametrize("change", NO_CHANGES.values(), ids=NO_CHANGES)
def test_what_is_no_question_may_be_edited(place: Path, run: Run, change: tuple[str, str]) -> None:
    run("release", "p.toml")
    edited(TEXT, change)
    assert run("release", "p.toml").code == 0
    whole()


def test_the_folder_can_be_moved(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("release", "p.toml")
    place.rename(place.with_name("moved"))
    moved = place.with_name("moved")
    assert run("release", moved / "p.toml").code == 0
    monkeypatch.chdir(moved)
    whole()


@pytest.mark.fast
def test_a_budget_must_be_there_and_have_room(place: Path, run: Run) -> None:
    edited(TEXT, ("epsilon = 0.5", "epsilon = 1.8"))
    for more in ([], ["--check"]):
        ended = run("release", "p.toml", *more)
        assert ended.code == 3
        assert heard(ended.err, "budget exceeded", spent="2.0")
    edited(TEXT, ('"b"', '"none"'))
    for more in ([], ["--check"]):
        ended = run("release", "p.toml", *more)
        assert ended.code == 2
        assert "fastexp budget" in ended.err
    assert not Path("none").exists()
    assert not Path("out.csv").exists()


# ---- whatever dies ----


def in_child(action: Callable[[], int]) -> int:
    """The exit code of a forked child, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:  # never returns
        code = 99
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            code = action()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def stepping(names: list[str], last: int, then: Callable[[], None]) -> None:
    """From here on `then` is called before the step with this number of functions of `os`."""
    seen: list[str] = []

    def watched(name: str) -> None:
        real = getattr(os, name)

        def call(*arguments: object, **named: object) -> object:
            seen.append(name)
            if len(seen) == last:
                then()
            return real(*arguments, **named)

        setattr(os, name, call)

    for name in names:
        watched(name)


def fresh(header: bytes) -> None:
    """As before the first run."""
    for file in Path().iterdir():
        if file.name not in ("d.csv", "p.toml"):
            file.unlink()
    Path("b").write_bytes(header)


def test_killed_at_every_step(place: Path, run: Run) -> None:
    header, step, states = Path("b").read_bytes(), 0, set()
    run("release", "p.toml")  # what is imported and compiled once
    while True:
        step += 1
        fresh(header)

        def killed(number: int = step) -> int:
            stepping(STEPS, number, lambda: os.kill(os.getpid(), signal.SIGKILL))
            return main(["release", "p.toml"])

        ended = in_child(killed)
        assert ended in (0, -signal.SIGKILL)
        state = tuple(entry["state"] for entry in budget().log())
        kept = answers() if state == ("answered",) else None
        states.add(state)
        if Path("out.csv").exists():  # whole or not there
            assert Path("out.csv").read_text().splitlines() == answers()
        assert run("release", "p.toml").code == 0
        assert kept in (None, answers())
        whole()
        if ended == 0:
            break
    assert states == {(), ("open",), ("answered",)}
    assert step > 15


@pytest.mark.parametrize("name", ["write", "fsync", "ftruncate", "posix_fallocate"])
def test_a_full_disk_at_every_step(place: Path, run: Run, name: str) -> None:
    header, step, codes = Path("b").read_bytes(), 0, []
    run("release", "p.toml")

    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    while codes[-1:] != [0]:
        step += 1
        fresh(header)

        def filled(number: int = step) -> int:
            stepping([name], number, full)
            return main(["release", "p.toml"])

        codes.append(in_child(filled))
        if Path("out.csv").exists():
            assert Path("out.csv").read_text().splitlines() == answers()
        assert list(Path().glob(".fastexp-*")) == []
        assert run("release", "p.toml").code == 0
        whole()
    assert set(codes[:-1]) <= {1}
    assert len(codes) > 1


def test_a_full_disk_says_where_the_answers_are(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write

    def full(handle: int, data: bytes) -> int:
        if b"city,median" in bytes(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        ended = run("release", "p.toml")
    assert ended.code == 1
    assert "No space left on device" in ended.err
    assert "kept in the budget file under label 'rents 2024'" in ended.err
    assert not Path("out.csv").exists()
    assert run("release", "p.toml").code == 0
    whole()


def test_several_at_once(place: Path) -> None:
    command = [sys.executable, "-m", "fastexp", "release", str(place / "p.toml")]
    source = Path(fx.__file__).parents[1]
    pipes = {"stderr": subprocess.PIPE, "text": True}
    runs = [processes.start(command, cwd=source, **pipes) for _ in range(3)]
    said = [one.communicate(timeout=300)[1] for one in runs]
    assert [one.returncode for one in runs] == [0] * 3, said
    whole()


def test_whoever_comes_second_finds_the_output_of_the_first(place: Path, run: Run) -> None:
    """At each step of the second at which it holds no lock."""
    header, met = Path("b").read_bytes(), 0
    run("release", "p.toml")

    def first() -> None:
        Path("reached").touch()
        if not atomic_files.LOCKED_FILES and in_child(lambda: main(["release", "p.toml"])) == 0:
            Path("met").touch()

    for name in ("open", "link", "posix_fallocate"):
        for number in range(1, 40):
            fresh(header)

            def second(number: int = number, name: str = name) -> int:
                stepping([name], number, first)
                return main(["release", "p.toml"])

            assert in_child(second) == 0
            whole()
            met += Path("met").exists()
            if not Path("reached").exists():
                break
    assert met > 5


def test_rows_beyond_the_memory_go_where_temp_says(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders, private_folder = [], reading.private_folder

    def noted(temp: object) -> object:
        folders.append(temp)
        return private_folder(temp)

    monkeypatch.setattr(reading, "private_folder", noted)
    rows = [f"{city},{rent},{kind}" for rent in range(40_000) for city, kind in HOMES]
    Path("d.csv").write_text("\n".join(["city,rent,heating", *rows]))
    Path("rows").mkdir()
    command = ["release", "p.toml", "--memory", "1MB", "--temp", "rows", "--threads", "2"]
    assert run(*command).code == 0
    assert folders == ["rows"]
    assert not any(Path("rows").iterdir())
    whole()


# ---- checked ----


def untouched() -> dict[str, tuple[int, int, bytes]]:
    files = [file for file in Path().iterdir() if file.is_file()]
    return {f.name: (f.stat().st_ino, f.stat().st_mtime_ns, f.read_bytes()) for f in files}


@pytest.mark.fast
@pytest.mark.parametrize("pipes", [[], ["d.csv", "k"]], ids=["missing", "pipes"])
def test_a_check_opens_neither_source_nor_key(place: Path, run: Run, pipes: list[str]) -> None:
    edited(TEXT, ("label", 'key = "k"\nlabel'))
    Path("d.csv").unlink()
    before = untouched()
    with released_pipes(*map(Path, pipes)):
        ended = run("release", "p.toml", "--check")
        facts = json.loads(run("release", "p.toml", "--check", "--json").out)
    assert (ended.code, ended.err) == (0, "")
    told = ["0.75-differential privacy", "costs 0.75, which leaves 1.25", "Rome, Oslo, Bonn"]
    told += ["\nkey: k (whoever has it can undo the noise)\n"]
    assert all(words in ended.out for words in told)
    assert facts["key"] == "k"
    assert facts["promised"]["epsilon"] == 0.75
    assert facts["answers"]["median"]["promised"]["epsilon"] == 0.5
    assert facts["budget"] == {
        "file": "b",
        "unit": "epsilon",
        "neighbors": "add-remove",
        "charged": 0.0,
        "total": 2.0,
        "cost": 0.75,
        "remaining": 2.0,
        "left": 1.25,
        "label": "rents 2024",
        "state": "new",
    }
    assert facts["groups"] == 3
    assert untouched() == before


@pytest.mark.fast
def test_a_missing_key_is_made_by_a_command(place: Path, run: Run) -> None:
    edited(TEXT, ("label", 'key = "my.key"\nlabel'))
    ended = run("release", "p.toml")
    assert ended.code == 2
    assert ended.err.endswith("; make a key with: fastexp key my.key\n")


@pytest.mark.fast
def test_a_check_has_all_names_of_public_lists_as_json(place: Path, run: Run) -> None:
    cities, kinds = [f"c{i}" for i in range(7)], [f"k{i}" for i in range(8)]
    edited(
        TEXT,
        ('["Rome", "Oslo", "Bonn"]', json.dumps(cities)),
        ('["gas", "oil"]', json.dumps(kinds)),
    )
    out = run("release", "p.toml", "--check").out
    assert "groups: 7 of city: c0, c1, c2, c3, c4, ... (all of them with --json)\n" in out
    assert "one of k0, k1, k2, k3, k4, ... (8; all of them with --json)" in out
    facts = json.loads(run("release", "p.toml", "--check", "--json").out)
    assert facts["group_names"] == cities
    assert facts["answers"]["heating"]["candidates"] == kinds


@pytest.mark.fast
def test_a_grid_without_a_step_between_integers_is_told(place: Path, run: Run) -> None:
    edited(TEXT, ("step = 1\n", ""))
    hint = "answers of median lie on 2^40 points between the bounds: for whole numbers add step = 1"
    assert run("release", "p.toml", "--check").err == f"{hint}\n"
    assert run("release", "p.toml", "--check", "-q").err == ""
    assert run("release", "p.toml").err.startswith(f"{hint}\n")
    edited(TEXT, ("step = 1\n", ""), ("[0, 1_000_000_000]", "[0.0, 5.5]"), ("2024", "2025"))
    assert run("release", "p.toml", "--check", "--force").err == ""


@pytest.mark.fast
def test_a_check_without_a_budget_says_what_one_must_hold(place: Path, run: Run) -> None:
    Path("b").unlink()
    before = untouched()
    ended = run("release", "p.toml", "--check")
    assert ended.code == 2
    assert "promises 0.75-differential privacy" in ended.out
    assert "there is no budget file 'b'; create it with: fastexp budget b" in ended.err
    assert "costs" not in ended.out
    ended = run("release", "p.toml", "--check", "--json")
    facts = json.loads(ended.out)
    assert (ended.code, facts["budget"], facts["promised"]["epsilon"]) == (2, None, 0.75)
    assert untouched() == before


@pytest.mark.fast
def test_a_check_without_a_key_or_a_file_of_groups(place: Path, run: Run) -> None:
    out = run("release", "p.toml", "--check").out
    facts = json.loads(run("release", "p.toml", "--check", "--json").out)
    assert "\nkey" not in out
    assert "\ngroups: 3 of city: Rome, Oslo, Bonn\n" in out
    assert (facts["key"], facts["groups_file"]) == (None, None)


def test_a_check_names_the_file_of_groups_and_the_column_of_persons(place: Path, run: Run) -> None:
    names = [f"town {i}" for i in range(17)]
    for text, file in {
        "towns.txt": "\n".join(names),
        "towns.csv:t": "\n".join(["t", *names]),
    }.items():
        path = text.partition(":")[0]
        Path(path).write_text(file)
        edited(TEXT, ('["Rome", "Oslo", "Bonn"]', f'"{text}"\nperson = "tenant"'))
        out = run("release", "p.toml", "--check").out
        first = "town 0, town 1, town 2, town 3, town 4, ... (all of them with --json)"
        assert f"\ngroups: 17 of city, listed in {path}: {first}\n" in out
        limits = "; at most 1 row of a person counts in 1 group"
        assert f": one person (column tenant) joins or leaves{limits}" in out
        facts = json.loads(run("release", "p.toml", "--check", "--json").out)
        assert (facts["groups"], facts["groups_file"]) == (17, path)


def test_a_check_says_that_the_error_of_a_missing_record_is_not_private(
    place: Path, run: Run
) -> None:
    edited(TEXT, ('nan = "drop"', 'nan = "raise"'))
    said = "    of column rent; missing records are an error, which the promise does not cover\n"
    assert said in run("release", "p.toml", "--check").out


@pytest.mark.fast
def test_a_check_draws_nothing(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(*_: object) -> None:
        raise AssertionError("words of the system were taken")

    Path("like.csv").write_bytes(Path("d.csv").read_bytes())
    monkeypatch.setattr(os, "urandom", drawn)
    assert run("release", "p.toml", "--check").code == 0


def test_a_check_tells_the_promise_before_a_long_list_is_digested(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def digest(_: object) -> str:
        raise fx.FastexpError("digested")

    monkeypatch.setattr(verbs, "list_digest", digest)
    ended = run("release", "p.toml", "--check")
    assert ended.code == 1
    assert "promises 0.75-differential privacy" in ended.out
    assert budget().charges == 0


@pytest.mark.fast
def test_a_check_after_the_release_costs_nothing(place: Path, run: Run) -> None:
    run("release", "p.toml")
    before = untouched()
    ended = run("release", "p.toml", "--check")
    assert ended.code == 0
    assert "is answered: a run repeats it, at no cost" in ended.out
    assert not any(str(value) in ended.out for value in budget().answers("rents 2024")[1].tolist())
    assert untouched() == before


def test_a_check_of_a_run_that_was_killed(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(execute, "answered", killed)
        assert run("release", "p.toml").code == 130
    assert (budget().charges, budget().log()[0]["state"]) == (1, "open")
    assert "is charged: a run goes on, at no cost" in run("release", "p.toml", "--check").out
    ended = run("release", "p.toml")
    assert ended.code == 0
    assert (
        "charged nothing: these answers were drawn under the charge of a run that died" in ended.err
    )
    whole()


@pytest.mark.fast
def test_a_check_is_of_the_budgets_relation(place: Path, run: Run) -> None:
    Path("b").unlink()
    fx.Budget.file("b", epsilon=2.0, neighbors="replace")
    facts = json.loads(run("release", "p.toml", "--check", "--json").out)
    promised = [answer["promised"]["epsilon"] for answer in facts["answers"].values()]
    assert (promised, facts["promised"]["epsilon"]) == ([1.0, 0.5], 1.5)
    assert facts["budget"]["left"] == 0.5
    assert run("release", "p.toml", "-q").code == 0
    assert budget().remaining == 0.5


def test_what_a_check_promises_is_never_less(place: Path, run: Run) -> None:
    edited(TEXT, ("epsilon = 0.5", "epsilon = 0.12345649"))
    out = run("release", "p.toml", "--check").out
    assert "median, epsilon 0.123457, " in out
    assert "; promises 0.123457\n" in out


def test_a_check_refuses_an_output_without_a_folder(place: Path, run: Run) -> None:
    edited(TEXT, ('"out.csv"', '"no/out.csv"'))
    for more in (["--check"], []):
        ended = run("release", "p.toml", *more)
        assert ended.code == 2
        assert heard(ended.err, "output to write", file="...no/out.csv'")
    assert budget().charges == 0


@pytest.mark.fast
def test_a_check_says_that_the_output_is_taken(place: Path, run: Run) -> None:
    Path("out.csv").write_text("mine\n")
    assert "output out.csv exists: a run needs --force" in run("release", "p.toml", "--check").out
    assert "exists" not in run("release", "p.toml", "--check", "--force").out


@pytest.mark.fast
def test_accuracy_on_a_public_stand_in(place: Path, run: Run) -> None:
    Path("d.csv").rename("like.csv")
    facts = json.loads(run("release", "p.toml", "--check", "--like", "like.csv", "--json").out)
    query = fx.Query(by="city", groups=["Rome", "Oslo", "Bonn"])
    table = {
        "city": [city for _ in range(100) for city, _ in HOMES],
        "rent": [rent for rent in range(400, 500) for _ in HOMES],
        "heating": [kind for _ in range(100) for _, kind in HOMES],
    }
    wanted = query.accuracy(
        table,
        {
            "median": (fx.Median(0.5, (0, 10**9), step=1), "rent"),
            "heating": (fx.MostCommon(0.25, ["gas", "oil"]), "heating"),
        },
    )
    rows = facts["accuracy"]
    assert [row["group"] for row in rows] == [{"city": city} for city in wanted["city"]]
    for name in ("answer", "measure", "n", "expected", "quantile"):
        assert [row[name] for row in rows] == list(wanted[name])
    text = run("release", "p.toml", "--check", "--like", "like.csv").out
    assert "NOT PRIVATE: computed from like.csv without noise" in text
    assert "error: the expected abs(output - truth);\nloss: the expected best" in text
    assert "    of column rent; missing records are left out\n" in text
    assert "    of column heating; missing records count nowhere\n" in text
    assert re.search(r"Oslo +median +error +100 +449\.5", text)


@pytest.mark.fast
def test_accuracy_has_a_row_for_a_total_and_no_figures_without_records(
    place: Path, run: Run
) -> None:
    edited(TEXT, ('"Bonn"', '"Bon"'), ("epsilon = 0.5", "epsilon = 0.5\nwith_total = true"))
    Path("d.csv").rename("like.csv")
    out = run("release", "p.toml", "--check", "--like", "like.csv").out
    rows = [line.split() for line in out.splitlines()[-9:]]
    assert [row[1] for row in rows] == ["median_0.5", "median_total", "heating"] * 3
    assert rows[1][:5] == ["Rome", "median_total", "error", "100", "100"]
    for row in rows[6], rows[8]:
        assert row[0] == "Bon"
        assert row[3:] == ["0", *["-"] * 5]
    assert rows[7][3:5] == ["0", "0"]
    assert float(rows[7][6]) > 0


@pytest.mark.parametrize("like", ["d.csv", "./d.csv", "*.csv", ".", "link.csv"])
def test_the_source_is_no_stand_in(place: Path, run: Run, like: str) -> None:
    Path("link.csv").symlink_to("d.csv")
    ended = run("release", "p.toml", "--check", "--like", like)
    assert ended.code == 2
    assert "must not be source" in ended.err


@pytest.mark.parametrize("source", [".", "*.csv", "../*/d.csv"])
def test_what_is_in_the_source_is_no_stand_in(place: Path, run: Run, source: str) -> None:
    edited(TEXT, ("d.csv", source))
    ended = run("release", "p.toml", "--check", "--like", "d.csv")
    assert ended.code == 2
    assert "must not be source" in ended.err


WRONG = {  # what is written instead, and what is said: the words of a publication
    'column = "rent"': ('column = "rant"', "the file has no column 'rant': it has"),
    '"out.csv"': ('"out.txt"', "error: output must end in"),
    '"d.csv"': ('"e.csv"', "the file must be a path that can be read, got 'e.csv'"),
    "epsilon = 0.5": ("epsilon = 1e9", "add any_epsilon = true"),
}


@pytest.mark.fast
@pytest.mark.parametrize("line", WRONG)
def test_mistakes_are_told_in_keys(place: Path, run: Run, line: str) -> None:
    Path("p.toml").write_text(TEXT.replace(line, WRONG[line][0]))
    ended = run("release", "p.toml", "--force")
    assert ended.code == 2
    assert WRONG[line][1] in ended.err
    assert "FILE" not in ended.err
    assert budget().spent == 0


@pytest.mark.fast
def test_like_belongs_to_check(place: Path, run: Run) -> None:
    ended = run("release", "p.toml", "--like", "d.csv")
    assert ended.code == 2
    assert budget().charges == 0
