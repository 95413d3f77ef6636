"""A check of the processor's arithmetic, made where calls begin.

Another library may have left a thread with another rounding mode, or with subnormal numbers
flushed to zero (as code compiled with -ffast-math does when it is loaded). Then error bounds do
not hold, and a rounded place may lie outside its array. Threads that a call starts inherit the
caller's state.
"""

from __future__ import annotations

from ..errors import RoundingModeError

# Names, because Python would fold a constant expression when it compiles.
ONE, TINY = 1.0, 2.0**-60
MORE, LEAST = 1.5 * 2.0**-1022, 2.0**-1022  # normal numbers, whose difference is subnormal


def check_rounding() -> None:
    """Refuse to compute if the processor does not round to nearest, subnormals included.

    If it rounds up, 1 + TINY is more than 1; if down or towards zero, 1 - TINY is less than 1.

    Raises
    ------
    RoundingModeError
        If it does not.
    """
    if ONE + TINY != ONE - TINY:
        raise RoundingModeError("the processor's rounding mode must be to nearest")
    if not MORE - LEAST:
        raise RoundingModeError("the processor must not flush subnormal numbers to zero")
