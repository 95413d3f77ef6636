"""Job 3: the epsilon for which a median age is within 2 years of the true one, 95 times in 100."""

import csv
from pathlib import Path

import numpy as np

import fastexp as fx

DATA = Path(__file__).parents[2] / "docs" / "data"


def town(rng: np.random.Generator, n: int) -> np.ndarray:
    """Ages of an invented town, as a census office would believe them."""
    return rng.normal(rng.uniform(35, 50), 18, n).clip(0, 100).round()


def main() -> None:
    median = fx.Median(epsilon=1, bounds=(0, 120), step=1)

    # The private ages must not choose epsilon: the choice would tell of them. Invented towns may.
    enough = fx.epsilon_for(median, like=town, n=1000, error=2, probability=0.95, datasets=200)
    print(enough)

    # A little more than all of them need; what that means for a town that is not among them.
    chosen = fx.Median(epsilon=round(1.2 * enough.worst, 3), bounds=(0, 120), step=1)
    print(chosen.accuracy(town(np.random.default_rng(201), 1000)))

    # Only now the private ages, once, and for the epsilon that was chosen.
    with (DATA / "people.csv").open() as file:
        ages = [int(person["age"]) for person in csv.DictReader(file)]
    budget = fx.Budget(epsilon=chosen.epsilon)
    print(f"private median age: {chosen.release(ages, budget=budget)}, for {budget.spent}")


if __name__ == "__main__":
    main()
