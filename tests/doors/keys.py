"""Codes of group keys, at sizes and collisions that no public call reaches."""

from __future__ import annotations

from fastexp._keys import group_keys, group_names, key_columns, key_tables
from fastexp._keys.group_keys import Codes, codes_of, numbered
from fastexp._keys.group_lists import names_of, names_of_columns, names_of_tuples
from fastexp._keys.group_names import KeyNames, Names
from fastexp._keys.key_columns import joined, read
from fastexp._keys.keys import Keys
