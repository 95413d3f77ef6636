"""`release` and `sample` by group: from checked options to answers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._intake.records import Records
from .._keys.group_keys import columns_of
from .._keys.group_lists import settled
from .._keys.group_names import Names
from .._keys.key_columns import read, read_private
from .._parameters import validate
from .._parameters.foreign import agree, attribute
from .._randomness.release_key import query_digest, question_key
from .._randomness.sampling import Sampling
from .._randomness.streams import make_key
from .._typing import IntArray
from ..budget.budget import charge_and_draw
from ..budget.question import Questions
from ..errors import ParameterError, PrivacyWarning, warn
from .call_options import CallOptions
from .contribution import release_choice, sample_choice
from .intake import ragged, segments_of
from .mechanism import GroupedMechanism
from .private_groups import PrivateGroups, coin_of, deciding
from .request import FROM_DATA, checked_groups, is_from_data, question_of, rule_of
from .segments import Segments, draw_all
from .words import FreshWords, KeyedWords, SimulatedWords, WordSource

TELLS = (
    'groups="from-data" reveals which groups exist, even those of a single person: give the public '
    "list of groups"
)


def release_groups(mechanism: GroupedMechanism, records: Records, options: CallOptions) -> Any:
    """Return the released answer of each group, in their order, for checked options."""
    private = options.groups if type(options.groups) is PrivateGroups else None
    if private is not None:
        if options.by is None or options.membership == "public":
            raise ParameterError('private groups need by, and membership="private"')
        options = options._replace(groups=FROM_DATA)
    options = checked_groups(options)
    check = partial(_check_order, records.data, options)
    data, options = ragged(records, options)
    question: Any = question_of(options, mechanism)
    if private is not None:
        deciding(private, [mechanism], options.max_rows)  # or refuses
        question = question._replace(grouping="private groups")
        question = Questions((question, question._replace(mechanism=private, max_rows=1)))
    elif is_from_data(options.groups):
        warn(TELLS, PrivacyWarning)
    question.promise()  # refuses limits that mean nothing here
    draw = partial(drawn, mechanism, data, options, private)
    budget, label, no_retry = options.budget, options.label, private is not None
    answers = charge_and_draw(budget, label, question, draw, check, no_retry=no_retry)
    return tuple(answers) if is_from_data(options.groups) else answers


def drawn(
    mechanism: GroupedMechanism,
    records: object,
    options: CallOptions,
    private: PrivateGroups | None = None,
) -> Any:
    """Read records and draw, for a checked call.

    Return answers, or [groups, answers] if the groups come from the data.
    """
    if private is not None:  # keys are read once: a stream may not be readable again
        by = [read_private(column) for column in columns_of(options.by, "by")]
        person = None if options.person is None else read(options.person, "person", modulo=True)
        options = options._replace(by=by, person=person)
    segments, names, indices = _released(mechanism, records, options)
    if private is not None:
        decider = deciding(private, [mechanism], options.max_rows)
        if decider is None:
            coin = coin_of(private, mechanism, options.person, options.max_rows)
            coins = _released(coin, records, options._replace(nan="drop", max_rows=1))[2]
            appearing = np.flatnonzero(coins == 1)
        else:
            counts = np.diff(segments.offsets) > 0
            appearing = np.flatnonzero((indices[:, -1] >= decider.threshold) & counts)
        names = settled(names.taken(appearing), [[]] * len(names.kinds))
        indices = indices[appearing]
    return _answers(mechanism, names, indices, options, released=True)


def _released(
    mechanism: GroupedMechanism, records: object, options: CallOptions
) -> tuple[Segments, Names, IntArray]:
    """Return records by group, the groups, and a released draw of each."""
    key, label = options.key, options.label or ""  # a key goes with a label
    choice = partial(release_choice, key, mechanism, label)
    segments, names = segments_of(mechanism, records, options, choice, whole=key is not None)
    words: WordSource = FreshWords()
    if key is not None:
        question = query_digest(mechanism, label, rule_of(options))
        words = KeyedWords(question_key(key, question), names)
    indices = draw_all(mechanism._draws(segments, words, 1), 1, options.threads)
    return segments, names, indices[:, 0]


def sample_groups(
    mechanism: GroupedMechanism,
    records: Records,
    options: CallOptions,
    sampling: Sampling,
    with_labels: bool = False,
) -> Any:
    """Return simulated draws of shape (groups,), or (groups, size), for checked options.

    `with_labels` gives candidates, as a release does, instead of their indices.
    """
    if type(options.groups) is PrivateGroups:
        raise ParameterError("private groups are available in release and in Query.sample")
    if sampling.streams is not None:
        raise ParameterError("streams must be None with groups, whose streams have their names")
    if validate.method(sampling.method) != "envelope":
        raise ParameterError('method must be None or "envelope" with groups')
    draws = validate.size(sampling.size)
    options, seed = checked_groups(options), make_key(sampling.rng)
    _check_order(records.data, options)
    data, options = ragged(records, options)
    choice = partial(sample_choice, seed)
    segments, names = segments_of(mechanism, data, options, choice, whole=False)
    words = SimulatedWords(seed, names)
    count = 1 if draws is None else draws
    indices = draw_all(mechanism._draws(segments, words, count), count, options.threads)
    indices = indices[:, 0] if draws is None else indices
    answers = _answers(mechanism, names, indices, options, released=with_labels)
    return tuple(answers) if is_from_data(options.groups) else answers


def _check_order(records: object, options: CallOptions) -> None:
    """Refuse series of pandas whose index matches other rows than their order does."""
    index = attribute(records, "index")
    columns = [("by", keys) for keys in columns_of(options.by, "by")]
    for argument, keys in (*columns, ("person", options.person)):
        if not agree(index, attribute(keys, "index")):
            raise ParameterError(
                f"{argument} must have the same index as the records: align them, or use "
                ".to_numpy()"
            )


def _answers(
    mechanism: GroupedMechanism,
    names: Names,
    indices: IntArray,
    options: CallOptions,
    released: bool,
) -> Any:
    """Return the groups' answers, with the groups if these come from the data."""
    if options.by is None and options.offsets is None and options.groups is None:
        return mechanism._answer(indices[0], released)  # all records are one data set
    answers = mechanism._answer(indices, released)
    return [names.labels(), answers] if is_from_data(options.groups) else answers
