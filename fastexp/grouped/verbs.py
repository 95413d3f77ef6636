"""`release` and `sample` by group: from the public arguments to answers."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

from .._compiler.rounding import check_rounding
from .._intake.records import Records
from .._keys.group_keys import columns_of
from .._keys.group_names import Names
from .._parameters import validate
from .._parameters.foreign import agree, attribute
from .._randomness.release_key import ReleaseKey
from .._randomness.sampling import Sampling
from .._randomness.streams import make_key
from .._typing import IntArray, Membership
from ..budget.budget import Budget, once
from ..errors import ParameterError, PrivacyWarning
from .contribution import release_choice, sample_choice
from .intake import ragged, segments_of
from .mechanism import GroupedMechanism
from .request import Request, check_key, is_from_data
from .segments import draw_all
from .words import FreshWords, KeyedWords, SimulatedWords, Words

TELLS = (
    'groups="from-data" tells which groups exist, whoever may be the only one in theirs: give the '
    "public list of groups"
)


def release(
    mechanism: GroupedMechanism,
    records: Records,
    request: Request,
    key: ReleaseKey | None,
    label: str | None,
    budget: Budget | None,
    threads: int,
    nan: str,
    disjoint: bool,
    membership: Membership,
) -> Any:
    """The answer of each group, in their order."""
    check_rounding()
    workers, request = validate.threads(threads), request.checked()
    label, check = check_key(key, label, budget), partial(_aligned, records.data, request)
    data, request = ragged(records, request)
    rows = 1 if request.offsets is None else request.offsets.size - 1
    question = request.question(mechanism, rows, disjoint, membership, nan, label)
    question.promise()  # refuses limits that mean nothing here
    if is_from_data(request.groups):
        warnings.warn(TELLS, PrivacyWarning, stacklevel=3)

    def draw() -> Any:
        return drawn(mechanism, data, request, key, label, workers, nan)

    answers = once(budget, label, question, draw, check)
    return tuple(answers) if is_from_data(request.groups) else answers


def drawn(
    mechanism: GroupedMechanism,
    records: object,
    request: Request,
    key: ReleaseKey | None,
    label: str | None,
    threads: int,
    nan: str,
) -> Any:
    """Read records and draw, of a checked request: answers, or [groups, answers] of the data's."""
    line = "" if label is None else label  # a key goes with a label
    choice = partial(release_choice, key, mechanism, line)
    segments, names = segments_of(
        mechanism, records, request, nan, choice, threads, whole=key is not None
    )
    words: Words = FreshWords()
    if key is not None:
        words = KeyedWords(key, mechanism, line, request.rule(nan), names)
    indices = draw_all(mechanism._draws(segments, words, 1), 1, threads)
    return _answers(mechanism, names, indices[:, 0], request, released=True)


def sample(
    mechanism: GroupedMechanism,
    records: Records,
    request: Request,
    sampling: Sampling,
    nan: str,
) -> Any:
    """The same of simulated draws: shape (groups,), or (groups, size)."""
    check_rounding()
    if sampling.streams is not None:
        raise ParameterError("streams is for rows: groups are named by groups")
    if validate.method(sampling.method) != "envelope":
        raise ParameterError('method must be None or "envelope" with groups')
    workers, draws = validate.threads(sampling.threads), validate.size(sampling.size)
    request, seed = request.checked(), make_key(sampling.rng)
    _aligned(records.data, request)
    data, request = ragged(records, request)
    choice = partial(sample_choice, seed)
    segments, names = segments_of(mechanism, data, request, nan, choice, workers, whole=False)
    words = SimulatedWords(seed, names)
    many = 1 if draws is None else draws
    indices = draw_all(mechanism._draws(segments, words, many), many, workers)
    indices = indices[:, 0] if draws is None else indices
    answers = _answers(mechanism, names, indices, request, released=False)
    return tuple(answers) if is_from_data(request.groups) else answers


def _aligned(records: object, request: Request) -> None:
    """Refuse series of pandas whose rows are others by their index than by their order."""
    index = attribute(records, "index")
    columns = [("by", keys) for keys in columns_of(request.by, "by")]
    for argument, keys in (*columns, ("person", request.person)):
        if not agree(index, attribute(keys, "index")):
            raise ParameterError(
                f"{argument} must have the same index as the records: bring them into one order, "
                "or write .to_numpy()"
            )


def _answers(
    mechanism: GroupedMechanism, names: Names, indices: IntArray, request: Request, released: bool
) -> Any:
    """The groups' answers; with the groups, where these come from the data."""
    if request.by is None and request.offsets is None and request.groups is None:
        return mechanism._answer(indices[0], released)  # all records are one data set
    answers = mechanism._answer(indices, released)
    return [names.labels(), answers] if is_from_data(request.groups) else answers
