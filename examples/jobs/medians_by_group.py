"""Job 1: the median rent of each town, within a budget that a second run does not spend again."""

from pathlib import Path

import numpy as np

import fastexp as fx

DATA = Path(__file__).parents[2] / "docs" / "data"
TOWNS = ["Bern", "Cork", "Oslo", "Rome", "Turku"]  # public: all towns of interest, data or not


def main() -> None:
    rows = np.genfromtxt(DATA / "rents.csv", delimiter=",", names=True, dtype=None, encoding="utf8")
    rents = {name: rows[name] for name in rows.dtype.names}  # a frame of any library will do

    # An owner may have dwellings in several towns: two of them count, and one dwelling in each.
    query = fx.Query(by="town", groups=TOWNS, person="owner", max_groups=2, max_rows=1)
    answers = {"median": (fx.Median(epsilon=0.4, bounds=(0, 5000), step=10), "rent")}
    total = query.total(answers)  # twice 0.4, as an owner is in two towns
    print(f"an owner is protected with epsilon = {total.epsilon}")

    # The file counts what all releases about these owners cost, of this run and of later ones.
    budget = fx.Budget.file("rents.budget", epsilon=1.0)
    table = query.release(rents, answers, budget=budget, label="rents of spring")
    for town, median in zip(table["town"], table["median"], strict=True):
        print(f"{town:6}{median:6,}")  # Turku has no dwellings, which is private, too

    again = query.release(rents, answers, budget=budget, label="rents of spring")
    same = (again["median"] == table["median"]).all()  # answers from the file are free
    print(f"spent {budget.spent} of 1.0; the same label again: the same answers, {same}")

    try:
        query.release(rents, answers, budget=budget, label="rents of summer")
    except fx.BudgetExceeded as refusal:
        print(f"refused: {refusal}")


if __name__ == "__main__":
    main()
