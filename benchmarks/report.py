"""Tables of results: ``python -m benchmarks.report --write``.

Every row is shown, lost ones in bold; figures have 3 significant digits. README.md has
the worst case of each task in `HEADLINES`, from the newest file that measured it: --write
puts them there. `page.py` has all of them.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from math import floor, log10
from typing import Any

from .harness.provenance import RESULTS, ROOT
from .selection.leak import THRESHOLD

Record = dict[str, Any]
Pair = tuple[Record, Record, Record]  # a case, fastexp's row, its best peer's
README = ROOT / "README.md"
NOISY = 0.15  # spread from which a row is marked
UNITS = {
    "s": (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)),
    "B": (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)),
    "|t|": (("", 1.0),),
}
HEADLINES = {  # the tasks in the README, each shown by its worst case
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
    rounded, units = float(f"{value:.2e}"), UNITS[unit]
    name, scale = next((pair for pair in units if rounded >= pair[1] * (1 - 1e-9)), units[-1])
    return f"{digits(rounded / scale)} {name}".rstrip()


def count(value: int) -> str:
    """1,000 or 1e+07 in the shorter way."""
    power = floor(log10(value))
    return f"1e{power}" if power >= 4 and value == 10**power else f"{value:,}"


def shape(row: Record) -> str:
    """How many utilities there are, or how many in how many rows."""
    rows = row.get("rows", 1)  # older records have no rows
    return f"{count(rows)} x {count(row['k'])}" if rows > 1 else count(row["k"])


def lost(row: Record) -> bool:
    """Whether a peer was better, or a release's time gave something away."""
    if row["unit"] == "|t|":
        return bool(row["role"] == "ours" and row["median"] > THRESHOLD)
    return bool(row["role"] == "rival" and row["ratio"] < 1)


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


HEAD = """| k | what | role | median | ratio | spread | first call | repeats x calls |
|---:|---|---|---:|---:|---:|---:|---:|"""


def title(case: Record) -> str:
    """A case's name with what its inputs are, without their sizes."""
    parts = str(case["id"]).split("/")
    return " ".join(part for part in parts if not part.startswith(("k=", "rows=")))


def all_rows(record: Record) -> str:
    """Every row of every case, measured or absent."""
    parts = []
    for name, cases in groupby(record["cases"], key=title):
        lines = [f"**{name}**\n", HEAD]
        for case in cases:
            k = count(int(case["id"].rpartition("=")[2]))
            lines += [line(row) for row in record["rows"] if row["case"] == case["id"]]
            lines += [
                f"| {k} | {entry['name']} | - | absent: {entry['reason']} | - | - | - | - |"
                for entry in record["absent"]
                if entry["case"] == case["id"]
            ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


NOTES = (
    "ratio: median over fastexp's, above 1x fastexp is better; **bold**: fastexp lost; "
    f"~: spread (interquartile range over median) above {100 * NOISY:.0f}%; "
    f"|t|: bold above {THRESHOLD}."
)


def about(record: Record) -> str:
    """One paragraph of provenance."""
    p = record["provenance"]
    versions = ", ".join(f"{name} {v}" for name, v in p["versions"].items() if v)
    low, high = record["load"]
    return (
        f"Measured {p['date'][:10]} {origin(record)}, "
        f"{p['cores']} cores (load {low} before, {high} after), Python {p['python']}, {versions}."
    )


SUMMARY_HEAD = """| case | k | fastexp | best peer | its figure | ratio |
|---|---:|---:|---|---:|---:|"""


def summary(record: Record) -> str:
    """One line a case: fastexp, the best peer and their ratio, whoever won."""
    pairs = compared_pairs(record)
    lines = [f"| {title(case)} | {' | '.join(compared(*rows))} |" for case, *rows in pairs]
    return "\n".join([tally(pairs), "", SUMMARY_HEAD, *lines])


def compared(ours: Record, best: Record) -> list[str]:
    """The cells of a comparison, from the size to the ratio."""
    ratio = f"{digits(best['ratio'])}x"
    return [
        *(shape(best), quantity(ours["median"], ours["unit"])),
        *(best["name"], quantity(best["median"], best["unit"])),
        f"**{ratio}**" if lost(best) else ratio,
    ]


HEADLINES_HEAD = """| task | size | fastexp | best peer | peer's time | worst ratio | best ratio |
|---|---:|---:|---|---:|---:|---:|"""


def headlines(records: list[Record]) -> str:
    """The worst case of each task in `HEADLINES`, how many cases are lost, and on what."""
    origin_of: dict[str, str] = {}
    pairs = list[Pair]()
    for run in latest(records):
        pairs += compared_pairs(run)
        origin_of |= dict.fromkeys([case["id"] for case in run["cases"]], origin(run))
    lines, origins = [HEADLINES_HEAD], dict[str, list[str]]()
    for kind, work in HEADLINES.items():
        of_kind = [pair for pair in pairs if pair[0]["id"].partition("/")[0] == kind]
        if of_kind:
            case, ours, best = min(of_kind, key=ratio_of)
            most = digits(ratio_of(max(of_kind, key=ratio_of)))
            lines.append(f"| {work} | {' | '.join(compared(ours, best))} | {most}x |")
            origins.setdefault(origin_of[case["id"]], []).append(work)
    most_used, *others = sorted(origins, key=lambda place: -len(origins[place]))
    notes = [tally(pairs), f"The table was measured {most_used}"]
    notes += [f"; *{'* and *'.join(origins[place])}* {place}" for place in others]
    return "\n".join([*lines, "", f"{notes[0]} {''.join(notes[1:])}."])


def origin(record: Record) -> str:
    """The commit that was measured, and the processor."""
    p = record["provenance"]
    return f"at commit {commit(p)} on {p['cpu']}"


def commit(provenance: Record) -> str:
    """A commit in ten digits, and whether the checkout had changes."""
    return provenance["commit"][:10] + (" with changes" if provenance["dirty"] else "")


def compared_pairs(record: Record) -> list[Pair]:
    """Of every case that has a peer fastexp's row and the best peer's."""
    pairs = []
    for case in record["cases"]:
        rows = [row for row in record["rows"] if row["case"] == case["id"] and row["unit"] != "|t|"]
        ours = [row for row in rows if row["role"] == "ours"]
        rivals = [row for row in rows if row["role"] == "rival"]
        if rivals:
            pairs.append((case, ours[0], min(rivals, key=lambda row: float(row["median"]))))
    return pairs


def ratio_of(pair: Pair) -> float:
    """How many times as long the best peer takes."""
    return float(pair[2]["ratio"])


def tally(pairs: list[Pair]) -> str:
    """How many cases are lost."""
    losses = sum(lost(best) for _, _, best in pairs)
    return f"A peer is better in {losses} of the {len(pairs)} cases that have peers."


def results() -> list[Record]:
    """Every record that is kept, oldest first."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.glob("2*.json"))]


def latest(records: list[Record]) -> list[Record]:
    """The records, each with the cases that no later one has measured."""
    last = {case["id"]: record for record in records for case in record["cases"]}
    return [
        record | {"cases": [case for case in record["cases"] if last[case["id"]] is record]}
        for record in records
    ]


def main() -> None:
    """Print README.md's table, or put it there."""
    table = headlines(results())
    if "--write" not in sys.argv:
        print(table)
        return
    head, _, rest = README.read_text("utf-8").partition(BEGIN)
    README.write_text(f"{head}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
