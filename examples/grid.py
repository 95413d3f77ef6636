"""Records on a grid that is finer than they are, and what `widen` does about it."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    schooling = style.table("people.csv")["educ"]  # integers for 16 levels
    steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]
    truth = np.median(schooling)
    figure, axes = plt.subplots(figsize=(6, 4.2))
    for widen, marker in ((0, "o"), (0.1, "s")):
        errors = [
            fx.Median(epsilon=0.2, bounds=(0, 20), step=step, widen=widen)
            .law(schooling)
            .expected_error(truth)
            for step in steps
        ]
        axes.semilogx(steps, errors, marker=marker, label=f"widen={widen}")
    axes.axvline(1, color=style.QUIET, linestyle=":")
    axes.text(0.9, 0.85, "the step of\nthe data", ha="right")
    axes.minorticks_off()
    axes.set_title("Private median of 16 levels of schooling, ε = 0.2")
    axes.set(xlabel="step of the grid", ylabel="mean error, in levels", ylim=0)
    axes.legend()
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
