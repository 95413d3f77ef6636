"""Exact laws, draws beside them, and accuracy: as tables or JSON, and never private."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...query.accuracy import COLUMNS
from ...query.output import values_of
from .. import output as tables
from . import pictures, words
from .figures import (
    TAIL,
    Subject,
    candidate_rows,
    losses,
    number,
    number_facts,
    observed,
    point_rows,
    short,
)

if TYPE_CHECKING:
    from ...query.engines.frame import Column
    from ..ask.call import Call

MOST_ABSENT = 5
SHORT = ("0.05", "0.5", "0.95")  # quantiles of a group
MOMENTS = {"mean": "mean", "sd": "standard deviation"}


def show(
    subject: Subject, *, as_json: bool, seed: int | None = None, plot: str | None = None
) -> None:
    """Print laws, or draws beside them where there are some; draw a picture.

    Parameters
    ----------
    subject : Subject
    as_json : bool
        One object instead of tables. Its keys: kind ("law" or "draws"), private (false), the
        mechanism's parameters, by, plot; of draws their number and seed. Then those of the
        data set, or for each of ``groups``, whose ``group`` has its names: of numbers n, truth,
        mean, sd, quantiles, expected_error, error_95, expected_loss, loss_95 (of draws n,
        truth, observed, exact); of candidates n, expected_loss, loss_95. And ``rows``, an
        object a grid point or candidate, as long as there are at most 10,000; else of as many
        draws ``values``.
    seed : int, optional
        Of the draws.
    plot : str, optional
        A file for a picture, which `pictures.check` took.
    """
    if plot is not None:
        pictures.draw(plot, subject)
    if as_json:
        _print_json(subject, seed, plot)
        return
    _print_head(subject, seed)
    if subject.by:
        _print_groups(subject)
    elif subject.candidates is None:
        _print_number(subject)
    else:
        _print_candidates(subject)
    if plot is not None:
        tables.note(f"picture: {tables.printable(plot)}")


def _print_json(subject: Subject, seed: int | None, plot: str | None) -> None:
    facts: dict[str, Any] = {"kind": "law" if subject.draws is None else "draws", "private": False}
    facts |= words.parameters(subject.mechanism)
    facts |= {} if subject.nan is None else {"nan": subject.nan}
    facts |= {"by": subject.by, "plot": plot}
    if subject.draws is not None:
        facts |= {"draws": subject.draws.shape[1], "seed": seed}
    groups = [_facts(subject, group) for group in range(len(subject.laws))]
    if subject.by:
        facts["groups"] = [
            {"group": dict(label), **own} for label, own in zip(subject.labels, groups, strict=True)
        ]
    else:
        facts |= groups[0]
    tables.as_json(facts)


def _facts(subject: Subject, group: int) -> dict[str, Any]:
    """What there is to say of a group."""
    law, truth = subject.laws[group], subject.truths[group]
    drawn = None if subject.draws is None else subject.draws[group]
    facts: dict[str, Any] = {"n": subject.records[group]} if subject.records else {}
    candidates, size = subject.candidates, len(subject.laws)
    if candidates is not None:
        facts |= losses(law)
        fits = len(candidates) * size <= words.LISTED
        return {**facts, **({"rows": candidate_rows(subject, group)} if fits else {})}
    if drawn is None:
        facts |= number_facts(law, truth)
    else:
        exact = number_facts(law, truth)
        seen = observed(drawn, truth)
        facts |= {"truth": truth, "observed": seen, "exact": {name: exact[name] for name in seen}}
    if law.grid.size * size <= words.LISTED:
        facts["rows"] = point_rows(law, drawn)
    elif subject.draws is not None and drawn is not None and subject.draws.size <= words.LISTED:
        facts["values"] = drawn.tolist()
    return facts


def _print_head(subject: Subject, seed: int | None) -> None:
    """What was asked, and that none of it is private."""
    mechanism, candidates = subject.mechanism, subject.candidates
    print(words.NOT_PRIVATE)
    title = words.title(words.name_of(mechanism), mechanism)
    if candidates is None:
        print(f"{title}, on the grid {words.grid_text(mechanism)}")
    else:
        print(f"{title}, {len(candidates)} candidate{'s' * (len(candidates) != 1)}")
    if subject.draws is not None:
        seeded = "no seed" if seed is None else f"seed {seed}"
        print(f"{subject.draws.shape[1]:,} simulated draws, {seeded}, beside the exact law")
    absent = subject.absent
    if absent:
        more = ", ..." * (len(absent) > MOST_ABSENT)
        tables.note(f"no record has: {', '.join(absent[:MOST_ABSENT])}{more} (spelling?)")


def _print_number(subject: Subject) -> None:
    """The law of one data set, or draws beside it."""
    law, truth = subject.laws[0], subject.truths[0]
    exact = number_facts(law, truth)
    print()
    if subject.draws is not None:
        seen = observed(subject.draws[0], truth)
        lines = [(text, seen[key], exact[key]) for key, text in MOMENTS.items()]
        pairs = zip(seen["quantiles"].items(), exact["quantiles"].values(), strict=True)
        lines += [(f"{float(p):.0%} quantile", x, y) for (p, x), y in pairs]
        lines.append(("mean error", seen["expected_error"], exact["expected_error"]))
        cells = [(name, number(x), number(y)) for name, x, y in lines]
        tables.table(("output", "observed", "exact law"), cells)
        return
    unit = "revenue" if words.name_of(subject.mechanism) == "price" else "records"
    facts = [(subject.truth_name, truth)]
    facts += [(text, exact[key]) for key, text in MOMENTS.items()]
    facts += [(f"{float(p):.0%} quantile", x) for p, x in exact["quantiles"].items()]
    facts += [
        ("expected error", exact["expected_error"]),
        (f"error in {TAIL:.0%} of draws at most", exact["error_95"]),
        (f"expected loss against the best point ({unit})", exact["expected_loss"]),
        (f"loss in {TAIL:.0%} of draws at most", exact["loss_95"]),
    ]
    tables.table(("output", "exact law"), [(name, number(x)) for name, x in facts])


def _print_candidates(subject: Subject) -> None:
    """The candidates of one data set by their probability, and how often each was drawn."""
    if subject.draws is None:
        found, unit = losses(subject.laws[0]), "units of the utility"
        unit = "records" if subject.counts_records else unit
        print(
            f"expected loss {found['expected_loss']:.6g}, at most {found['loss_95']:.6g} in "
            f"{TAIL:.0%} of draws (loss: best minus obtained, in {unit})"
        )
    print()
    rows = candidate_rows(subject, 0)
    shown: dict[str, Callable[[Any], str]] = {
        "candidate": str,
        "records": "{:,}".format,
        "observed": "{:,}".format,
        "frequency": "{:.6f}".format,
        "probability": tables.probability,
        "log_probability": tables.logarithm,
    }
    headers = [name.replace("_", "-") for name in rows[0]]
    tables.table(headers, [[shown[name](x) for name, x in row.items()] for row in rows])


def _print_groups(subject: Subject) -> None:
    """A row a group; of draws one for them and one for the law."""
    print()
    cells: list[list[str]] = []
    for group, label in enumerate(subject.labels):
        head = [*map(str, label.values()), f"{subject.records[group]:,}"]
        law, truth = subject.laws[group], subject.truths[group]
        if subject.candidates is not None:
            best = candidate_rows(subject, group)[0]
            seen = [] if subject.draws is None else [f"{best['frequency']:.6f}"]
            chance = tables.probability(best["probability"])
            loss = short(law.expected_loss())
            cells.append([*head, str(best["candidate"]), *seen, chance, loss])
            continue
        exact = number_facts(law, truth)
        if subject.draws is None:
            cells.append([*head, short(truth), *_cells(exact)])
        else:
            seen_facts = observed(subject.draws[group], truth)
            cells.append([*head, "draws", *_cells(seen_facts)])
            cells.append([*([""] * len(head)), "law", *_cells(exact)])
    if subject.candidates is not None:
        frequency = [] if subject.draws is None else ["frequency"]
        headers = [*subject.by, "n", "likeliest", *frequency, "probability", "loss"]
        texts = [*subject.by, "likeliest"]
    else:
        first = "truth" if subject.draws is None else "of"
        quantiles = [f"{float(p):.0%}" for p in SHORT]
        headers = [*subject.by, "n", first, "mean", "sd", *quantiles, "error"]
        texts = [*subject.by, "of"]
    tables.table(headers, cells, texts)


def _cells(facts: dict[str, Any]) -> list[str]:
    quantiles = [facts["quantiles"][p] for p in SHORT]
    return [*map(short, (facts["mean"], facts["sd"], *quantiles, facts["expected_error"]))]


def accuracy(call: Call, columns: Sequence[Column], *, as_json: bool) -> None:
    """Print the figures of `Query.accuracy`.

    Parameters
    ----------
    call : Call
    columns : sequence of Column
        The figures.
    as_json : bool
        An object with kind "accuracy", private (false), by, answers (the parameters of each
        mechanism) and ``rows``, an object a group and answer: its ``group``, and the figures.
    """
    rows = accuracy_rows(columns)
    if as_json:
        answers = {
            name: {"column": column, **words.parameters(mechanism)}
            for name, (mechanism, column) in call.answers.items()
        }
        facts = {"kind": "accuracy", "private": False, "by": list(call.query.by)}
        tables.as_json({**facts, "answers": answers, "rows": rows})
        return
    print(words.NOT_PRIVATE)
    for mechanism, _ in call.answers.values():
        print(words.title(words.name_of(mechanism), mechanism))
    print()
    accuracy_table(rows)


def accuracy_rows(columns: Iterable[Column]) -> list[dict[str, Any]]:
    """The figures as objects: a group's names apart from them."""
    values = {column.name: values_of(column) for column in columns}
    rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    return [
        {
            "group": {name: value for name, value in row.items() if name not in COLUMNS},
            **{name: row[name] for name in COLUMNS},
        }
        for row in rows
    ]


def accuracy_table(rows: Sequence[dict[str, Any]]) -> None:
    """A row a group and answer; what is the same in all rows is left out.

    Parameters
    ----------
    rows : sequence of dict
        As `accuracy_rows` has them.
    """
    by = list(rows[0]["group"]) if rows else []
    words_shown = [name for name in ("answer", "measure") if len({row[name] for row in rows}) > 1]
    measure = rows[0]["measure"] if rows and "measure" not in words_shown else "expected"
    figures = ["truth", "bias"] if any(row["measure"] == "error" for row in rows) else []
    headers = [*by, *words_shown, "n", *figures, measure, f"{TAIL:.0%}"]
    cells = [
        [
            *map(str, row["group"].values()),
            *(row[name] for name in words_shown),
            f"{row['n']:,}",
            *(short(row[name]) for name in (*figures, "expected", "quantile")),
        ]
        for row in rows
    ]
    tables.table(headers, cells, [*by, *words_shown])
