"""``fastexp demo``: a private choice and a private number, with what a user should know."""

from __future__ import annotations

AGES = {19: 310, 24: 420, 31: 560, 37: 610, 42: 480, 48: 390, 55: 280, 63: 190, 71: 80}
VOTES = {"tea": 310, "coffee": 350, "water": 120}


def demo() -> int:
    """Print the story and return the exit code 0."""
    import fastexp as fx

    choice = fx.Exponential(epsilon=0.1, sensitivity=1, monotonic=True, candidates=list(VOTES))
    counts = list(VOTES.values())
    shares = fx.probabilities(counts, 0.1, 1, monotonic=True)
    median = fx.Median(epsilon=0.1, bounds=(0, 120), step=1)
    ages = [age for age, people in AGES.items() for _ in range(people)]
    draws = median.sample(ages, size=1000, rng=1)
    print(
        f"Which drink is the most popular among {sum(counts)} people?\n"
        f"  private answer: {choice.release(counts)}   (costs epsilon = 0.1)\n"
        f"  exact law, not private: "
        + ", ".join(f"{name} {share:.3f}" for name, share in zip(VOTES, shares, strict=True))
        + f"\n\nWhat is the median age of {len(ages)} people?\n"
        f"  private answer: {median.release(ages)}   (costs epsilon = 0.1)\n"
        f"  1,000 simulated answers, not private: between {draws.min()} and {draws.max()}\n\n"
        "One person more or fewer changes the probability of each answer by a factor of at most\n"
        "e^0.1 = 1.11. Each release costs its epsilon: two answers cost 0.2."
    )
    return 0
