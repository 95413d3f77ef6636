"""What all rooms share: how threads divide work, and types of arrays."""

from __future__ import annotations

from fastexp import _threads as threads
from fastexp._threads import in_parts
from fastexp._typing import AnyArray, IntArray
