"""Where a study's tasks run: threads, processes, or dask's workers."""

from __future__ import annotations

import contextlib
import logging
from argparse import Namespace
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..terminal import packages
from ..terminal.errors import Failure, UserMistake

RETRIES = 2  # of a task, by dask; a study's engine has retries of its own
PATIENCE = "10s"  # for a scheduler to answer
LOGGERS = ("distributed", "distributed.client", "distributed.worker", "distributed.nanny")


class Workers(NamedTuple):
    """The arguments of `Study.run` that say where it runs."""

    executor: Any
    workers: int = 0


@contextlib.contextmanager
def workers_of(options: Namespace) -> Iterator[Workers]:
    """Where a command's study runs; what dask starts for it is ended afterwards."""
    if options.scheduler is not None and options.executor != "dask":
        raise UserMistake("--scheduler needs --executor dask")
    if options.scheduler is not None and options.workers is not None:
        raise UserMistake("--workers does not go with --scheduler: it has its own")
    workers = options.workers or 0
    if options.executor != "dask":
        yield Workers(options.executor, workers)
        return
    with _client(options.scheduler, workers) as client:
        executor = client.get_executor(pure=False, retries=RETRIES)
        yield Workers(executor, sum(client.nthreads().values()))


@contextlib.contextmanager
def _client(address: str | None, workers: int) -> Iterator[Any]:
    from ...studies.run.pools import interrupts_kept

    dask = packages.needed("distributed", "--executor dask")
    _hush()
    with contextlib.ExitStack() as stack:
        if address is None:
            with interrupts_kept():
                address = stack.enter_context(_cluster(dask, workers))
        yield stack.enter_context(_connected(dask, address))


def _cluster(dask: Any, workers: int) -> Any:
    from ..._parameters.validate import threads

    return dask.LocalCluster(
        n_workers=threads(workers),
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )


def _connected(dask: Any, address: Any) -> Any:
    try:
        return dask.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise Failure(f"no scheduler answers at {address} ({type(error).__name__})") from None


def _hush() -> None:
    """Do not log workers that come and go: results and errors say enough."""
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
