"""How well answers tell two neighboring data sets apart, beside what is promised."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    people = style.table("people.csv")[:25]
    ages, schooling = people["age"], people["educ"]
    median = fx.Median(epsilon=1, bounds=(0, 120), step=1)
    choice = fx.MostCommon(epsilon=1, candidates=range(1, 17))
    epsilons = np.linspace(0, 1.1, 200)
    figure, axes = plt.subplots(figsize=(6, 4.2))
    most = (np.exp(1) - np.exp(epsilons)).clip(0) / (1 + np.exp(1))
    axes.plot(epsilons, most, "C3:", label="the most that a promise of ε = 1 allows")
    for name, style_of_line, mechanism, records in (
        ("a median of 25 ages", "C0-", median, ages),
        ("their most common level of schooling", "C1--", choice, schooling),
    ):
        pairs = (mechanism.law(np.delete(records, i)) for i in range(records.size))
        losses = [mechanism.law(records).privacy_loss(other) for other in pairs]
        both = [direction for loss in losses for direction in (loss, loss.reverse)]
        deltas = np.max([loss.delta(epsilons) for loss in both], axis=0)
        axes.plot(epsilons, deltas, style_of_line, label=name)
    axes.set(xlabel="ε", ylabel="δ of the worst of 25 records", xlim=(0, 1.1), ylim=(0, None))
    axes.legend()
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
