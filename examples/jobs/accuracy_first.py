"""Job 3: the epsilon for which a median age is within 2 years of the true one, 95 times in 100."""

import csv
from pathlib import Path

import numpy as np

import fastexp as fx

DATA = Path(__file__).parents[2] / "docs" / "data"


def town(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw the ages of an invented town, such as a census office would expect."""
    return rng.normal(rng.uniform(35, 50), 18, n).clip(0, 100).round()


def main() -> None:
    median = fx.Median(epsilon=1, bounds=(0, 120), step=1)

    # Private ages must not choose epsilon, as the choice would tell of them. Invented towns may.
    enough = fx.epsilon_for(median, like=town, n=1000, error=2, probability=0.95, datasets=200)
    print(enough)

    # A little more than all invented towns need, and the accuracy for another town.
    chosen = fx.Median(epsilon=round(1.2 * enough.worst, 3), bounds=(0, 120), step=1)
    print(chosen.accuracy(town(np.random.default_rng(201), 1000)))

    # Only now are the private ages used, once, with the epsilon that was chosen.
    with (DATA / "people.csv").open() as file:
        ages = [int(person["age"]) for person in csv.DictReader(file)]
    budget = fx.Budget(epsilon=chosen.epsilon)
    print(f"private median age: {chosen.release(ages, budget=budget)}, for {budget.spent}")


if __name__ == "__main__":
    main()
