"""Tables of results: ``python -m benchmarks.report --write``.

Every row is shown, lost rows in bold; figures have 3 significant digits. --write puts into
README.md the worst case of each task in `HEADLINES`, from the newest file that measured it.
`page.py` prints all cases.
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
Pair = tuple[Record, Record, Record]  # a case, the row of fastexp, the row of the best peer
README = ROOT / "README.md"
NOISY = 0.15  # rows with a larger spread are marked
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
    """Return a number with 3 significant digits, without an exponent."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.2e}")
    return f"{rounded:.{max(0, 2 - floor(log10(abs(rounded))))}f}"


def quantity(value: float, unit: str) -> str:
    """Return a figure in the largest unit that leaves a digit before the point."""
    rounded, units = float(f"{value:.2e}"), UNITS[unit]
    name, scale = next((pair for pair in units if rounded >= pair[1] * (1 - 1e-9)), units[-1])
    return f"{digits(rounded / scale)} {name}".rstrip()


def count(value: int) -> str:
    """Return an integer such as 1,000; a large power of ten as 1e7."""
    power = floor(log10(value))
    return f"1e{power}" if power >= 4 and value == 10**power else f"{value:,}"


def shape(row: Record) -> str:
    """Return the number of utilities, or the number of rows and of utilities in each."""
    rows = row.get("rows", 1)  # older records have no rows
    return f"{count(rows)} x {count(row['k'])}" if rows > 1 else count(row["k"])


def lost(row: Record) -> bool:
    """Whether a peer was better, or the time of a release depended on the data."""
    if row["unit"] == "|t|":
        return bool(row["role"] == "ours" and row["median"] > THRESHOLD)
    return bool(row["role"] == "rival" and row["ratio"] < 1)


def line(row: Record) -> str:
    """Return one row of a case's table."""
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
    """Return a case's name with the kind of its inputs, without their sizes."""
    parts = str(case["id"]).split("/")
    return " ".join(part for part in parts if not part.startswith(("k=", "rows=")))


def all_rows(record: Record) -> str:
    """Return every row of every case, measured or absent."""
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
    """Return one paragraph of provenance."""
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
    """Return a line for each case: fastexp, the best peer and their ratio."""
    pairs = compared_pairs(record)
    lines = [f"| {title(case)} | {' | '.join(compared(*rows))} |" for case, *rows in pairs]
    return "\n".join([tally(pairs), "", SUMMARY_HEAD, *lines])


def compared(ours: Record, best: Record) -> list[str]:
    """Return the cells of a comparison, from the size to the ratio."""
    ratio = f"{digits(best['ratio'])}x"
    return [
        *(shape(best), quantity(ours["median"], ours["unit"])),
        *(best["name"], quantity(best["median"], best["unit"])),
        f"**{ratio}**" if lost(best) else ratio,
    ]


HEADLINES_HEAD = """| task | size | fastexp | best peer | peer's time | worst ratio | best ratio |
|---|---:|---:|---|---:|---:|---:|"""


def headlines(records: list[Record]) -> str:
    """Return the worst case of each task in `HEADLINES`, the number of lost cases, and origins."""
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
    """Return the commit that was measured, and the processor."""
    p = record["provenance"]
    return f"at commit {commit(p)} on {p['cpu']}"


def commit(provenance: Record) -> str:
    """Return ten digits of a commit, and whether the checkout had changes."""
    return provenance["commit"][:10] + (" with changes" if provenance["dirty"] else "")


def compared_pairs(record: Record) -> list[Pair]:
    """Return each case that has a peer, with the rows of fastexp and of the best peer."""
    pairs = []
    for case in record["cases"]:
        rows = [row for row in record["rows"] if row["case"] == case["id"] and row["unit"] != "|t|"]
        ours = [row for row in rows if row["role"] == "ours"]
        rivals = [row for row in rows if row["role"] == "rival"]
        if rivals:
            pairs.append((case, ours[0], min(rivals, key=lambda row: float(row["median"]))))
    return pairs


def ratio_of(pair: Pair) -> float:
    """Return the ratio of the best peer's time to that of fastexp."""
    return float(pair[2]["ratio"])


def tally(pairs: list[Pair]) -> str:
    """Return the number of lost cases, in words."""
    losses = sum(lost(best) for _, _, best in pairs)
    return f"A peer is better in {losses} of the {len(pairs)} cases that have peers."


def results() -> list[Record]:
    """Return all saved records, the oldest first."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.glob("2*.json"))]


def latest(records: list[Record]) -> list[Record]:
    """Return the records, each with only those cases that no later record has."""
    last = {case["id"]: record for record in records for case in record["cases"]}
    return [
        record | {"cases": [case for case in record["cases"] if last[case["id"]] is record]}
        for record in records
    ]


def main() -> None:
    """Print the table of README.md, or write it there."""
    table = headlines(results())
    if "--write" not in sys.argv:
        print(table)
        return
    head, _, rest = README.read_text("utf-8").partition(BEGIN)
    README.write_text(f"{head}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
