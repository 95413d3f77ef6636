"""Job 4: a price of high revenue, and what privacy costs, first on invented bids."""

from pathlib import Path

import numpy as np

import fastexp as fx

DATA = Path(__file__).parents[2] / "docs" / "data"


def main() -> None:
    # The rents that can be asked are public: 400, 450, ..., 4,000. They do not come from the data.
    price = fx.Price(epsilon=0.5, grid=range(400, 4001, 50))

    # How much revenue is lost? Invented bids of as many tenants show it, and are not private.
    invented = np.random.default_rng(1).normal(1400, 400, size=500).round()
    law = price.law(invented)
    best = law.expected_utility() + law.expected_loss()
    print(f"on invented bids: {law.expected_utility() / best:.1%} of the best revenue on average,")
    print(f"and with probability 95 % at least {1 - law.loss_quantile(0.95) / best:.1%} of it")

    # The real bids: each tenant of Oslo would pay the present rent of the dwelling.
    rows = np.genfromtxt(DATA / "rents.csv", delimiter=",", names=True, dtype=None, encoding="utf8")
    bids = rows["rent"][rows["town"] == "Oslo"]
    budget = fx.Budget(epsilon=0.5)
    asked = price.release(bids, budget=budget)  # private: fresh randomness, no seed
    print(f"ask {asked:,}; one bid more or fewer changes its probability by e^0.5 at most")
    print(f"{price.guarantee.neighbors} relations; {budget.remaining} of the budget remains")


if __name__ == "__main__":
    main()
