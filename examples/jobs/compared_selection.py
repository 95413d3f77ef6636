"""Job 2: permute-and-flip compared with the exponential mechanism, and released."""

import csv
from pathlib import Path

import fastexp as fx

DATA = Path(__file__).parents[2] / "docs" / "data"
LEVELS = range(1, 17)  # of schooling: a public list


def main() -> None:
    kinds = ["exponential", "permute-and-flip"]
    rivals = {
        kind: fx.MostCommon(epsilon=0.05, candidates=LEVELS, mechanism=kind) for kind in kinds
    }

    # The comparison is on public counts, such as those of an earlier census; nothing is drawn.
    earlier = {9: 310, 13: 205, 10: 150, 11: 90, 14: 60, 12: 55, 8: 40, 7: 35, 5: 30, 1: 25}
    comparison = fx.compare(rivals, earlier)
    print(comparison)

    # For a single answer epsilon counts, and permute-and-flip never loses more at the same epsilon.
    # If many answers are added up in rho, the exponential mechanism costs less: see the column rho.
    best = min(comparison.rows, key=lambda row: row.accuracy.expected).name

    with (DATA / "people.csv").open() as file:
        levels = [int(person["educ"]) for person in csv.DictReader(file)]
    budget = fx.Budget(epsilon=0.05)
    level = rivals[best].release(levels, budget=budget)
    print(f"most common level of schooling, by {best}: {level}")


if __name__ == "__main__":
    main()
