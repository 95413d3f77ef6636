"""The answers that a call asks for: their names, mechanisms and columns, checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from ..._compiler.rounding import check_rounding
from ..._intake.arrays import MISSING
from ..._parameters import validate
from ...errors import InvalidRecords, ParameterError, ParameterTypeError
from ...grouped.mechanism import GroupedMechanism

FORM = (
    "answers must be a dict from the name of each answer to its mechanism and the column of its "
    'records, as {"median": (fastexp.Median(...), "rent")}'
)
GAPS = "records of column {!r} must not be missing or NaN (see the argument nan)"
MAX_ANSWERS = 62  # answers in a call: on disk a row has a bit for each, and one for the coin


class Answer(NamedTuple):
    """One answer of a call: a column of the result, or a column for each entry of a list."""

    name: str
    mechanism: GroupedMechanism
    column: str
    nan: str  # what the mechanism does with missing records
    expand: bool = False

    @property
    def values(self) -> tuple[str, ...]:
        """The name of each value; a single value has the name of the answer."""
        entries = self.mechanism._entries
        return tuple(f"{self.name}_{entry}" for entry in entries) or (self.name,)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns in the result."""
        return self.values if self.expand else (self.name,)


def answers_of(
    answers: object, taken: tuple[str, ...], nan: object, expand: object = False
) -> tuple[Answer, ...]:
    """Check the answers of a call; their columns cannot have the names `taken`.

    nan: what to do with missing records, for all answers or for each by name.
    expand: whether a list gets a column for each of its entries.
    """
    check_rounding()
    wide = validate.flag("expand", expand)
    if not isinstance(answers, Mapping):
        raise ParameterTypeError(f"{FORM}, got {type(answers).__name__}")
    if not 0 < len(answers) <= MAX_ANSWERS:
        raise ParameterError(f"answers must be at least one and at most {MAX_ANSWERS}")
    policies = dict(nan) if isinstance(nan, Mapping) else dict.fromkeys(answers, nan)
    unknown = [name for name in policies if name not in answers]
    if unknown:
        raise ParameterError(f"nan must be for names of answers, got {unknown[0]!r}")
    checked = tuple(
        _answer(name, answer, policies.get(name, "raise"), wide) for name, answer in answers.items()
    )
    columns = [name for answer in checked for name in answer.columns]
    for i, name in enumerate(columns):
        if name in taken:
            raise ParameterError(f"answers must not have the name of a column of by, got {name!r}")
        if name in columns[:i]:
            raise ParameterError(
                f"answers must have distinct names, also among those of entries, got {name!r}"
            )
    relations = {answer.mechanism.guarantee.neighbors for answer in checked} - {"both"}
    if len(relations) > 1:
        named = " and ".join(sorted(map(repr, relations)))
        raise ParameterError(
            f"answers must have promises with the same neighbors, got {named}: request them in two "
            "calls"
        )
    return checked


def _answer(name: object, answer: object, nan: object, expand: bool) -> Answer:
    name = column_name("the names of answers", name)
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise ParameterTypeError(
            f"{FORM}; answer {name!r} is no pair (mechanism, column), but of type "
            f"{type(answer).__name__}"
        )
    mechanism, column = answer
    if GroupedMechanism not in type(mechanism).__mro__:  # isinstance would look for each method
        kind = type(mechanism).__name__
        raise ParameterTypeError(
            f"answer {name!r} must have a mechanism such as Median, Quantile, Price or MostCommon, "
            f"got {kind}"
        )
    return Answer(name, mechanism, column_name("column", column), mechanism._policy(nan), expand)


def column_name(argument: str, name: object) -> str:
    """Return a name that a column of every engine can have; refuse any other."""
    if not isinstance(name, str):
        raise ParameterTypeError(f"{argument} must be names of columns, got {type(name).__name__}")
    plain = str.__str__(name)
    if not plain or not validate.is_utf8(plain):
        raise ParameterError(
            f"{argument} must be names of columns: not empty, and without lone surrogates, got "
            f"{plain!r}"
        )
    return plain


@contextmanager
def naming(column: str) -> Iterator[None]:
    """Name this column in errors about missing records."""
    missing = False
    try:
        yield
    except InvalidRecords as error:
        missing = str(error) == MISSING
        if not missing:
            raise
    if missing:  # raised outside the handler, so that no traceback leads to the records
        raise InvalidRecords(GAPS.format(column))


def label_of(answer: Answer, answers: tuple[Answer, ...], label: str) -> str:
    """Return the label of an answer's random words: the call's label, if it has one answer.

    With several answers, a slash and the answer's name follow, with ~1 for a slash in the name and
    ~0 for a tilde.
    """
    if len(answers) == 1:
        return label
    return f"{label}/{answer.name.replace('~', '~0').replace('/', '~1')}"
