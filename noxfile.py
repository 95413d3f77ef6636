"""What is run while working: `nox -s fast` above all, in a minute on two cores.

Every session has an environment of its own that later runs use again. `nox --list` lists them.
What stands behind `--` goes to pytest, and the name of a folder of tests is that folder:
`nox -s tests -- numbers`, `nox -s fast -- -x cli query`.
"""

from __future__ import annotations

from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["fast"]
nox.options.error_on_missing_interpreters = True
PROJECT = nox.project.load_toml("pyproject.toml")
# Bytecode is written: without it, pytest rewrites every assertion anew, 20 s of them.
BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}


@nox.session
def fast(session: nox.Session) -> None:
    """Lint, types, and every test that takes less than about a second and no other library."""
    session.install("-e", ".[test,lint]")
    _check(session)
    _run(session, "fast")


@nox.session
def lint(session: nox.Session) -> None:
    """Lint, format and types alone, with the libraries whose types are checked."""
    session.install("-e", ".[test,lint]")
    _check(session)


@nox.session
def tests(session: nox.Session) -> None:
    """Everything that pytest runs, as the README says."""
    session.install("-e", ".[test]")
    _run(session)


@nox.session(python=nox.project.python_versions(PROJECT))
@nox.parametrize("libraries", ["oldest", "newest"])
def matrix(session: nox.Session, libraries: str) -> None:
    """The fast tests on each Python that is declared, with the oldest libraries and the newest.

    A Python that is not here is a failure, but with `--no-error-on-missing-interpreters`.
    """
    session.install("-e", ".[test]", *(_oldest() if libraries == "oldest" else []))
    _run(session, "fast")


@nox.session
def docs(session: nox.Session) -> None:
    """The site, in docs/_build/html: its cells run; no warning, dead link or wrong notebook."""
    session.install("-e", ".[docs,test]")
    html = "docs/_build/html"
    session.run("sphinx-build", "-W", "--keep-going", "-j", "auto", "docs", html, env=BYTECODE)
    for check in ("links", "notebooks"):
        session.run("python", "-m", f"tests.docs.{check}", html)
    session.run("python", "-m", "pytest", "-q", "tests/docs/test_search.py", env=BYTECODE)


def _tier(mark: str) -> None:
    @nox.session(name=mark)
    def tests_of_mark(session: nox.Session) -> None:
        """The tests of this mark (`markers` in pyproject.toml)."""
        libraries = {"engines": ",spark", "peers": ",peers"}.get(mark, "")
        session.install("-e", f".[test{libraries}]")
        _run(session, mark)


for mark in ("slow", "statistical", "engines", "process", "proof", "peers"):
    _tier(mark)


def _whole(name: str, module: str) -> None:
    @nox.session(name=name)
    def all_of_them(session: nox.Session) -> None:
        """All cases of which other sessions try a part; each ends in at most an hour or two."""
        session.install("-e", ".[test]")
        session.run("python", "-m", module, "--all", *session.posargs, env=BYTECODE)


_whole("ends", "tests.proofs.test_every_release_ends")
_whole("mutants", "tests.mutants")


def _oldest() -> list[str]:
    """The least version that is declared of each library that tests use."""
    project = PROJECT["project"]
    declared = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    return [requirement.replace(">=", "==") for requirement in declared]


def _check(session: nox.Session) -> None:
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


def _run(session: nox.Session, mark: str = "") -> None:
    chosen = ["-m", mark] if mark else []
    pytest = ["python", "-m", "pytest", "-n", "auto", "--dist", "worksteal", *chosen]
    session.run(*pytest, *map(_of_room, session.posargs), env=BYTECODE)


def _of_room(argument: str) -> str:
    """The folder of tests that an argument names, or the argument itself."""
    room = Path("tests", argument)
    return str(room) if (room / "__init__.py").is_file() else argument
