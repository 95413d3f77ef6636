"""The request of a call by group: its checked options, and the question of a budget."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from .._keys.group_keys import columns_of
from .._keys.group_lists import names_of, names_of_tuples
from .._keys.group_names import KeyNames, Names, TupleNames
from .._keys.product import Product
from .._parameters import validate
from .._parameters.foreign import readable
from .._randomness.release_key import checked_key
from .._typing import IntArray, Membership
from ..budget.question import Question, groups_in_words
from ..errors import ParameterError, ParameterTypeError
from .call_options import CallOptions

FROM_DATA = "from-data"
LIST = b"fastexp.list"
MOVES = (
    "membership must be 'private' with person: the groups in which a person counts may depend on "
    "their records"
)
NAMED = (
    "by must have one entry for each record, got text: to name columns of a frame, use a query, "
    "fastexp.Query(by=..., groups=...).release(frame, {name: (mechanism, column)})"
)
OFFSETS = (
    "offsets must be integers, 0 <= offsets[0] <= offsets[1] <= ... <= the number of records: "
    "group i has the records from offsets[i] to offsets[i + 1]"
)


def rule_of(options: CallOptions) -> str:
    """Return the rule of which records count, for the words of a keyed release.

    With persons it has the list of groups, too: the list decides which records are kept.
    """
    if options.person is None:
        return f"nan={options.nan}"
    groups = "" if options.groups is None else FROM_DATA
    if isinstance(options.groups, Names):
        words = options.groups.name_words()
        in_order = words[np.lexsort(words.T)].tobytes()
        groups = hashlib.blake2b(in_order, digest_size=32, person=LIST).hexdigest()
    return f"nan={options.nan} groups={options.max_groups} rows={options.max_rows} of={groups}"


def checked_groups(options: CallOptions) -> CallOptions:
    """Validate the options of groups and persons, which must fit together."""
    readable(options.groups, "groups")
    readable(options.by, "by")
    if isinstance(options.by, str):
        raise ParameterTypeError(NAMED)
    if options.by is not None and options.offsets is not None:
        raise ParameterError("give by or offsets, not both")
    if options.by is not None and options.groups is None:
        raise ParameterError(
            "groups must be given with by: the public list of groups to answer, in the order "
            "of the answers. Which groups exist in the data is private "
            f'(groups="{FROM_DATA}" reveals it, with a warning)'
        )
    if options.by is None and is_from_data(options.groups):
        raise ParameterError(f'groups="{FROM_DATA}" needs by, the groups of the records')
    groups = options.groups
    if groups is not None and not is_from_data(groups):
        groups = listed_groups(groups, len(columns_of(options.by, "by")))
    offsets = None if options.offsets is None else whole_offsets(options.offsets)
    return options._replace(
        groups=groups,
        offsets=offsets,
        max_groups=validate.counting("max_groups", options.max_groups),
        max_rows=validate.counting("max_rows", options.max_rows),
    )


def question_of(options: CallOptions, mechanism: object) -> Question:
    """Return the question of a checked call.

    Its form is made only if there is a label, so that answers may be kept.
    """
    rows = 1 if options.offsets is None else options.offsets.size - 1
    # Persons with limits are in few of the segments, whatever the segments are.
    parted = options.by is not None or (options.person is not None and options.offsets is not None)
    is_kept = options.label is not None
    return Question(
        mechanism,
        rows=1 if parted else rows,
        disjoint=options.disjoint and not parted,
        groups=parted,
        membership=checked_membership(options.membership, options.person),
        max_groups=options.max_groups,
        max_rows=options.max_rows,
        form=(_form(options, rows), options.person is not None, options.nan) if is_kept else (),
        grouping=_grouping(options, rows),
        person=None if options.person is None else "persons bounded",
    )


def _grouping(options: CallOptions, rows: int) -> str:
    """Return a description of the groups that are answered."""
    if isinstance(options.groups, Names):
        return groups_in_words(options.groups.size)
    if options.by is not None:
        return "groups from the data"
    return "" if options.offsets is None else f"{rows} data sets"


def _form(options: CallOptions, rows: int) -> tuple[Any, ...]:
    """Return how records are grouped, and the list of groups in its order."""
    way = "by" if options.by is not None else "one" if options.offsets is None else "segments"
    if not isinstance(options.groups, Names):
        return way, rows, options.groups
    return way, rows, options.groups.kinds, list_digest(options.groups)


def list_digest(names: Names) -> str:
    """Return a digest of the public list, in its order."""
    words = names.name_words().tobytes()
    return hashlib.blake2b(words, digest_size=32, person=LIST).hexdigest()


def whole_offsets(offsets: object) -> IntArray:
    """Return offsets as integers >= 0 that never decrease."""
    array = validate.exact_array(offsets)
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu" or array.size == 0:
        raise ParameterTypeError(OFFSETS)
    plain = np.ascontiguousarray(array, dtype=np.int64)
    if plain[0] < 0 or bool((plain[1:] < plain[:-1]).any()):
        raise ParameterError(OFFSETS)
    return plain


def is_from_data(groups: object) -> bool:
    """Whether the groups are to be taken from the data."""
    return isinstance(groups, str) and str.__str__(groups) == FROM_DATA


def checked_membership(membership: object, person: object) -> Membership:
    """Return whether membership of groups is private; with persons it must be.

    A record that is left out (missing, or not a candidate) does not compete with the person's
    others. So a person who changes it counts in another group: both groups change by a step,
    although the groups of all records stay the same.
    """
    checked = validate.choice("membership", membership, ("private", "public"))
    if checked == "public" and person is not None:
        raise ParameterError(MOVES)
    return "public" if checked == "public" else "private"


def check_key(options: CallOptions) -> str | None:
    """Return the label; a release key goes with one, and a label with a key or a budget."""
    key, label = options.key, options.label
    if key is not None:
        checked_key(key)
    line = None if label is None else validate.line("label", label)
    if key is not None and label is None:
        raise ParameterError(
            "key needs label, which names the query, so that one key never serves two"
        )
    if label is not None and key is None and options.budget is None:
        raise ParameterError("label needs budget, which keeps the answers under it, or key")
    return line


def listed_groups(groups: object, width: int) -> Names:
    """Return the public list of groups: keys, or tuples of `width` keys."""
    if isinstance(groups, (KeyNames, TupleNames, Product)):
        names = groups.group_names() if isinstance(groups, Product) else groups
        if len(names.kinds) != width:
            raise ParameterError(
                f"groups must have as many columns as by ({width}), got {len(names.kinds)}"
            )
        return names
    return names_of(groups) if width == 1 else names_of_tuples(groups, width)
