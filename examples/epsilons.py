"""The exact law of a private median age, for three values of ε."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    ages = style.table("people.csv")["age"]
    figure, panels = plt.subplots(3, sharex=True, sharey=True, figsize=(6, 5))
    for axes, epsilon in zip(panels, (0.01, 0.02, 0.05), strict=True):
        law = fx.Median(epsilon=epsilon, bounds=(0, 120), step=1).law(ages)
        axes.stairs(law.probabilities, np.arange(-0.5, 121), fill=True)
        low, high = law.ppf([0.05, 0.95])
        axes.set_title(f"ε = {epsilon}: nine answers in ten are from {low} to {high}")
        axes.axvline(np.median(ages), color=plt.rcParams["text.color"], linestyle=":", linewidth=1)
        axes.set_xlim(0, 100)
    panels[1].set_ylabel("probability")
    panels[-1].set_xlabel("private median age (dotted: their median)")
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
