"""A median beside a noisy mean of one's own, on one's own distribution: errors against ε."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def waiting(rng, n):
    """Draw waiting times in minutes: most of them short, some of them long."""
    return 30 * rng.weibull(0.7, n)


class NoisyMean:
    """The mean of times up to an hour, with Laplace noise, as an estimate of the median."""

    name = "noisy mean"

    def truth(self, data):
        """Return the median of all times."""
        return np.median(data)

    def sample(self, data, epsilon, size, rng):
        """Return answers, one for each draw."""
        return np.minimum(data, 60).mean() + rng.laplace(0, 60 / data.size / epsilon, size)


def main() -> None:
    arguments = style.begin(__doc__)
    mechanisms = [fx.Median(epsilon=1, bounds=(0, 240), step=1), NoisyMean()]
    plan = {"data": waiting, "n": 200, "datasets": 100, "draws": 50}
    plan |= {"mechanisms": mechanisms, "epsilon": np.geomspace(0.02, 2, 9)}
    figure, axes = plt.subplots(figsize=(6, 4.2))
    fx.Study(name="waiting", **plan).run().plot(ax=axes)
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
