"""Tables of results: ``python -m benchmarks.report FILE... [--write] [--check]``.

Every planned row is shown, lost ones in bold; figures have 3 significant digits. README.md has
the worst case of each kind of work in `HEADLINES`, from the newest file that measured it: --write
puts them there. `page.py` has all of them.
"""

from __future__ import annotations

import argparse
from itertools import groupby
from math import floor, log10
from pathlib import Path
from typing import Any

from .harness import schema
from .harness.provenance import RESULTS, ROOT
from .selection.leak import THRESHOLD

Record = dict[str, Any]
Pair = tuple[Record, Record, Record]  # a case, fastexp's row, its best peer's
README = ROOT / "README.md"
NOISY = 0.15  # spread from which a row is marked
ROLES = ("ours", "variant", "rival", "limit")
UNITS = {
    "s": (("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)),
    "B": (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)),
    "|t|": (("", 1.0),),
}
HEADLINES = {  # the kinds of work in the README, each shown by its worst case
    "release": "select one of k",
    "single": "draw one of k, seeded",
    "rows": "draw from each row",
    "permute_and_flip": "permute-and-flip",
    "median_release": "median",
    "group_median": "medians by group",
    "price_release": "price",
    "laplace_release": "one Laplace number",
    "table1": "exact study",
    "cold_start": "a process, start to end",
}
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"


def digits(value: float) -> str:
    """3 significant digits, without an exponent."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.2e}")
    return f"{rounded:.{max(0, 2 - floor(log10(abs(rounded))))}f}"


def quantity(value: float, unit: str) -> str:
    """A figure in the unit that leaves at least one digit before the point."""
    if value <= 0 and unit != "|t|":
        raise ValueError(f"a measurement must be > 0, got {value!r} {unit}")
    rounded = float(f"{value:.2e}")
    name, scale = next(
        (pair for pair in reversed(UNITS[unit]) if rounded >= pair[1] * (1 - 1e-9)), UNITS[unit][0]
    )
    return f"{digits(rounded / scale)} {name}".rstrip()


def count(value: int) -> str:
    """1,000 or 1e+07 in the shorter way."""
    power = floor(log10(value)) if value else 0
    return f"1e{power}" if power >= 4 and value == 10**power else f"{value:,}"


def shape(row: Record) -> str:
    """How many utilities there are, or how many in how many rows."""
    rows = row.get("rows", 1)  # older records have no rows
    return f"{count(rows)} x {count(row['k'])}" if rows > 1 else count(row["k"])


def lost(row: Record) -> bool:
    """Whether a peer was better, or a release's time gave something away."""
    if row["unit"] == "|t|":
        return bool(row["role"] == "ours" and row["median"] > THRESHOLD)
    return bool(row["role"] == "rival" and row["ratio"] is not None and row["ratio"] < 1)


def line(row: Record) -> str:
    """One row of a case's table."""
    figure, spread = quantity(row["median"], row["unit"]), f"{100 * row['spread']:.0f}%"
    if row["unit"] == "|t|":  # noise about 0 has no relative spread
        spread = f"up to {digits(max(row['repeats']))}"
    elif row["spread"] > NOISY:
        figure += " ~"
    ratio = "-" if row["ratio"] is None else f"{digits(row['ratio'])}x"
    first = "-" if row["first_s"] is None else quantity(row["first_s"], "s")
    cells = [row["name"], row["role"], figure, ratio, spread, first]
    if lost(row):
        cells[2:4] = [f"**{cell}**" for cell in cells[2:4]]
    runs = f"{len(row['repeats'])} x {count(row['calls'])}"
    return f"| {shape(row)} | {' | '.join(cells)} | {runs} |"


def missing_line(entry: Record) -> str:
    """A row that was not measured."""
    k = entry["case"].rpartition("=")[2]
    return f"| {count(int(k))} | {entry['name']} | - | absent: {entry['reason']} | - | - | - | - |"


HEAD = """| k | what | role | median | ratio | spread | first call | repeats x calls |
|---:|---|---|---:|---:|---:|---:|---:|"""


def case_table(cases: list[Record], record: Record) -> str:
    """All rows of the cases of one name."""
    lines = [HEAD]
    for case in cases:
        rows = [row for row in record["rows"] if row["case"] == case["id"]]
        rows.sort(key=lambda row: ROLES.index(row["role"]))
        lines += [line(row) for row in rows]
        lines += [missing_line(e) for e in record["absent"] if e["case"] == case["id"]]
    return "\n".join(lines)


def title(case: Record) -> str:
    """A case's name with what its inputs are, without their sizes."""
    parts = str(case["id"]).split("/")
    return " ".join(part for part in parts if not part.startswith(("k=", "rows=")))


def markdown(record: Record) -> str:
    """The whole report."""
    schema.check_complete(record)
    parts = [about(record), SUMMARY_NOTE, summary(record)]
    for name, cases in groupby(record["cases"], key=title):
        parts += [f"### {name}", case_table(list(cases), record)]
    return "\n\n".join([*parts, NOTES])


SUMMARY_NOTE = "The best peer of each case against fastexp:"
NOTES = (
    "ratio: median over fastexp's, above 1x fastexp is better; **bold**: fastexp lost; "
    f"~: spread (interquartile range over median) above {100 * NOISY:.0f}%; "
    f"|t|: bold above {THRESHOLD}."
)


def about(record: Record) -> str:
    """One paragraph of provenance."""
    p = record["provenance"]
    versions = ", ".join(f"{name} {v}" for name, v in p["versions"].items() if v)
    dirty = " with changes" if p["dirty"] else ""
    low, high = record["load"][0], record["load"][-1]
    return (
        f"Measured {p['date'][:10]} at commit {p['commit'][:10]}{dirty} on {p['cpu']}, "
        f"{p['cores']} cores (load {low} before, {high} after), Python {p['python']}, {versions}."
    )


SUMMARY_HEAD = """| case | k | ratio | fastexp | best peer | its figure |
|---|---:|---:|---:|---|---:|"""


def summary(record: Record) -> str:
    """One line a case: fastexp, the best peer and their ratio, whoever won."""
    schema.check_complete(record)
    lines = []
    for case, ours, best in compared_pairs(record):
        size, *figures, ratio = compared(ours, best)
        lines.append(f"| {' | '.join([title(case), size, ratio, *figures])} |")
    return "\n".join([SUMMARY_HEAD, *lines])


def compared(ours: Record, best: Record) -> list[str]:
    """The cells of a comparison, from the size to the ratio."""
    ratio = f"{digits(best['ratio'])}x"
    return [
        *(shape(best), quantity(ours["median"], ours["unit"])),
        *(best["name"], quantity(best["median"], best["unit"])),
        f"**{ratio}**" if lost(best) else ratio,
    ]


HEADLINES_HEAD = """| work | size | fastexp | best peer | its figure | worst ratio | best ratio |
|---|---:|---:|---|---:|---:|---:|"""


def headlines(records: list[Record]) -> str:
    """The worst case of each kind of work in `HEADLINES`; how many cases are lost; on what."""
    pairs = compared_pairs(newest(records))
    lines, processors = [HEADLINES_HEAD], dict[str, list[str]]()
    for kind, work in HEADLINES.items():
        of_kind = [pair for pair in pairs if pair[0]["id"].partition("/")[0] == kind]
        if of_kind:
            case, ours, best = min(of_kind, key=ratio_of)
            most = digits(ratio_of(max(of_kind, key=ratio_of)))
            lines.append(f"| {work} | {' | '.join(compared(ours, best))} | {most}x |")
            cpu = sources(records)[case["id"]]["provenance"]["cpu"]
            processors.setdefault(cpu, []).append(work)
    most_used, *others = sorted(processors, key=lambda cpu: -len(processors[cpu]))
    notes = [tally(pairs), f"Processor: {most_used}"]
    notes += [f"; of *{'* and *'.join(processors[cpu])}*: {cpu}" for cpu in others]
    return "\n".join([*lines, "", f"{notes[0]} {''.join(notes[1:])}."])


def compared_pairs(record: Record) -> list[Pair]:
    """Of every case that has a peer fastexp's row and the best peer's."""
    return [pair for case in record["cases"] if (pair := against_best(record, case))]


def ratio_of(pair: Pair) -> float:
    """How many times as long the best peer takes."""
    return float(pair[2]["ratio"])


def tally(pairs: list[Pair]) -> str:
    """How many cases are lost."""
    losses = sum(lost(best) for _, _, best in pairs)
    return f"A peer is better in {losses} of the {len(pairs)} cases that have peers."


def against_best(record: Record, case: Record) -> Pair | None:
    """A case, fastexp's row and its best peer's; None where there is nothing to compare."""
    rows = [row for row in record["rows"] if row["case"] == case["id"]]
    ours = [row for row in rows if row["role"] == "ours"]
    rivals = [row for row in rows if row["role"] == "rival"]
    if not ours:
        raise ValueError(f"{case['id']} has no row of fastexp's")
    if not rivals or ours[0]["unit"] == "|t|":
        return None
    return case, ours[0], min(rivals, key=lambda row: float(row["median"]))


def results() -> list[Record]:
    """Every record that is kept, oldest first."""
    return [schema.read(path) for path in sorted(RESULTS.glob("2*.json"))]


def sources(records: list[Record]) -> dict[str, Record]:
    """The last of these records that measured each case."""
    return {case["id"]: record for record in records for case in record["cases"]}


def newest(records: list[Record]) -> Record:
    """Every case as the last of these records has it."""
    last = sources(records)
    merged: Record = {}
    for part, name in (("cases", "id"), ("rows", "case"), ("absent", "case")):
        merged[part] = [e for record in records for e in record[part] if last[e[name]] is record]
    return merged


def put_between(text: str, table: str) -> str:
    """`text` with everything between the two markers replaced by `table`."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"the file must hold {BEGIN} and {END} once each")
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}"


def main(argv: list[str] | None = None) -> int:
    """Print the tables of files, or see to README.md's."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", help="records")
    parser.add_argument("--write", action="store_true", help="put the summary into README.md")
    parser.add_argument("--check", action="store_true", help="exit 1 if --write would change it")
    arguments = parser.parse_args(argv)
    for file in arguments.files:
        print(markdown(schema.read(file)))
    if not arguments.write and not arguments.check:
        return 0
    before = README.read_text(encoding="utf-8")
    after = put_between(before, headlines(results()))
    if arguments.write:
        README.write_text(after, encoding="utf-8")
    elif after != before:
        print(
            "README.md has other figures than bench_results/: python -m benchmarks.report --write"
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
