"""Nine private quantiles of incomes, with the interval that holds nine answers in ten."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    incomes = style.table("people.csv")["income"]
    parts = np.arange(1, 10) / 10
    figure, axes = plt.subplots(figsize=(6, 4.2))
    for part in parts:
        law = fx.Quantile(part, epsilon=0.1, bounds=(0, 200_000), step=500).law(incomes)
        low, high = law.ppf([0.05, 0.95]) / 1000
        axes.plot([100 * part] * 2, [low, high], "C0-", linewidth=7, alpha=0.5)
    axes.plot(
        100 * parts,
        np.quantile(incomes, parts) / 1000,
        "C1D",
        label="of the data, secret",
    )
    axes.plot([], [], "C0-", linewidth=7, alpha=0.5, label="90% of private answers, ε = 0.1 each")
    axes.set(xlabel="percent of 1,000 people who earn less", ylabel="income, thousands")
    axes.set(xticks=100 * parts, ylim=-4)
    axes.legend(loc="upper left")
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
