"""What many answers of ε = 0.1 cost in all, by four ways to add them up."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    rounds = np.unique(np.geomspace(1, 1000, 60).round()).astype(int)
    promise = fx.Median(epsilon=0.1, bounds=(0, 120), step=1).guarantee
    delta = 1e-6
    privacy = fx.privacy
    ways = {
        "sum of ε (δ = 0)": lambda k: k * promise.epsilon,
        "advanced composition": lambda k: privacy.advanced(promise, k, delta=delta).epsilon,
        "sum of ρ": lambda k: privacy.zcdp_epsilon(k * promise.rho, delta),
        "bounded range": lambda k: privacy.adaptive_epsilon(k, promise.bounded_range, delta),
    }
    figure, axes = plt.subplots(figsize=(6, 4.2))
    for label, total in ways.items():
        axes.loglog(rounds, [total(int(k)) for k in rounds], label=label)
    axes.set(xlabel="answers", ylabel="ε of all answers, δ = $10^{-6}$")
    axes.legend()
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
