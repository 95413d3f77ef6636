"""Tests on the oldest and the newest of what is declared: ``nox -s matrix``.

A Python that is not on the machine fails, unless ``--no-error-on-missing-interpreters`` is given.
"""

import nox

nox.options.sessions = ["matrix"]
nox.options.error_on_missing_interpreters = True
PROJECT = nox.project.load_toml("pyproject.toml")["project"]
NUMPY = "numpy>=2.1"  # hatch_build.py declares it
# All tests would take hours in the interpreter: every mechanism by every door, but for slow ones.
INTERPRETED = ["tests/test_conformance.py", "-k", "not top-k and not permute"]


@nox.session(python=["3.11", "3.13"])
@nox.parametrize("libraries", ["oldest", "newest"])
@nox.parametrize("kernels", ["compiled", "python"])
def matrix(session, libraries, kernels):
    """Compiled kernels pass all tests, those that Python runs pass some."""
    declared = [NUMPY, *PROJECT["optional-dependencies"]["test"]]
    oldest = [name.replace(">=", "==") + ".*" for name in declared if ">=" in name]
    session.install(".[test]", *(oldest if libraries == "oldest" else []))
    is_compiled = kernels == "compiled"
    env = {} if is_compiled else {"FASTEXP_KERNELS": kernels}
    session.run("pytest", "-n", "auto", *([] if is_compiled else INTERPRETED), env=env)
