"""How much a private choice loses, exactly, and what theory promises before one sees data."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    schooling = style.table("people.csv")["educ"]
    levels = range(1, 17)
    epsilons = np.geomspace(0.01, 1, 40)
    laws = [
        fx.MostCommon(epsilon=epsilon, candidates=levels).law(schooling) for epsilon in epsilons
    ]
    figure, axes = plt.subplots(figsize=(6, 4.2))
    bounds = [
        fx.loss_bound(np.log(20), epsilon=epsilon, sensitivity=1, k=16, monotonic=True)
        for epsilon in epsilons
    ]
    axes.loglog(epsilons, bounds, "C1--", label="bound: 19 draws of 20 lose less, on all data")
    exact = [law.loss_quantile(0.95) for law in laws]
    axes.step(epsilons, exact, "C2-.", where="mid", label="exact: 19 draws of 20 lose no more")
    axes.loglog(epsilons, [law.expected_loss() for law in laws], "C0-", label="exact: mean loss")
    axes.set(xlabel="ε", ylabel="loss, in people", ylim=(0.1, 1000))
    figure.legend(loc="outside upper left")
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
