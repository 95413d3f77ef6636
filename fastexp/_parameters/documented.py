"""The descriptions of parameters that many functions share, for their docstrings.

In a numpydoc section Parameters or Raises, a line that has only names, without a type and a
description, stands for the entries below with these names. `documented` inserts them, so that
``help()`` is complete.
"""

from __future__ import annotations

import re
from functools import update_wrapper
from types import FunctionType
from typing import TypeVar

Documented = TypeVar("Documented")

PARAMETERS = """\
epsilon : float
    Privacy parameter of each answer, in nats; in [1e-9, 1e6] unless `any_epsilon`.
any_epsilon : bool
    Lift the limits on epsilon.
sensitivity : float
    Δ > 0: the most that one record can change the utility of any one candidate, for the
    neighbours that you have in mind, in units of the utility.
monotonic : bool
    One record moves all utilities in the same direction: the factor 2 is not needed, and
    weights are exp(εu/Δ). **Counts are monotonic when records are added or removed, but not
    when a record is replaced** (one count rises and another falls): under the replace relation
    leave it False, or the true ε is twice the stated one. `MostCommon` sets this by itself.
candidates : sequence of hashable, optional
    Public labels, two or more, distinct; a release returns them. Default: indices.
bounds : (number, number)
    Public limits, lower < upper, chosen without looking at the data; records outside are
    clamped to them.
step : number, optional
    The distance between grid points. It must divide the bounds (as decimals: 0.1 divides
    1). Answers are ints if bounds and step are. Default: 2**40 steps, fewer where doubles
    are no closer. A record counts at the nearest point; half-way between two points, at
    the one of even index, counted from 0.
grid : array_like or DigitGrid, optional
    Public points within the bounds, increasing, instead of `step`. Without bounds, the
    first and the last point are the bounds. If you know no bounds, ``fastexp.digits(3)``
    has all numbers of three significant digits.
neighbors : {"add-remove", "replace"}
    What one person may do: join or leave (add-remove), or change their record (replace).
    At equal ε answers under add-remove are about twice as accurate.
widen : number
    For equal records on a fine grid: the distance of a point is the smallest one among the
    points within `widen` of it. Public, in units of the records. Floats are read as the
    decimals that they print: 0.8 is within 0.1 of 0.7.
with_total : bool
    Answers are (value, total). The total is a private number of records; it costs no epsilon,
    but the value is less accurate. Both have the law of `Quantiles` with this one quantile.
    Needs add-remove, the weak convention, no `widen`, and an epsilon of at most 1024.
records : array_like, str, Path, callable or tuple
    One number for each person: an array, list, series or Arrow column of integers or
    floats, a path to a .npy file, a callable that returns an iterator of arrays (a new one
    at each call), or a tuple of two sequences, (values, counts). Decimals and fractions are
    read as the nearest double. Records outside the bounds are clamped to them.
by : array_like, shape (n,), or list of them, optional
    The group of each record: integers, text, booleans, dates or timestamps without a
    zone, of any array or column type; ``[city, year]``: of several columns. Records
    of groups that are not in `groups`, and of none (null), are left out.
groups : sequence, or what `fastexp.product` gives, optional
    With `by`: the public list of groups to answer, without repetition; for several
    columns, of tuples. Groups without records are answered, too. A `PrivateGroups` shows
    groups of the data that have enough persons. ``"from-data"`` takes all groups of the
    data, which are private, and gives a `PrivacyWarning`. With `offsets`, rows or lists:
    their names, one each.
offsets : array_like of int, shape (m + 1,), optional
    For records that already lie group by group: those of group i are
    ``records[offsets[i]:offsets[i + 1]]``.
person : array_like, shape (n,), optional
    The person of each record: keys as in `by`. The records of a person count in at most
    `max_groups` of the groups, and at most `max_rows` of them in each, chosen by a keyed
    hash. Records without a person (null) are left out.
max_groups, max_rows : int
    The most groups that a person can be in, and the most records that a person can have in
    each of them. Without `person` this is your claim, which is not checked.
disjoint, membership
    As for `total`: they decide what a budget is charged for rows and groups. With
    `person` membership is private, as the groups in which a person counts may depend on
    their records.
key : ReleaseKey, optional
    With the same key, label, mechanism, group and records the answer is the same, so that
    a retry is not a second release. Needs `label`. See `release_key` for its limits.
label : str, optional
    The name of the release; needs `budget` or `key`. The budget keeps the answers under
    this name, and the same call returns them again without a charge, even if the data have
    changed. With a key it distinguishes queries: two of them must not share a label.
budget : Budget, optional
    Is charged the `total` of the whole call before the data are read. The charge is never
    refunded, even if the release then fails.
size : int, optional
    The number of draws from each row, data set or group. None: one, without an axis for it.
rng : {None, int, array_like[ints], SeedSequence, BitGenerator, Generator}, optional
    None: randomness of the operating system. An int or `SeedSequence` always gives the same
    draws; a generator advances (Scientific Python's SPEC 7). **A seeded draw is not a
    private release.**
streams : array_like of int, shape (rows,), optional
    The name of each row's stream, in [0, 2**64); default: the number of the row. A single
    row or data set is row 0. Row i alone, with ``streams=[i]``, gives the same draws.
threads : int
    The number of threads; 0: as many as the process may use. It never changes the draws.
x : array_like
    Numbers, infinite ones too.
t : array_like
    Numbers in units of the utility.
p : array_like
    Probabilities, in [0, 1].
truth : array_like, optional
    The true statistic: finite numbers, which need not be possible outputs. Default: `truth`, the
    statistic of the data.
"""

ERRORS = """\
ParameterError, ParameterTypeError
    If a parameter is outside its range or of the wrong type.
BudgetExceeded
    If the rest of the budget does not cover it: nothing is drawn or charged.
LabelError
    If the label belongs to another question, or was used up by a failure.
BudgetError
    If the budget cannot be used.
RandomnessError
    If the operating system gives no randomness.
"""

ENTRY = re.compile(r"^(\S.*?)(?: :.*)?(?:\n .*)+", re.MULTILINE)
SECTION = re.compile(r"^( *)(Parameters|Raises)\n\1-+\n((?:.*\S.*\n?)+)", re.MULTILINE)


def documented(thing: Documented) -> Documented:
    """Complete the docstrings of a function, or of a class and its methods; return it."""
    members = vars(thing).values() if isinstance(thing, type) else ()
    functions = (getattr(member, "__func__", member) for member in members)
    for each in (thing, *(f for f in functions if isinstance(f, FunctionType))):
        if each.__doc__:
            each.__doc__ = SECTION.sub(_completed, each.__doc__)
    return thing


def own_methods(cls: type) -> None:
    """Copy inherited methods into a class, so that the TypeError of a call has the class's name.

    Abstract classes have no copies: these would hide the methods of other bases of a subclass.
    """
    members = {name: each for base in reversed(cls.__mro__) for name, each in vars(base).items()}
    if any(getattr(each, "__isabstractmethod__", False) for each in members.values()):
        return
    for name, inherited in members.items():
        if name in vars(cls) or name.startswith("_") or not isinstance(inherited, FunctionType):
            continue
        code, defaults, closure = inherited.__code__, inherited.__defaults__, inherited.__closure__
        method = FunctionType(code, inherited.__globals__, name, defaults, closure)
        update_wrapper(method, inherited)
        del method.__dict__["__wrapped__"]
        method.__kwdefaults__, method.__module__ = inherited.__kwdefaults__, cls.__module__
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)


def _completed(section: re.Match[str]) -> str:
    """Return a section with an entry for each name that stands alone."""
    indent, title, body = section.groups()
    entries = TABLES[title]

    def entries_of(line: re.Match[str]) -> str:
        names = [line[1]] if line[1] in entries else line[1].split(", ")
        return "\n".join(f"{indent}{text}" for name in names for text in entries[name])

    bare = rf"^{indent}(\w+(?:, \w+)*)$(?!\n{indent} )"
    return section[0].removesuffix(body) + re.sub(bare, entries_of, body, flags=re.MULTILINE)


# The lines of each entry, by section and by the names before its type.
TABLES = {
    title: {entry[1]: entry[0].splitlines() for entry in ENTRY.finditer(text)}
    for title, text in (("Parameters", PARAMETERS), ("Raises", ERRORS))
}
