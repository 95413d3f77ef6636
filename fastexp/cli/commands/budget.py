"""``fastexp budget``: make a file that releases charge, and show its content."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from ..request.payment import budget_of
from ..terminal import printing, tables

if TYPE_CHECKING:
    from ...budget.budget import Budget

OPEN = """\
open: charged, but without answers yet. Its process draws, or died: the same
call with this label gives the answers, and is not charged again.
Where groups are private, the label of a process that died is used up."""
FAILED = """\
failed: charged, and the release failed, which was its answer. The label is
used up: take another one, which is charged anew."""


def budget(options: Namespace) -> None:
    """Create a budget file or show one."""
    from ... import Budget

    if options.epsilon is None and options.rho is None:
        budget_of(options.file)
    budget = Budget.file(
        options.file,
        epsilon=options.epsilon,
        delta=options.delta,
        rho=options.rho,
        neighbors=options.neighbors,
    )
    facts, log = _facts(budget), budget.log()
    if options.json:
        printing.as_json({**facts, "log": log})
        return
    if options.log:
        _show_log(log, budget.unit)
        print()
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {value}")
    waiting = [entry for entry in log if entry["state"] == "open" and not options.log]
    for entry in waiting:
        printing.line(f"{'open':<{width}}  {entry['label']!r}, charged {entry['time']}")
    if waiting:
        print(f"\n{OPEN}")


def _facts(budget: Budget) -> dict[str, Any]:
    names = ["unit", "neighbors", "total", "spent", "remaining", "charges"]
    if budget.total_delta > 0.0:
        names += ["total_delta", "spent_delta", "remaining_delta"]
    return {name: getattr(budget, name) for name in names}


def _show_log(log: list[dict[str, Any]], unit: str) -> None:
    if not log:
        print("nothing is charged")
        return
    cells = [
        {
            "time": entry["time"].replace("T", " "),  # a place to break a narrow cell
            "what": entry["about"] or entry["name"] or "",
            "label": entry["label"] or "",
            "note": entry["note"] or "",
            unit: repr(entry[unit]),
            "delta": repr(entry["delta"]) if entry.get("delta") else "",
            "state": entry["state"],
        }
        for entry in log
    ]
    headers = [
        name
        for name in ("time", "what", "label", "note", unit, "delta", "state")
        if name in ("time", unit, "state") or any(row[name] for row in cells)
    ]
    tables.table(
        headers,
        [[row[name] for name in headers] for row in cells],
        words=("what", "label", "note", "state"),
    )
    states = {entry["state"] for entry in log}
    for state, meaning in (("open", OPEN), ("failed", FAILED)):
        if state in states:
            print(f"\n{meaning}")
