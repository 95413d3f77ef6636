"""How the time of several quantiles grows with m, 1/ε and n, measured as the picture is made."""

import time

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx

SIZES, EPSILONS, RECORDS = (3, 5, 9, 19, 39), (3, 1, 0.3, 0.1, 0.03), (1_000, 10_000, 100_000)
NORMAL = np.random.default_rng(1).normal(0, 5, max(RECORDS))


def milliseconds(m=9, epsilon=1.0, n=100_000):
    """Return the shortest of seven times: other programs can only make a time longer."""
    mechanism = fx.Quantiles(count=m, epsilon=epsilon, bounds=(-100, 100))
    records, turns = np.sort(NORMAL[:n]), []
    for _ in range(8):
        start = time.thread_time()
        mechanism.release(records, assume_sorted=True)
        turns.append(1000 * (time.thread_time() - start))
    return min(turns[1:])


def main() -> None:
    arguments = style.begin(__doc__)
    figure, panels = plt.subplots(1, 3, figsize=(9, 3.6), sharey=True)
    panels[0].loglog(SIZES, [milliseconds(m=m) for m in SIZES], "C0o-")
    panels[0].set(xlabel="m", title="ε = 1, n = 100,000")
    panels[1].loglog(1 / np.array(EPSILONS), [milliseconds(epsilon=e) for e in EPSILONS], "C0o-")
    panels[1].set(xlabel="1/ε", title="m = 9, n = 100,000")
    panels[2].loglog(RECORDS, [milliseconds(n=n) for n in RECORDS], "C0o-")
    panels[2].set(xlabel="n", title="m = 9, ε = 1", ylim=(0.1, None))
    panels[0].set_ylabel("milliseconds of a release")
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
