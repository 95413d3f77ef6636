"""The k most frequent in one draw, or in k rounds: how far the worst place is behind."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx

K, EPSILONS = 20, np.geomspace(0.1, 3, 16)
COUNTS = {
    "Zipf's law": np.array([round(1e4 / rank**1.1) for rank in range(1, 301)]),
    "Ten above a flat tail": np.array([*range(1500, 1250, -25), *range(1000, 710, -1)]),
}


def drawn(mechanisms, counts):
    """Return the mean loss of the worst place, in seeded draws."""
    draws = [mechanism.sample(counts, size=400, rng=1) for mechanism in mechanisms]
    return [(np.sort(counts)[: -K - 1 : -1] - counts[d]).max(axis=1).mean() for d in draws]


def main() -> None:
    arguments = style.begin(__doc__)
    figure, panels = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True)
    joint = [fx.JointTopK(K, epsilon=epsilon) for epsilon in EPSILONS]
    rounds = [fx.TopK(K, epsilon=epsilon, sensitivity=1, monotonic=True) for epsilon in EPSILONS]
    by_rho = [fx.TopK(K, sensitivity=1, rho=m.guarantee.rho, monotonic=True) for m in joint]
    for axes, (title, counts) in zip(panels, COUNTS.items(), strict=True):
        axes.loglog(EPSILONS, [m.law(counts).expected_loss() for m in joint])
        axes.loglog(EPSILONS, drawn(rounds, counts))
        axes.loglog(EPSILONS, drawn(by_rho, counts))
        axes.set(xlabel="ε of the one draw", title=title, ylim=(0.5, 2000))
    panels[0].set_ylabel(f"mean loss of the worst of {K} places")
    labels = ("one draw, exact", "rounds, equal ε", "rounds, equal ρ")
    figure.legend(panels[0].lines, labels, loc="outside upper left", ncols=3)
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
