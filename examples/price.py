"""The revenue of each rent that one could ask, and which one a private answer is."""

import matplotlib.pyplot as plt
import numpy as np
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    homes = style.table("rents.csv")
    bids = homes["rent"][homes["town"] == "Oslo"]
    price = fx.Price(epsilon=0.5, bounds=(0, 4000), step=50)
    law = price.law(bids)
    revenue = np.array([point * (bids >= point).sum() for point in law.points])
    figure, (above, below) = plt.subplots(2, sharex=True, figsize=(6, 4.6))
    above.plot(law.points, revenue / 1000, "C2-")
    above.set(title=f"Secret: revenue of each price, {bids.size} rents as bids")
    above.set(ylabel="thousands", ylim=0)
    below.bar(law.points, law.probabilities, 42)
    part = law.probabilities @ revenue / revenue.max()
    below.set_title(f"Published: a price, on average {part:.0%} of the best (ε = 0.5)")
    below.set(xlabel="price", ylabel="probability", xlim=(0, 3000))
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
