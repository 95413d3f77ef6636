"""What is known before anything is drawn: laws, simulated draws, accuracy. Not private."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from ..errors import Failure

if TYPE_CHECKING:
    from ..._typing import AnyArray
    from ..ask.call import Call


def tell(call: Call, which: str, options: Namespace) -> None:  # noqa: ARG001
    """Print what is known of a call's answers.

    Parameters
    ----------
    call : Call
    which : str
        The command.
    options : Namespace
        Of the command line.
    """
    raise Failure(f"{which}: to come")


def tell_scores(mechanism: Any, utilities: AnyArray, options: Namespace) -> None:  # noqa: ARG001
    """The same of a mechanism over utilities.

    Parameters
    ----------
    mechanism
    utilities : ndarray, shape (k,)
    options : Namespace
        Of the command line.
    """
    raise Failure("to come")
