"""Exact laws, draws beside them, and accuracy: as tables or JSON, and never private."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..._parameters.descriptions import grid_text, name_of, parameters, title
from ..._parameters.text import error_text, readable
from ...laws.accuracy import MEANINGS
from ...pictures.canvas import save
from ...pictures.error_pictures import comparison_bars
from ...pictures.law_panels import draw
from ...query.calls.laws import APPEARS, COLUMNS
from ..request.paid_release import rows_of
from ..terminal import printing, tables
from . import sentences
from .law_facts import TAIL, LawFacts

if TYPE_CHECKING:
    from ...query.engines.frame import Column
    from ..request.input_file import PublicCall

MOST_ABSENT = 5
MOST_BARS = 200  # in a picture
SHORT = ("0.05", "0.5", "0.95")  # the levels of quantiles that a table of groups has
FACTS = {
    "mean": "mean",
    "sd": "standard deviation",
    "quantiles": "{} quantile",
    "expected_error": "expected error",
    "error_95": f"error in {TAIL:.0%} of draws at most",
    "expected_loss": "expected loss against the best point ({})",
    "loss_95": f"loss in {TAIL:.0%} of draws at most",
}
CELLS: dict[str, Callable[[Any], str]] = {
    "candidate": str,
    "records": "{:,}".format,
    "observed": "{:,}".format,
    "frequency": "{:.6f}".format,
    "probability": tables.probability,
    "log_probability": tables.logarithm,
}


def show(
    subject: LawFacts, *, as_json: bool, seed: int | None = None, plot: str | None = None
) -> None:
    """Print laws, with draws beside them if there are any; draw a picture.

    `seed` is that of the draws, and `plot` a file for the picture that `canvas.check` accepted.
    """
    if plot is not None:
        (first, *_) = draw(subject)
        save(first.figure, plot)
    groups = [subject.facts(group) for group in range(len(subject.laws))]
    if as_json:
        _print_json(subject, groups, seed, plot)
        return
    _print_head(subject, seed)
    if subject.by:
        _print_groups(subject, groups)
    elif subject.candidates is None:
        _print_number(subject, groups[0])
    else:
        _print_candidates(subject, groups[0])
    if plot is not None:
        printing.note(f"picture: {plot}")


def _print_json(
    subject: LawFacts, groups: list[dict[str, Any]], seed: int | None, plot: str | None
) -> None:
    facts: dict[str, Any] = {"kind": "law" if subject.draws is None else "draws", "private": False}
    facts |= parameters(subject.mechanism)
    facts |= {} if subject.nan is None else {"nan": subject.nan}
    facts |= {"by": list(subject.by), "plot": plot}
    if subject.draws is not None:
        facts |= {"draws": subject.draws.shape[1], "seed": seed}
    if subject.by:
        named = zip(subject.labels, groups, strict=True)
        facts["groups"] = [{"group": dict(label), **group} for label, group in named]
    else:
        facts |= groups[0]
    printing.as_json(facts)


def _print_head(subject: LawFacts, seed: int | None) -> None:
    mechanism, candidates = subject.mechanism, subject.candidates
    print(sentences.NOT_PRIVATE)
    heading = title(name_of(mechanism), mechanism)
    if candidates is None:
        print(f"{heading}, on the grid {grid_text(mechanism)}")
    else:
        print(f"{heading}, {len(candidates)} candidate{'s' * (len(candidates) != 1)}")
    if subject.draws is not None:
        seeded = "no seed" if seed is None else f"seed {seed}"
        print(f"{subject.draws.shape[1]:,} simulated draws, {seeded}, beside the exact law")
    if absent := subject.absent:
        more = ", ..." * (len(absent) > MOST_ABSENT)
        printing.note(f"no record has: {', '.join(absent[:MOST_ABSENT])}{more} (spelling?)")


def _print_number(subject: LawFacts, facts: dict[str, Any]) -> None:
    columns = [facts] if subject.draws is None else [facts["observed"], facts["exact"]]
    lines = [] if subject.draws is not None else [[subject.truth_name, readable(facts["truth"])]]
    for key, text in FACTS.items():
        if key == "quantiles":
            for p in columns[0][key]:
                cells = (readable(column[key][p]) for column in columns)
                lines.append([text.format(f"{float(p):.0%}"), *cells])
        elif key in columns[0]:
            write = readable if key == "mean" else error_text
            lines.append([text.format(subject.unit), *(write(c[key]) for c in columns)])
    print()
    tables.table(("output", *["observed"][: len(columns) - 1], "exact law"), lines)


def _print_candidates(subject: LawFacts, facts: dict[str, Any]) -> None:
    if subject.draws is None:
        print(
            f"expected loss {error_text(facts['expected_loss'])}, at most "
            f"{error_text(facts['loss_95'])} in {TAIL:.0%} of draws (loss: {subject.loss}, in "
            f"{subject.unit})"
        )
    print()
    rows = subject.rows(0)
    headers = [name.replace("_", "-") for name in rows[0]]
    tables.table(headers, [[CELLS[name](x) for name, x in row.items()] for row in rows])


def _print_groups(subject: LawFacts, groups: list[dict[str, Any]]) -> None:
    """Print a row for each group; with draws of numbers, one for them and one for the law."""
    by, has_draws = subject.by, subject.draws is not None
    sizes = zip(subject.labels, subject.records, strict=True)
    names = [[*map(str, label.values()), f"{n:,}"] for label, n in sizes]
    if subject.candidates is not None:
        fields = ["candidate", *(["frequency"] if has_draws else []), "probability"]
        headers = [*by, "n", "likeliest", *fields[1:], "loss"]
        cells = []
        for g, facts in enumerate(groups):
            best = subject.rows(g)[0]
            texts = [CELLS[field](best[field]) for field in fields]
            cells.append([*names[g], *texts, error_text(facts["expected_loss"], 4)])
        print(f"\nloss: the expected {MEANINGS['loss']}, in {subject.unit}")
    else:
        last = "loss" if subject.unit == "revenue" and not has_draws else "error"
        levels = [f"{float(p):.0%}" for p in SHORT]
        headers = [*by, "n", "of" if has_draws else "truth", "mean", "sd", *levels, last]
        cells = []
        for name, facts in zip(names, groups, strict=True):
            if not has_draws:
                cells.append([*name, readable(facts["truth"], 4), *_cells(facts, last)])
                continue
            cells.append([*name, "draws", *_cells(facts["observed"], last)])
            cells.append([*([""] * len(name)), "law", *_cells(facts["exact"], last)])
        print(f"\n{last}: the expected {MEANINGS[last]}")
    tables.table(headers, cells, [*by, "likeliest", "of"])


def _cells(facts: dict[str, Any], last: str) -> list[str]:
    quantiles = [facts["quantiles"][p] for p in SHORT]
    mean, *points = (readable(x, 4) for x in (facts["mean"], *quantiles))
    sd, error = (error_text(facts[name], 4) for name in ("sd", f"expected_{last}"))
    return [mean, sd, *points, error]


def accuracy(
    call: PublicCall, columns: Sequence[Column], *, as_json: bool, plot: str | None = None
) -> None:
    """Print the figures of `Query.accuracy`: `columns`; draw a picture of them."""
    rows = accuracy_rows(columns)
    if plot is not None and rows:
        _accuracy_picture(rows, plot)
    if as_json:
        answers = {
            name: {"column": column, **parameters(mechanism)}
            for name, (mechanism, column) in call.answers.items()
        }
        facts = {"kind": "accuracy", "private": False, "by": list(call.query.by)}
        printing.as_json({**facts, "answers": answers, "rows": rows})
        return
    print(sentences.NOT_PRIVATE)
    for mechanism, _ in call.answers.values():
        print(title(name_of(mechanism), mechanism))
    accuracy_table(rows)
    if plot is not None and rows:
        printing.note(f"picture: {plot}")


def _accuracy_picture(rows: Sequence[dict[str, Any]], plot: str) -> None:
    """Draw a bar for each group and answer, at most `MOST_BARS`."""
    several = len({row["answer"] for row in rows}) > 1
    names = [
        " ".join(map(str, [*row["group"].values(), *([row["answer"]] if several else [])]))
        or "all rows"
        for row in rows[:MOST_BARS]
    ]
    bars = [(row["expected"], row["quantile"]) for row in rows[:MOST_BARS]]
    axes = comparison_bars(names, bars, rows[0]["measure"], TAIL, None)
    save(axes.figure, plot)
    if len(rows) > MOST_BARS:
        printing.note(f"the picture shows the first {MOST_BARS} of {len(rows):,} rows")


def accuracy_rows(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return the figures as dicts, with the names of a group in a dict of their own."""
    by = [column.name for column in columns if column.name not in COLUMNS]
    return [
        {
            "group": {name: row[name] for name in by},
            **{name: row[name] for name in COLUMNS if name in row},
        }
        for row in rows_of(columns)
    ]


def accuracy_table(rows: Sequence[dict[str, Any]]) -> None:
    """Print `accuracy_rows`, one for each group and answer, without what is the same in all."""
    by = list(rows[0]["group"]) if rows else []
    varied = [name for name in ("answer", "measure") if len({row[name] for row in rows}) > 1]
    measures = sorted({row["measure"] for row in rows})
    best = ["best"] if "loss" in measures else []
    lines = [f"{measure}: the expected {MEANINGS[measure]}" for measure in measures]
    ending = f"; {TAIL:.0%}: in {TAIL:.0%} of draws at most" if rows else ""
    ending += ";\nbest: the probability that the loss is 0" if best else ""
    ending += ";\nappears: how likely the group appears" if rows and APPEARS in rows[0] else ""
    print("\n" + ";\n".join(lines) + ending)
    best += [name for name in (APPEARS,) if rows and name in rows[0]]
    figures = ["truth", "bias"] if "error" in measures else []
    expected = measures[0] if len(measures) == 1 else "expected"
    cells = [
        [
            *map(str, row["group"].values()),
            *(row[name] for name in varied),
            f"{row['n']:,}",
            *(readable(row[name], 4) for name in figures),
            *(error_text(row[name], 4) for name in ("expected", "quantile")),
            *(readable(row[name], 4) for name in best),
        ]
        for row in rows
    ]
    headers = [*by, *varied, "n", *figures, expected, f"{TAIL:.0%}", *best]
    tables.table(headers, cells, [*by, *varied])
