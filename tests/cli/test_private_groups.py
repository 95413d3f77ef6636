"""Does the command line say what groups that nobody listed cost, in its own words?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import fastexp as fx
from tests.doors.query import execute
from tests.support.command_line import Run

pytest.importorskip("duckdb")
pytestmark = pytest.mark.engines
RELEASE = ["median", "rents.csv", "--column", "rent", "--by", "town", "--bounds", "0", "9"]
RELEASE += ["--step", "1", "--epsilon", "1", "--groups", "private", "--delta", "1e-8"]
COINS = [*RELEASE, "--groups-epsilon", "0.5"]
TEXT = """\
source = "rents.csv"
budget = "b"
label = "rents"
[query]
by = "town"
groups = "private"
delta = 1e-8
groups_epsilon = 0.5
[answers.rent]
mechanism = "median"
column = "rent"
epsilon = 1
bounds = [0, 9]
step = 1
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rents.csv").write_text("town,rent\n" + "".join(f"a,{i % 9}\n" for i in range(200)))
    Path("p.toml").write_text(TEXT)
    fx.Budget.file("b", epsilon=50.0, delta=1e-6)


def test_a_promise_with_coins_of_groups_has_no_common_factor(run: Run) -> None:
    one, several = (run(*COINS, "--max-groups", str(m)).err for m in (1, 4))
    assert "promises (1.5, 1e-8)-differential privacy: one person" in one
    assert "promises (6, 4e-8)-differential privacy: one person" in several
    by_total = run(*RELEASE, "--with-total", "--max-groups", "2").err
    assert "promises (2, 2e-8)-differential privacy (2 x 1): one person" in by_total


def test_what_is_charged_and_left_of_delta(run: Run) -> None:
    paid = run(*COINS, "--budget", "b").err.splitlines()[-1]
    left = "48.5 of 50.0 epsilon and 9.9e-07 of 1e-06 delta remains"
    assert paid == f"charged 1.5 and 1e-08 of delta; {left}"
    facts = json.loads(run(*COINS, "--budget", "b", "--json").out)["budget"]
    assert (facts["charged_delta"], facts["remaining_delta"]) == (1e-8, 9.8e-7)
    assert facts["total_delta"] == 1e-6


def test_a_run_that_died_has_used_up_its_label(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(execute, "answered", killed)
        assert run("release", "p.toml").code == 130
    used_up = "Where groups are private, the label of a process that died is used up."
    assert used_up in re.sub(r"\s+", " ", run("budget", "b", "--log").out)
    check = run("release", "p.toml", "--check").out
    assert "label 'rents' is charged: a run uses it up" in check
    assert "is used up" in run("release", "p.toml").err
    assert fx.Budget.file("b").log()[0]["state"] == "failed"


def test_a_check_says_what_of_delta_a_run_costs_and_leaves(run: Run) -> None:
    said = run("release", "p.toml", "--check").out.splitlines()[-1]
    costs = "a run costs 1.5 and 1e-08 of delta, which leaves 48.5 and 9.9e-07 of delta"
    assert said == f"budget b: 50.0 of 50.0 epsilon and 1e-06 of 1e-06 delta remains; {costs}"
    facts = json.loads(run("release", "p.toml", "--check", "--json").out)["budget"]
    assert (facts["cost"], facts["cost_delta"], facts["left"]) == (1.5, 1e-8, 48.5)
    assert (facts["remaining_delta"], facts["left_delta"]) == (1e-6, 9.9e-7)
    run("release", "p.toml")
    answered = run("release", "p.toml", "--check")
    assert "48.5 of 50.0 epsilon and 9.9e-07 of 1e-06 delta remains; label" in answered.out
    facts = json.loads(run("release", "p.toml", "--check", "--json").out)["budget"]
    assert (facts["cost_delta"], facts["left_delta"]) == (0.0, 9.9e-7)


COMMANDS = [["release", "p.toml"], ["release", "p.toml", "--check"], [*COINS, "--budget", "b"]]
COMMANDS += [[*RELEASE, "--with-total", "--budget", "b"]]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("limit", [{"epsilon": 50.0}, {"rho": 50.0}])
def test_a_budget_without_delta_does_not_cover_private_groups(
    run: Run, command: list[str], limit: dict[str, float]
) -> None:
    Path("b").unlink()
    budget = fx.Budget.file("b", **limit)
    ended = run(*command)
    assert ended.code == 3
    assert "costs 1e-08 of delta, but the budget has none; nothing was drawn" in ended.err
    assert ended.err.endswith("is created with: fastexp budget FILE --epsilon E --delta D\n")
    assert "None" not in ended.out
    assert budget.charges == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_a_budget_to_be_created_has_a_delta(run: Run, command: list[str]) -> None:
    Path("b").unlink()
    ended = run(*command)
    assert ended.code == 2
    assert ended.err.endswith("create it with: fastexp budget b --epsilon E --delta D\n")


def test_without_a_total_a_publication_names_its_keys(run: Run) -> None:
    Path("p.toml").write_text(TEXT.replace("groups_epsilon = 0.5", ""))
    ended = run("release", "p.toml")
    assert ended.code == 2
    assert "an epsilon of their own (groups_epsilon)" in ended.err
    assert "with_total = true" in ended.err
    assert "an epsilon of their own (--groups-epsilon)" in run(*RELEASE).err


HEAD, MEDIAN = TEXT.split("[answers.rent]")
BY_TOTAL = (
    f"{HEAD.replace('groups_epsilon = 0.5', '')}[answers.rent]{MEDIAN}with_total = true\n"
    f"[answers.second]{MEDIAN.replace('epsilon = 1', 'epsilon = 0.25')}"
)


@pytest.mark.parametrize(
    ("text", "rule", "of_rule", "promised"),
    [
        (TEXT, "delta 1e-8, epsilon 0.5", "(1, 2e-8)", [2]),
        (
            BY_TOTAL,
            "delta 1e-8",
            "(0, 2e-8)",
            [2, 0.5],
        ),
    ],
)
def test_a_check_says_by_which_rule_groups_appear_and_each_answer_its_own_promise(
    run: Run, text: str, rule: str, of_rule: str, promised: list[float]
) -> None:
    """One without a total beside the one that decides has a promise as well; so has the rule."""
    Path("p.toml").write_text(text.replace("delta =", "max_groups = 2\ndelta ="))
    said = run("release", "p.toml", "--check").out
    assert f"\ngroups: private, of town ({rule}); promises {of_rule}\n" in said
    claim = 'in each of 2 groups (your claim, not checked; person = "COLUMN" would enforce it)\n'
    assert claim in said
    each = [f"{epsilon:g}" for epsilon in promised]
    assert re.findall("; promises (.*)", said) == [*each, of_rule]
    facts = json.loads(run("release", "p.toml", "--check", "--json").out)
    answers = [answer["promised"] for answer in facts["answers"].values()]
    assert [answer["epsilon"] for answer in answers] == promised
    for name in ("epsilon", "delta"):  # of all items the sum
        parts = [one[name] for one in (*answers, facts["groups_promised"])]
        assert facts["promised"][name] == pytest.approx(sum(parts))


def test_a_check_of_quantiles_with_a_total_beside_a_median(run: Run) -> None:
    """The total decides; it is a multiple of the step of totals."""
    table = HEAD.replace("groups_epsilon = 0.5", "")
    several = MEDIAN.replace('"median"', '"quantiles"').replace("epsilon = 1", "epsilon = 0.125")
    several += "q = [0.25, 0.75]\nwith_total = true\n"
    Path("p.toml").write_text(f"{table}[answers.rent]{several}[answers.other]{MEDIAN}")
    ended = run("release", "p.toml", "--check")
    assert ended.code == 0
    one_of = "    one of 0, 1, ..., 9 (10 points)"
    assert f"{one_of}, and a total, a multiple of 64; promises 0.125\n" in ended.out
    assert f"{one_of}; promises 1\n" in ended.out
