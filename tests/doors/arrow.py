"""Arrow columns by the C interface: malformed streams cannot be made through a public call."""

from __future__ import annotations

from fastexp._arrow import arrow, c_interface
from fastexp._arrow.c_interface import Array, Schema, Stream
