"""Mechanisms beside each other on the same counts, at the same ε."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    schooling = style.table("people.csv")["educ"]
    counts = np.bincount(schooling, minlength=17)[1:]  # the people at each of 16 levels
    shared = {"epsilon": 0.02, "sensitivity": 1, "monotonic": True}
    mechanisms = {
        "exponential": fx.Exponential(**shared),
        "permute-and-flip": fx.PermuteAndFlip(**shared),
        "noisy max, Gumbel": fx.ReportNoisyMax(**shared, noise="gumbel"),
        "noisy max, exponential": fx.ReportNoisyMax(**shared, noise="exponential"),
    }
    figure, axes = plt.subplots(figsize=(7, 3))
    axes.set_facecolor("black" if arguments.dark else "white")  # transparent in the picture
    fx.compare(mechanisms, counts).plot(axes)
    axes.set_title("The most common of 16 levels of schooling, ε = 0.02")
    axes.set_xlabel("expected loss in people; mark: 95% at most")
    axes.grid(axis="y", visible=False)
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
