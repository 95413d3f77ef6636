"""Private median rents of four towns, with error bars that are known exactly."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    homes = style.table("rents.csv")
    towns = ["Bern", "Cork", "Oslo", "Rome"]  # a public list
    median = fx.Median(epsilon=0.1, bounds=(0, 5000), step=10)
    figure, axes = plt.subplots(figsize=(6, 3.6))
    for place, town in enumerate(towns):
        rents = homes["rent"][homes["town"] == town]
        law = median.law(rents)
        low, high = law.ppf([0.05, 0.95])
        axes.plot([low, high], [place] * 2, "C0-", linewidth=9, alpha=0.5)
        axes.plot(median.sample(rents, rng=1), place, "C1o", ms=8)
        axes.plot(np.median(rents), place, "|", color=style.QUIET, ms=22, mew=2.5)
        axes.text(high + 25, place, f"{rents.size} homes", va="center")
    axes.set_yticks(range(4), towns)
    axes.set(xlabel="monthly rent", xlim=(700, 2000), ylim=(3.5, -0.5))
    axes.set_title("Bar: 90% of private answers, ε = 0.1. Dot: one. Line: the truth")
    axes.grid(visible=False)
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
