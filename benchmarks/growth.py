"""Time against k, fastexp's and its peers', from the newest results.

``python -m benchmarks.growth CASE PICTURE [--dark]``
"""

from __future__ import annotations

from typing import Any

from .report import Record, newest, results, title

SIZES = 3  # that a curve has at least
MARKERS = "osD^vPX<"
Curves = dict[str, tuple[list[int], list[float]]]


def titles(record: Record) -> list[str]:
    """The cases that were measured at several k."""
    every = [title(case) for case in record["cases"] if case["id"].count("/") >= 1]
    return [name for name in dict.fromkeys(every) if every.count(name) >= SIZES]


def curves(record: Record, name: str) -> Curves:
    """The sizes and the medians of each row of the cases with this title, without limits."""
    ids = {case["id"] for case in record["cases"] if title(case) == name}
    rows = [row for row in record["rows"] if row["case"] in ids and row["role"] != "limit"]
    points: Curves = {}
    for row in sorted(rows, key=lambda row: (row["role"] != "ours", row["k"])):
        sizes, seconds = points.setdefault(row["name"], ([], []))
        sizes.append(row["k"])
        seconds.append(row["median"])
    return points


def draw(axes: Any, points: Curves) -> None:
    """The curves, fastexp's first and thick; no peer has its colour."""
    from matplotlib.ticker import EngFormatter

    for i, (name, (sizes, seconds)) in enumerate(points.items()):
        width, color = (1.5, f"C{1 + i % 3}") if i else (4, "C0")
        marker = MARKERS[i % len(MARKERS)]
        axes.loglog(sizes, seconds, marker=marker, label=name, linewidth=width, color=color)
    axes.yaxis.set_major_formatter(EngFormatter("s"))
    axes.set(xlabel="k", ylabel="time of a call")
    axes.minorticks_off()


def main() -> None:
    """Write the picture of a case."""
    from examples import style

    arguments = style.begin(str(__doc__), "case")

    import matplotlib.pyplot as plt

    record = newest(results())
    if arguments.case not in titles(record):
        raise SystemExit(f"case must be one of {', '.join(titles(record))}")
    plt.rcParams["axes.formatter.min_exponent"] = 0  # k as powers of ten
    figure, axes = plt.subplots(figsize=(6, 4.6))
    draw(axes, curves(record, arguments.case))
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
