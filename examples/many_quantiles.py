"""Nine private deciles for one ε: in one draw, and by a draw for each."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx

PARTS = np.arange(1, 10) / 10
GRID = {"bounds": (0, 200_000), "step": 500}


def main() -> None:
    arguments = style.begin(__doc__)
    incomes = style.table("people.csv")["income"]
    together = fx.Quantiles(PARTS, epsilon=0.5, **GRID).sample(incomes, size=2000, rng=1)
    alone = [fx.Quantile(part, epsilon=0.5 / 9, **GRID) for part in PARTS]
    apart = np.stack([one.sample(incomes, size=2000, rng=1) for one in alone], axis=1)
    figure, axes = plt.subplots(figsize=(6, 4.2))
    kinds = {"nine draws of ε/9": (apart, "C2", -1.2), "one draw of ε = 0.5": (together, "C0", 1.2)}
    for label, (draws, color, beside) in kinds.items():
        low, high = np.quantile(draws, [0.05, 0.95], axis=0) / 1000
        axes.vlines(100 * PARTS + beside, low, high, color, linewidth=7, alpha=0.6, label=label)
    truth = np.quantile(incomes, PARTS) / 1000
    axes.plot(100 * PARTS, truth, "C1D", label="of the data, secret")
    axes.set(xlabel="percent of 1,000 people who earn less", ylabel="income, thousands")
    axes.set(xticks=100 * PARTS, ylim=-4)
    axes.set_title("Bars: 90% of private answers")
    axes.legend(loc="upper left")
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
