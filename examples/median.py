"""The ages of 1,000 people, and what their private median answers: exact law and draws."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    ages = style.table("people.csv")["age"]
    median = fx.Median(epsilon=0.02, bounds=(0, 120), step=1)
    law = median.law(ages)
    draws = median.sample(ages, size=1_000, rng=1)  # simulated: a release has no seed
    truth = np.median(ages)
    error = law.expected_error(truth)

    figure, (above, below) = plt.subplots(2, sharex=True, figsize=(6, 4.2), height_ratios=[2, 3])
    above.hist(ages, np.arange(14.5, 96), histtype="stepfilled", color=style.QUIET)
    above.set(title=f"Secret: the ages of 1,000 people, median {truth:.0f}", ylabel="people")
    probabilities = law.probabilities[15:96]
    below.stairs(probabilities, np.arange(14.5, 96), fill=True, label="exact law", gid="law")
    values, counts = np.unique(draws, return_counts=True)
    below.plot(values, counts / draws.size, "oC1", ms=4, label="1,000 draws", gid="draws")
    title = f"Published: a draw, on average {error:.1f} years off (ε = {median.epsilon})"
    below.set(title=title, xlabel="private median age", ylabel="probability", xlim=(15, 95))
    below.legend()
    for axes in (above, below):
        axes.axvline(truth, color=plt.rcParams["text.color"], linestyle=":", linewidth=1.5)
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
