"""``fastexp demo``: a short story on real data; its exact figures are for learning, not private.

PEOPLE has the 32,561 people of the Adult data by marital status: how many are 17, 18, ... years
old. Becker and Kohavi, "Adult", UCI Machine Learning Repository (1996), from the United States
census of 1994, https://doi.org/10.24432/C5XW20, licence CC BY 4.0; counted, not changed.
"""

from __future__ import annotations

from typing import Any

from .answer import print_table

PEOPLE = """
Married-civ-spouse,2,7,15,38,53,74,109,173,204,234,270,333,340,394,415,420,428,466,459,476,497,
499,448,432,470,448,459,431,420,435,450,320,345,403,386,301,289,273,257,223,227,229,227,214,203,
160,145,127,107,89,88,68,65,53,36,36,41,24,22,21,17,13,15,12,8,4,2,4,1,,,2,,20;Never-married,393,
539,681,695,651,651,717,567,562,468,477,418,347,320,305,245,258,242,210,198,158,135,151,135,107,
94,90,93,80,76,60,47,53,33,45,35,35,33,24,27,22,30,24,8,14,15,13,15,7,8,7,8,6,6,8,2,3,1,4,2,3,2,,
3,,1,,1,,1,,,,14;Divorced,,1,6,7,4,16,28,29,38,48,56,71,85,95,117,122,126,121,147,163,146,146,166,
166,171,173,165,156,178,162,144,123,127,124,108,90,95,69,84,73,62,69,57,54,44,37,29,23,23,14,21,
14,10,9,6,7,2,5,2,2,1,,,,3,,1,,,,,1,,1;Separated,,1,5,8,6,12,19,21,23,24,21,31,22,30,34,29,45,42,
35,40,41,30,32,39,35,38,35,25,23,34,25,20,20,18,22,19,13,11,14,11,11,4,13,6,4,5,6,6,3,2,1,2,3,,1,
2,,1,,,,,,,,,,,,,,,,2;Widowed,,1,,,,2,,,1,2,2,2,1,4,7,2,3,2,10,14,6,6,10,7,13,13,6,9,23,16,14,20,
21,13,26,21,27,25,36,25,31,31,30,25,29,41,34,36,38,36,33,26,23,21,21,18,17,19,14,21,6,8,6,6,9,7,3,
5,2,,1,,,6;Married-spouse-absent,,1,3,5,6,9,4,7,13,7,8,11,15,15,10,9,15,12,13,7,10,10,9,14,12,14,
14,10,10,14,14,13,11,11,8,12,5,4,4,7,5,3,4,5,6,,3,1,,1,1,2,1,,,2,1,1,2,,2,,1,1;Married-AF-spouse,,
,2,,,1,,1,,2,1,1,3,3,,1,,1,2,,,1,,1,,,1,,,,1,,,,,,,,,,,,,,,,,,,,,,,,,,,,1
"""
EPSILONS, BIDS = (0.0001, 0.001, 0.01), [1, 1, 1, 3.01]
STATUS = (
    "What is the most common marital status of the 32,561 people in the Adult census file?\n\n"
    "The exponential mechanism draws one of 7 public candidates, the likelier the more\n"
    "people have it; epsilon says how much likelier. A small one protects more (were\n"
    "you counted?) and errs more.\n"
)
MEDIAN = (
    "\nWhat is their median age?\n\n"
    "A private median is one of 0, 1, ..., 120, the likelier the fewer people would have\n"
    "to join or leave to make it the median. Bounds taken from the file would tell how\n"
    "old its youngest and oldest person are: they are chosen unseen.\n"
)
GROUPS = (
    "\nWhat is the median age for each marital status?\n\n"
    "The list of groups is public. Everybody is in one of them, so that all answers\n"
    "together cost 0.01, as one does. The fewer people, the farther off it may be.\n"
)
PRICE = (
    "\nAt which price does one sell most to four people who bid 1, 1, 1 and 3.01?\n\n"
    "At 1 all four buy, a revenue of 4.00. At 1.01 it is 1.01, and at 3.02 nothing:\n"
    "noise added to the best price would ruin it. A price of 0, 0.001, ..., 3.5 is drawn,\n"
    "the likelier the higher its revenue. Among so few only a large epsilon comes near.\n"
)
AFTER = (
    "\nThe answers are private releases, new each time; those about the census file cost\n"
    "an epsilon of 0.0322 together. What is not private comes from the exact law, without\n"
    "noise, and is for learning. Of data that needs protection, publish the answers only.\n\n"
    "Try next, with pip install 'fastexp[frames]' for files:\n"
    "  fastexp median FILE --column C --epsilon 1 --bounds A B --step S"
)
ERROR = "expected error (not private)"


def demo() -> None:
    """Print the story."""
    import numpy as np

    import fastexp as fx

    people = {}
    for line in PEOPLE.replace("\n", "").split(";"):
        name, *counts = line.split(",")
        people[name] = np.repeat(np.arange(17, 17 + len(counts)), [int(n or 0) for n in counts])
    ages, sizes = np.concatenate([*people.values()]), [some.size for some in people.values()]
    statuses = np.repeat([*people], sizes)
    print(STATUS)
    chosen: list[Any] = []
    chances = []
    for epsilon in EPSILONS:
        selection = fx.MostCommon(epsilon, [*people])
        chosen.append(selection.release(statuses))
        law = selection.law(statuses)
        chances.append(f"{law.probabilities[[*people].index(chosen[-1])]:.6f}")
    print_table(
        {"selected": chosen, "at epsilon": EPSILONS, "its probability (not private)": chances}
    )
    print(MEDIAN)
    medians = [fx.Median(epsilon, (0, 120), step=1) for epsilon in EPSILONS]
    chosen = [median.release(ages) for median in medians]
    errors = [f"{median.law(ages).expected_error():.2f} years" for median in medians]
    print_table({"median age": chosen, "at epsilon": EPSILONS, ERROR: errors})
    print(GROUPS)
    query, median = fx.Query(by="status", groups=[*people]), medians[-1]
    found = query.release({"status": statuses, "age": ages}, {"median age": (median, "age")})
    errors = [f"{median.law(some).expected_error():.2f} years" for some in people.values()]
    print_table({**found, ERROR: errors})
    print(PRICE)
    prices = {epsilon: fx.Price(epsilon, (0, 3.5), step=0.001) for epsilon in (0.01, 1, 5, 50)}
    chosen = [price.release(BIDS) for price in prices.values()]
    means = [f"{4 - price.law(BIDS).expected_loss():.2f}" for price in prices.values()]
    print_table({"price": chosen, "at epsilon": [*prices], "expected revenue (not private)": means})
    print(AFTER)
