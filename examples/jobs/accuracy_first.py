"""Job 3: the epsilon for which a median age is within 2 years of the true one, 95 times in 100."""

import csv
from pathlib import Path

import numpy as np

import fastexp as fx

DATA = Path(__file__).parents[2] / "docs" / "data"


def main() -> None:
    median = fx.Median(epsilon=1, bounds=(0, 120), step=1)

    # The private ages must not choose epsilon: the choice would tell of them. Invented towns, of
    # as many people and of ages that a census office would believe, may.
    rng = np.random.default_rng(1)
    towns = [rng.normal(rng.uniform(35, 50), 18, 1000).clip(0, 100).round() for _ in range(50)]
    enough = [median.law(ages).epsilon_for(error=2, probability=0.95) for ages in towns]
    print(f"enough for half of 50 invented towns: epsilon = {np.median(enough):.4f}")
    print(f"enough for all of them: {max(enough):.4f}, and for each at any larger epsilon, too")

    # A little more than that; what it means on a town that nobody has looked at yet.
    chosen = fx.Median(epsilon=round(1.2 * max(enough), 3), bounds=(0, 120), step=1)
    another = rng.normal(42, 18, 1000).clip(0, 100).round()
    print(chosen.accuracy(another))

    # Only now the private ages, once, and at the price that was chosen.
    with (DATA / "people.csv").open() as file:
        ages = [int(person["age"]) for person in csv.DictReader(file)]
    budget = fx.Budget(epsilon=chosen.epsilon)
    print(f"private median age: {chosen.release(ages, budget=budget)}, for {budget.spent}")


if __name__ == "__main__":
    main()
