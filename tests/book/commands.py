"""The command line: exit codes, what deterministic calls print, and keys of other JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import fastexp as fx
from fastexp.cli import main
from tests.book.entries import KEY, Entry, digest, numbers

LONG = 10_000  # characters of an output
COMMANDS = (
    *("median", "quantile", "quantiles", "maximum", "mode", "price", "select", "compare"),
    *("epsilon", "release", "budget", "key", "study", "study list", "study run", "study resume"),
    *("study report", "demo", "warmup", "info"),
)
BASIC = "--column rent --epsilon 1 --bounds 0 900 --step 1"
TOWNS = "--by town --groups Oslo,Nowhere,Rome"
KEYED = "--key a.key --label q"
STEPS = "--bounds 0 900 --step 20"
GRID = f"--epsilon 0.5 {STEPS}"
SCORES = "scores.csv --utilities --sensitivity 1 --epsilon 1"
LAW = f"--law {GRID}"
DRINKS = "--column drink --candidates tea,coffee,milk --epsilon 0.1"
PUBLICATION = """
source = "rents.csv"
budget = "rents.budget"
key = "a.key"
label = "rents"
[query]
by = ["town", "year"]
groups = {town = ["Oslo", "Rome"], year = [2023, 2024]}
person = "person"
max_groups = 2
[answers.median]
mechanism = "median"
column = "rent"
epsilon = 0.5
bounds = [0, 900]
step = 1
[answers.drink]
mechanism = "most-common"
column = "drink"
epsilon = 0.2
candidates = ["tea", "coffee"]
"""
# Whose output is decided by the arguments and the files.
DECIDED = (
    *(f"{command} --help-all" for command in COMMANDS),
    *("", "study", "--help", "--version", "study list", "study list --json"),
    f"median rents.csv {BASIC} {KEYED}",
    f"median rents.csv {BASIC} {KEYED} --json",
    f"median rents.csv {BASIC} {KEYED} {TOWNS} --json",
    f"median rents.csv {BASIC} {KEYED} {TOWNS} --person person --max-groups 2 --max-rows 3 --json",
    f"median rents.csv {BASIC} {KEYED} --by town,year --groups town=Oslo,Rome;year=2023 --json",
    f"median rents.csv --column rent --total-epsilon 2 {STEPS} --max-rows 2 --key a.key --json",
    f"median rents.csv {BASIC} {KEYED} --widen 2 --neighbors replace --convention lower --json",
    "median ages.npy --epsilon 0.3 --grid 0,20,40,80 --key a.key --label q --json",
    f"quantile rents.csv {BASIC} {KEYED} --q 0.9 --json",
    f"quantiles rents.csv {BASIC} {KEYED} --count 3 {TOWNS} --json",
    f"quantiles rents.csv {BASIC} {KEYED} --q 1/3,2/3",
    f"maximum rents.csv {BASIC} {KEYED} --json",
    f"mode rents.csv {BASIC} {KEYED} {TOWNS}",
    f"price rents.csv {BASIC} {KEYED} --json",
    f"select rents.csv {DRINKS} {KEYED} --json",
    f"select rents.csv {DRINKS} {KEYED} {TOWNS}",
    f"select rents.csv {DRINKS} {KEYED} --mechanism permute-and-flip --json",
    f"select rents.csv {DRINKS} {KEYED} --mechanism joint-top-k --k 2 --json",
    "release rents.toml --check --json --quiet",
    "budget rents.budget --epsilon 9",
    "release rents.toml --check",
    "release rents.toml --check --json",
    "release rents.toml --check --like public.csv --json",
    "release rents.toml --json",
    "release rents.toml",
    "release rents.toml --check --json --threads 2",
    *(f"{name} ages.npy {LAW}{more}" for name, more in (
        ("median", ""), ("median", " --json"), ("mode", " --json"), ("maximum", " --json"),
        ("quantile", " --q 0.9 --json"), ("price", " --json"), ("quantiles", " --count 3 --json"),
    )),
    f"median ages.npy {GRID} --draws 200 --seed 3 --json",
    f"median ages.npy {GRID} --draws 200 --seed 3",
    f"select rents.csv {DRINKS} --law",
    f"select rents.csv {DRINKS} --law --json",
    f"select rents.csv {DRINKS} --draws 100 --seed 3 --json",
    f"select {SCORES} --law --json",
    f"median rents.csv {BASIC} {TOWNS} --accuracy",
    f"median rents.csv {BASIC} {TOWNS} --accuracy --json",
    f"compare ages.npy {GRID} --mechanisms median,maximum,mode --json",
    f"compare ages.npy {GRID} --mechanisms median,median:widen=2",
    f"compare {SCORES} --mechanisms exponential,permute-and-flip,joint-top-k:k=2 --json --convert",
    f"epsilon median --expected-error 20 --like ages.npy --n 9 {STEPS} --datasets 9 --json",
    "epsilon exponential --expected-loss 5 --like votes --n 8 --sensitivity 1 --datasets 9",
    *(f"study run {name} --datasets 2 --draws 5" for name in ("table1", "laplace", "groups")),
    "budget some.budget --epsilon 5",
    "budget some.budget --json",
    "budget rho.budget --rho 0.5 --neighbors replace --json",
    *(f"demo --records {name}" for name in ("age", "marital-status", "bid")),
)  # fmt: skip
# Whose output is private, or about this machine: of their JSON only the keys.
KEYS_ONLY = (
    f"median rents.csv {BASIC} --json",
    f"quantiles rents.csv {BASIC} --count 2 {TOWNS} --budget some.budget --label a --json",
    f"median rents.csv {BASIC} --budget some.budget --label b --json --epsilon 0.1",
    f"select {SCORES} --json",
    f"select rents.csv {DRINKS} --mechanism top-k --k 2 --json",
    "budget some.budget --log --json",
    "demo --json",
    "study run randomized-response --draws 5 --json",
    "key b.key --json",
)
REFUSED = (
    *("nonsense", "median", "--nonsense", "study run", "study nonsense"),
    f"median no-such-file.csv {BASIC}",
    f"median rents.csv {BASIC} --epsilon nan",
    f"median rents.csv {BASIC} --epsilon -1",
    f"median rents.csv {BASIC} --epsilon 1e-12",
    f"median rents.csv {BASIC} --step 7",
    f"median rents.csv {BASIC} --bounds 9 1",
    f"median rents.csv {BASIC} --column nonsense",
    f"median rents.csv {BASIC} --column town",
    f"median rents.csv {BASIC} --column holes",
    f"median rents.csv {BASIC} --nan nonsense",
    f"median rents.csv {BASIC} --by town",
    f"median rents.csv {BASIC} --by town --groups Oslo,Oslo",
    f"median rents.csv {BASIC} --key rents.csv --label q",
    f"median rents.csv {BASIC} --seed 3",
    f"median rents.csv {BASIC} --budget none.budget",
    f"median rents.csv {BASIC} --epsilon 9 --budget some.budget",
    f"median rents.csv {BASIC} --output answers.nonsense",
    f"median rents.csv {BASIC} --threads -1",
    f"median rents.csv {BASIC} --memory 1KB",
    f"quantile rents.csv {BASIC}",
    f"quantile rents.csv {BASIC} --q 1.5",
    f"quantiles rents.csv {BASIC} --q 0.5,0.1",
    f"select rents.csv {DRINKS} --mechanism nonsense",
    f"select rents.csv {DRINKS} --k 2",
    f"select rents.csv {DRINKS} --candidates tea,tea",
    "select scores.csv --utilities --epsilon 1",
    "release rents.csv",
    "release none.toml",
    "compare ages.npy --epsilon 1 --bounds 0 9 --mechanisms nonsense",
    "epsilon median --error 2 --like ages.npy --n 9 --bounds 0 9",
    "study run nonsense",
    "study resume nonsense",
    "study report nonsense",
    "study run table1 --draws -1",
    "budget none.budget",
    "budget some.budget --epsilon 3",
    "key a.key",
    "--print-completion nonsense",
)


class Ended(NamedTuple):
    """How a call ended."""

    code: int
    out: str


def entries() -> Iterator[Entry]:
    """All of them; calls are made one after another in one folder."""
    with tempfile.TemporaryDirectory() as folder, _inside(Path(folder)):
        for call in DECIDED:
            code, out = called(*call.split())
            yield Entry(call, {"code": code, "out": _parsed(out)})
        for call in KEYS_ONLY:
            code, out = called(*call.split())
            yield Entry(f"keys of: {call}", {"code": code, "keys": _keys(_parsed(out))})
        info = json.loads(called("info", "--json").out)  # what is below these is the machine's
        yield Entry("keys of: info --json", sorted(info))
        for call in REFUSED:
            code, out = called(*call.split())
            yield Entry(f"refused: {call}", {"code": code, "out": out})
        for shell in ("bash", "zsh"):
            code, out = called("--print-completion", shell)
            words = sorted(set(re.findall(r"--[a-z][a-z-]+", out)))
            yield Entry(f"completion of {shell}", {"code": code, "options": " ".join(words)})


def called(*arguments: str) -> Ended:
    """Call the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    return Ended(code, out.getvalue())


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Work in a folder with the files that calls name."""
    _write(folder)
    with contextlib.chdir(folder), mock.patch.dict(os.environ, {"COLUMNS": "80"}):
        yield


def _write(folder: Path) -> None:
    columns = {
        "town": [("Oslo", "Bern", "Rome")[i] for i in numbers(300, 3, 1)],
        "year": (2022 + numbers(300, 3, 2)).tolist(),
        "rent": (numbers(300, 9_000, 3) / 10).tolist(),
        "holes": ["" if i % 9 == 0 else i for i in numbers(300, 900, 4).tolist()],
        "drink": [("tea", "coffee", "milk", "cola")[i] for i in numbers(300, 4, 5)],
        "person": [f"p{i}" for i in numbers(300, 80, 6)],
    }
    lines = [",".join(map(str, row)) for row in [[*columns], *zip(*columns.values(), strict=True)]]
    for name in ("rents.csv", "public.csv"):
        (folder / name).write_text("\n".join(lines) + "\n")
    (folder / "scores.csv").write_text("candidate,utility\na,3\nb,5\nc,4\nd,1\n")
    np.save(folder / "ages.npy", numbers(200, 100, 7))
    (folder / "rents.toml").write_text(PUBLICATION)
    key = folder / "a.key"
    key.write_text(KEY.export())
    key.chmod(0o600)


def _parsed(out: str) -> Any:
    """An output as JSON, if it is; the program's name is ``fastexp``; a long text in short."""
    try:
        return _figures(json.loads(out))
    except ValueError:
        text = out.replace("python -m fastexp", "fastexp").replace(fx.__version__, "VERSION")
    return text if len(text) < LONG else f"{text[:60]} ... {digest(text.encode())}"


def _figures(value: Any) -> Any:
    """JSON without figures that are differences, whose last bits a CPU may change."""
    if isinstance(value, dict):
        return {key: _figures(part) for key, part in value.items() if key != "bias"}
    return [_figures(part) for part in value] if isinstance(value, list) else value


def _keys(value: Any) -> Any:
    """The keys of JSON and the types of its values; of a list, those of its first one."""
    if isinstance(value, dict):
        return {key: _keys(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_keys(part) for part in value[:1]]
    return type(value).__name__
