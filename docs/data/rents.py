"""Writes rents.csv, whose records are invented: ``python docs/data/rents.py``."""

import csv
from pathlib import Path

import numpy as np

TOWNS = {"Bern": 1400, "Cork": 1100, "Oslo": 1250, "Rome": 900}  # and a typical rent


def main() -> None:
    generator = np.random.default_rng(2026)
    towns = generator.choice(list(TOWNS), size=2000, p=[0.15, 0.1, 0.35, 0.4])
    owners = generator.integers(1, 1400, size=2000, endpoint=True)
    rooms = generator.integers(1, 5, size=2000, endpoint=True)
    typical = np.array([TOWNS[town] for town in towns])
    rents = typical * np.sqrt(rooms / 2.5) * generator.lognormal(0, 0.25, size=2000)
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["owner", "town", "rooms", "rent"])
        writer.writerows(zip(owners, towns, rooms, rents.round().astype(int), strict=True))


if __name__ == "__main__":
    main()
