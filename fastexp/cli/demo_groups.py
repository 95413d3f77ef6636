"""The demo's chapter on answers by group: a median age for each marital status."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from . import output, reading
from .demo_numbers import OLDEST

if TYPE_CHECKING:
    from .._typing import IntArray

EPSILON = 0.01
STORY = """
What is the median age for each marital status?

The list of groups is public. Everybody is in one of them, so all answers together cost {epsilon},
as one does. The fewer people there are in a group, the farther off its answer may be.
"""


def records() -> tuple[list[str], IntArray]:
    """The marital status and the age of everybody in the census file."""
    import numpy as np

    with as_file(files("fastexp") / "data" / "ages_by_status.csv") as path:
        counts = reading.pairs(str(path))
    pairs = [name.rpartition("/") for name in counts.candidates]
    people = np.array(counts.utilities, np.int64)
    status = [s for (s, _, _), n in zip(pairs, people.tolist(), strict=True) for _ in range(n)]
    return status, np.repeat([int(age) for _, _, age in pairs], people)


def medians(groups: tuple[str, ...]) -> list[dict[str, Any]]:
    """A released median age for each group, with its expected error.

    Parameters
    ----------
    groups : tuple of str
        The public list.

    Returns
    -------
    list of dict
    """
    import numpy as np

    from .. import Median

    status, ages = records()
    mechanism, found = Median(EPSILON, (0, OLDEST), step=1), []
    released = mechanism.release(ages, by=status, groups=groups).tolist()
    of_each = np.array(status)
    for group, answer in zip(groups, released, strict=True):
        own = np.sort(ages[of_each == group])
        error = mechanism.law(own).expected_error(int(own[(own.size - 1) // 2]))
        found.append({"group": group, "released": answer, "expected_error": error})
    return found


def tell(found: list[dict[str, Any]]) -> None:
    """Print the chapter."""
    print(STORY.format(epsilon=EPSILON))
    rows = [(s["group"], str(s["released"]), f"{s['expected_error']:.2f} years") for s in found]
    output.table(("marital status", "median age", "expected error (not private)"), rows)
