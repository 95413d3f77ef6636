"""Time against k, fastexp's and its peers', from the newest results.

``python -m benchmarks.growth CASE PICTURE [--dark]``
"""

from __future__ import annotations

from typing import Any

from .report import Record, latest, results, title

SIZES = 3  # the fewest sizes of a curve
MARKERS = "osD^vPX<"
Curves = dict[str, tuple[list[int], list[float]]]


def curves(records: list[Record]) -> dict[str, Curves]:
    """Return the sizes and medians of each row but limits, for each title with several k."""
    titles: dict[str, Curves] = {}
    for run in latest(records):
        for case in run["cases"]:
            points = titles.setdefault(title(case), {})
            for row in run["rows"]:
                if row["case"] == case["id"] and row["role"] != "limit":
                    sizes, seconds = points.setdefault(row["name"], ([], []))
                    sizes.append(row["k"])
                    seconds.append(row["median"])
    return {
        name: points
        for name, points in titles.items()
        if max(len(sizes) for sizes, _ in points.values()) >= SIZES
    }


def draw(axes: Any, points: Curves) -> None:
    """Draw the curves, first a thick one of fastexp, whose colour no peer has."""
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

    plt.rcParams["axes.formatter.min_exponent"] = 0  # k as powers of ten
    figure, axes = plt.subplots(figsize=(6, 4.6))
    draw(axes, curves(results())[arguments.case])
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
