"""A process of Python that calls functions for this one, one at a time, in a setting of its own."""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from .outcome import Absent
from .provenance import ROOT


class Child:
    """The other process; it ends with this one, or when it is told to."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=os.environ | (settings or {}),
        )
        atexit.register(self.end)

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the function returns there; all of it must pickle. An error there is one here."""
        questions, answers = self.process.stdin, self.process.stdout
        if questions is None or answers is None or self.process.poll() is not None:
            raise Absent("the other process has ended")
        pickle.dump((function, arguments), questions)
        questions.flush()
        try:
            error, answer = pickle.load(answers)
        except EOFError:
            raise Absent("the other process ended") from None
        if error == Absent.__name__:
            raise Absent(answer)
        if error in ("ImportError", "ModuleNotFoundError"):
            raise ImportError(answer)
        if error:
            raise RuntimeError(f"in the other process: {error}: {answer}")
        return answer

    def end(self) -> None:
        """End the process by closing what it reads from."""
        atexit.unregister(self.end)
        with self.process, suppress(BrokenPipeError):
            if self.process.stdin is not None:
                self.process.stdin.close()


def serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer until there are no more questions."""
    while True:
        try:
            function, arguments = pickle.load(questions)
        except EOFError:
            return
        try:
            reply = "", function(*arguments)
        except Exception as problem:  # is raised again where the question came from
            reply = type(problem).__name__, str(problem)
        pickle.dump(reply, answers)
        answers.flush()


if __name__ == "__main__":
    pipe = sys.stdout.buffer
    sys.stdout = sys.stderr  # what is printed must not come between answers
    serve(sys.stdin.buffer, pipe)
