"""Job 1: the median rent of each town, within a budget that a second run does not spend again."""

from pathlib import Path

import numpy as np

import fastexp as fx

DATA = Path(__file__).parents[2] / "docs" / "data"
TOWNS = ["Bern", "Cork", "Oslo", "Rome", "Turku"]  # public: all that one answers, data or not


def main() -> None:
    rows = np.genfromtxt(DATA / "rents.csv", delimiter=",", names=True, dtype=None, encoding="utf8")
    rents = {name: rows[name] for name in rows.dtype.names}  # a frame of any library will do

    # An owner may have dwellings in several towns: two of them count, and one dwelling in each.
    query = fx.Query(by="town", groups=TOWNS, person="owner", max_groups=2, max_rows=1)
    median = fx.Median(epsilon=0.4, bounds=(0, 5000), step=10)  # chosen without the data
    answers = {"median rent": (median, "rent")}
    print("an owner is protected with epsilon =", query.total(answers).epsilon)  # 2 towns: twice 0.4

    # The file counts what all releases about these owners cost, from now on and for good.
    budget = fx.Budget.file("rents.budget", epsilon=1.0)
    table = query.release(rents, answers, budget=budget, label="rents of spring")
    for town, rent in zip(table["town"], table["median rent"], strict=True):
        print(f"{town:6}{rent:6,}")  # Turku has no dwelling, and an answer: that it is so is private

    again = query.release(rents, answers, budget=budget, label="rents of spring")
    assert again["median rent"].tolist() == table["median rent"].tolist()  # kept, and free
    print("spent", budget.spent, "of 1.0; the same label again cost nothing")

    try:
        query.release(rents, answers, budget=budget, label="rents of summer")
    except fx.BudgetExceeded as refusal:
        print("refused, and nothing was drawn:", refusal)


if __name__ == "__main__":
    main()
