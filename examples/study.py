"""Three private medians of the same samples: mean exact error against ε."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    samples = np.random.default_rng(1).lognormal(10, 1, (200, 1000))  # incomes of 1,000 people
    bounds = (0, 500_000)
    epsilons = np.geomspace(0.01, 2, 12)
    kinds = {
        "exponential mechanism": lambda e: fx.Median(epsilon=e, bounds=bounds, neighbors="replace"),
        "smooth sensitivity, Cauchy": lambda e: fx.SmoothSensitivityMedian(
            epsilon=e, bounds=bounds
        ),
        "Laplace of the whole range": lambda e: fx.LaplaceMedian(epsilon=e, bounds=bounds),
    }
    figure, axes = plt.subplots(figsize=(6, 4.2))
    for (label, kind), marker in zip(kinds.items(), "osD", strict=True):
        errors = fx.expected_errors(samples, [kind(epsilon) for epsilon in epsilons])
        axes.loglog(epsilons, errors.mean(axis=0) / 1000, marker=marker, label=label)
    axes.set_title("Median of 1,000 incomes, some 22 thousand")
    axes.set(xlabel="ε", ylabel="mean error, thousands")
    axes.legend()
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
