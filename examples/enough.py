"""The error of a median against ε: where it rises, and from which ε on it is small enough."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx

TWO_SIDES = [49.95] * 100 + [50] + [52.2] * 100  # the median is 50, with few records near it


def main() -> None:
    arguments = style.begin(__doc__)
    law = fx.Median(epsilon=1, bounds=(48, 52.2), step=0.01).law(TWO_SIDES)
    enough = law.epsilon_for(error=2, probability=0.95)
    epsilons = np.geomspace(1e-3, 30, 300)
    within = [law.with_epsilon(epsilon).cdf(52) for epsilon in epsilons]
    figure, axes = plt.subplots(figsize=(7, 3))
    axes.plot(epsilons, within)
    axes.axhline(0.95, linewidth=1, linestyle="--", color=style.QUIET)
    axes.plot([enough], [0.95], "o", clip_on=False, label=f"enough from ε = {enough:.1f} on")
    axes.set(xscale="log", xlabel="ε", ylabel="P(error ≤ 2)")
    axes.set_xticks([0.001, 0.01, 0.1, 1, 10], ["0.001", "0.01", "0.1", "1", "10"])
    axes.legend(loc="upper left")
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
