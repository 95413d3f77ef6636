"""Laws draw themselves: a selection beside its draws, and a price at three values of epsilon."""

import matplotlib.pyplot as plt
import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    schooling = style.table("people.csv")["educ"]
    homes = style.table("rents.csv")
    bids = homes["rent"][homes["town"] == "Oslo"]
    level = fx.MostCommon(epsilon=0.02, candidates=range(1, 17)).law(schooling)
    price = fx.Price(epsilon=0.5, bounds=(0, 4000), step=50).law(bids)
    figure, (above, below) = plt.subplots(2, figsize=(6, 8), height_ratios=[3, 2])
    level.plot(above, draws=level.sample(1_000, rng=1))
    price.plot(below)
    style.end(figure, arguments)


if __name__ == "__main__":
    main()
