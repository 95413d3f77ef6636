"""A figure of the permute-and-flip paper, redone by the study that comes with fastexp."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    weights = np.linspace(0.001, 0.999, 60)  # of the other candidates; the best has weight 1
    study = fx.Study.ready(
        "permute-and-flip",
        data={"name": "leader", "lead": 2.0},
        epsilon=(-np.log(weights)).tolist(),
        figures="loss",
        draws=0,
    )
    losses = {(r["n"], r["mechanism"], r["epsilon"]): r["exact"] for r in study.run().rows}
    figure, axes = plt.subplots(figsize=(6, 4.2))
    for n in study.n:
        ratio = [
            losses[n, "exponential", epsilon] / losses[n, "permute-and-flip", epsilon]
            for epsilon in study.epsilon
        ]
        axes.plot(weights, ratio, label=f"{n} candidates")
    axes.set_title("How much more the exponential mechanism loses")
    axes.set(xlabel="weight of each other candidate (the best one: 1)", ylabel="times")
    axes.legend()
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
