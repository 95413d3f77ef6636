"""Job 5: medians of a distribution of one's own: fastexp's, and OpenDP's where it is installed."""

from importlib.util import find_spec

import numpy as np

import fastexp as fx

GRID = range(0, 301, 5)


def waits(rng, n):
    """Draw the days that n patients wait: mostly few, sometimes many."""
    days = np.where(rng.random(n) < 0.8, rng.gamma(2, 15, n), rng.normal(180, 30, n))
    return days.astype(np.int64)


class OpenDPMedian:
    """A mechanism that is not fastexp's, as a study knows it: its name, its truth, its draws."""

    name = "OpenDP"
    truth = staticmethod(np.median)  # errors are measured from it

    def sample(self, data, epsilon, size, rng):  # noqa: ARG002  # OpenDP's draws take no seed
        """Draw `size` answers."""
        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
        median = dp.m.make_private_quantile(*space, dp.max_divergence(), [*GRID], 0.5, 1 / epsilon)
        return [median(data) for _ in range(size)]


if __name__ == "__main__":
    mine = {"mechanism": fx.Median(epsilon=1, grid=GRID), "label": "fastexp"}
    rivals = [mine, OpenDPMedian()] if find_spec("opendp") else [mine]
    cells = {"n": [100, 1000], "epsilon": [0.1, 1], "datasets": 20, "draws": 20}
    study = fx.Study(name="waits", data=waits, bounds=(0, 300), mechanisms=rivals, **cells)
    print(study.run(workers=2).table())
