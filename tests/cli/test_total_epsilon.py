"""Is a call told and charged what `Query.total` says, and never more than `--total-epsilon`?"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

import fastexp as fx
from tests.messages import heard
from tests.support.command_line import Run
from tests.support.each import each

pytestmark = pytest.mark.engines
BY = ["--by", "g", "--groups", "a,b"]
NUMBERS = ["d.csv", "--column", "x", "--bounds", "0", "9", "--step", "1"]
MEDIAN = ["median", *NUMBERS]
SELECT = ["select", "d.csv", "--column", "g", "--candidates", "a,b"]
TOP = [*SELECT, "--mechanism", "top-k", "--k", "2"]
FLIP = [*SELECT, "--mechanism", "permute-and-flip"]
SCORES = ["select", "s.csv", "--utilities", "--sensitivity", "1"]
REPLACE = ["--neighbors", "replace"]
SEVERAL = ["--max-groups", "2", "--max-rows", "3"]
CALLS = [  # options, times epsilon under add-remove and under replace (None: no such promise)
    (MEDIAN, 1, 2),
    ([*MEDIAN, "--max-rows", "3"], 3, 6),
    ([*MEDIAN, "--max-rows", "3", "--person", "p"], 3, 6),
    ([*MEDIAN, *REPLACE], None, 1),
    ([*MEDIAN, *REPLACE, "--max-rows", "3"], None, 6),
    ([*MEDIAN, *BY], 1, 2),
    ([*MEDIAN, *BY, *SEVERAL], 6, 12),
    ([*MEDIAN, *BY, *SEVERAL, "--person", "p"], 6, 12),
    ([*MEDIAN, *BY, *REPLACE], None, 2),
    ([*MEDIAN, *BY, *REPLACE, "--membership", "public"], None, 1),
    ([*MEDIAN, *BY, *REPLACE, *SEVERAL], None, 12),
    (["quantile", *NUMBERS, "--q", "0.9", *BY], 1, 2),
    (["maximum", *NUMBERS], 1, 2),
    (["mode", *NUMBERS, "--widen", "1", *BY], 1, 2),
    (["price", *NUMBERS], 1, 1),
    (["price", *NUMBERS, "--scaling", "textbook"], 0.5, 0.5),
    (["price", *NUMBERS, *BY, "--max-groups", "2"], 2, 4),
    (["price", *NUMBERS, *BY, "--membership", "public"], 1, 1),
    (SELECT, 1, 2),
    ([*SELECT, *REPLACE], None, 1),
    ([*SELECT[:3], "x", "--candidates", "1,2", *BY, *SEVERAL], 6, 12),
    (FLIP, 1, 2),
    ([*FLIP, *REPLACE], None, 1),
    (TOP, 1, 2),
    ([*TOP, *REPLACE], None, 1),
    (SCORES, 1, 1),
    ([*SCORES, "--monotonic", "--mechanism", "permute-and-flip"], 1, 1),
    ([*SCORES, "--mechanism", "top-k", "--k", "1"], 1, 1),
]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("g,x,p\n" + "a,1,i\nb,2,k\n" * 9)
    Path("s.csv").write_text("c,u\na,1\nb,2\n")


def total_of(answer: dict, relation: str) -> float | None:
    """What Python's `Query` promises for what --json says of a call."""
    ((name, parameters),) = answer["answers"].items()
    kind = "".join(map(str.title, parameters["mechanism"].split("-")))
    known = {"epsilon", "bounds", "step", "neighbors", "scaling", "candidates", "widen", "q"}
    given = {name: value for name, value in parameters.items() if name in known}
    if kind in ("Maximum", "Mode", "Price"):  # theirs is settled
        del given["neighbors"]
    limits = {name: answer[name] for name in ("person", "max_groups", "max_rows", "membership")}
    query = fx.Query(answer["by"] or None, ["a", "b"] if answer["by"] else None, **limits)
    mechanism = getattr(fx, kind)(**given)
    return query.total({name: (mechanism, parameters["column"])}, neighbors=relation).epsilon


@each(("relation", "which"), [("add-remove", 1), ("replace", 2)])
@each("call", CALLS, ids=lambda call: " ".join(call[0]))
def test_what_is_charged(run: Run, call, relation: str, which: int) -> None:
    Path("b").unlink(missing_ok=True)
    budget = fx.Budget.file("b", epsilon=90.0, neighbors=relation)
    code, out, err = run(*call[0], "--epsilon", "0.1", "--budget", "b", "--json")
    if call[which] is None:
        assert (code, out, budget.spent) == (2, "", 0)
        assert heard(err, "relation that is not promised")
        return
    assert code == 0, err
    wanted = float(Fraction("0.1") * Fraction(call[which]))
    answer = json.loads(out)
    promised, charged = answer["promised"], answer["budget"]
    assert budget.spent == promised["epsilon"] == charged["charged"] == wanted
    assert (promised["neighbors"], charged["neighbors"]) == (relation, relation)
    assert charged["remaining"] == budget.remaining
    assert err.startswith(f"promises {wanted:g}-differential privacy")
    if "selected" not in answer["answers"]:
        assert total_of(answer, relation) == wanted


@each(("relation", "which"), [("add-remove", 1), ("replace", 2)])
@each("limit", ["0.1", "2.3"])
@each("call", CALLS, ids=lambda call: " ".join(call[0]))
def test_the_total_is_kept_and_used_up(run: Run, call, limit: str, relation, which) -> None:
    if call[which] is None:
        return
    Path("b").unlink(missing_ok=True)
    budget = fx.Budget.file("b", epsilon=float(limit), neighbors=relation)
    code, _, err = run(*call[0], "--total-epsilon", limit, "--budget", "b")
    assert code == 0, err
    spent = Fraction(str(budget.spent))
    assert Fraction(limit) * (1 - Fraction(1, 10**14)) < spent <= Fraction(limit)
    assert err.startswith(f"promises {limit}-differential privacy")


def test_the_share_is_what_the_answers_have(run: Run) -> None:
    call = [*MEDIAN, *BY, "--max-groups", "3", "--max-rows", "7", "--total-epsilon", "2.1"]
    answer = json.loads(run(*call, "--json").out)
    assert (answer["answers"]["x"]["epsilon"], answer["promised"]["epsilon"]) == (0.1, 2.1)


def test_rho_is_charged_as_the_whole_call_promises_it(run: Run) -> None:
    budget = fx.Budget.file("b", rho=9.0)
    assert run(*MEDIAN, *BY, *SEVERAL, "--epsilon", "1", "--budget", "b").code == 0
    assert budget.spent == 2 * 3**2 / 8


def test_what_is_said_is_never_less(run: Run) -> None:
    for epsilon, said in (("0.12345649", "0.123457"), ("0.5", "0.5"), ("1e-7", "1e-7")):
        assert run(*MEDIAN, "--epsilon", epsilon).err.startswith(f"promises {said}-differential")
    several = [*MEDIAN, *BY, *SEVERAL, "--epsilon"]
    for epsilon, said in (
        ("0.1", "0.6-differential privacy (6 x 0.1)"),
        ("0.12345649", "0.740739-differential privacy (6 x 0.123457)"),
    ):
        promised = f"promises {said}: one person joins or leaves"
        assert run(*several, epsilon).err.startswith(promised)


@each(
    ("options", "message"),
    [
        (["--total-epsilon", "1", "--epsilon", "1"], "does not go with"),
        ([], "--epsilon or --total-epsilon is needed"),
        (["--total-epsilon", "0"], "--total-epsilon must be finite and > 0"),
        (["--total-epsilon", "nan"], "--total-epsilon must be a number"),
        (["--total-epsilon", "1e-9", "--max-rows", "9"], "epsilon must be in [1e-09, 1e+06]"),
    ],
)
def test_what_is_no_total(run: Run, options: list[str], message: str) -> None:
    code, out, err = run(*MEDIAN, *BY, *options)
    assert (code, out) == (2, "")
    assert message in err
