"""Tasks on a running Ray cluster: each done exactly once, even where workers or nodes die.

with Cluster.connect("auto", reporter) as cluster:
    for index, result in cluster.run(function, items, gpus=0.25):
        …

The caller's process must run on a node of the cluster. Function, items and results travel by
pickle within it, so a cluster is only as trustworthy as those who can reach it.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self, TextIO, TypeVar, cast

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.errors import SsdptError
from ssdpt.version import __version__

_PORT_SECONDS = 3.0  # for a port to answer
_JOIN_SECONDS = 25.0  # for a cluster to take a caller in
_LOOK_SECONDS = 2.0  # between two looks at the nodes
_PAUSE_SECONDS = 0.2  # before a task that lost its worker runs again
_AHEAD = 2  # tasks under way for every one that can run at a time
_MEBIBYTE = 2**20

# Ray itself waits for minutes for an answer; a process of its own can be ended.
_JOIN = """
import logging, sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level=logging.CRITICAL)
except (ConnectionError, RuntimeError, ValueError, OSError) as error:
    sys.exit("failed: " + " ".join(str(error).split()))
"""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Answer:
    """What comes back from a worker: a result, or why there is none."""

    result: Any = None
    error: str = ""
    version: str = __version__  # of the worker's ssdpt


@dataclass(frozen=True, slots=True)
class _Need:
    """What one task takes of a node."""

    cpus: float
    gpus: float
    memory: float  # bytes

    def fits(self, resources: dict[str, float]) -> int:
        """How many such tasks a whole node with these resources runs at a time."""
        wanted = {"CPU": self.cpus, "GPU": self.gpus, "memory": self.memory}
        shares = [resources.get(name, 0.0) / amount for name, amount in wanted.items() if amount]
        # 1 / 0.1 must count as ten, although the last binary digit may differ.
        return math.floor(min(shares) + 1e-9) if shares else 1

    def __str__(self) -> str:
        needs = [f"{self.cpus:g} CPU", f"{self.gpus:g} GPU" if self.gpus else ""]
        needs.append(f"{self.memory / _MEBIBYTE:.0f} MiB of memory" if self.memory else "")
        return " and ".join(filter(None, needs))


class Cluster:
    """A Ray cluster that this process has joined."""

    def __init__(self, address: str, reporter: Reporter) -> None:
        self._address, self._reporter = address, reporter

    @classmethod
    @contextlib.contextmanager
    def connect(cls, address: str, reporter: Reporter = SILENT) -> Iterator[Self]:
        """Join the cluster at `address`: host:port, or `auto` for the one this machine is in."""
        # Older versions warn at every start that this will become the default.
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        import ray

        _check_reachable(address)
        with (
            contextlib.redirect_stdout(cast(TextIO, _WithoutRay(sys.stdout))),
            contextlib.redirect_stderr(cast(TextIO, _WithoutRay(sys.stderr))),
        ):
            try:
                ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
            except (ConnectionError, RuntimeError, ValueError, OSError) as error:
                raise _not_joined(address, str(error)) from error
            try:
                yield cls(address, reporter)
            finally:
                ray.shutdown()

    def run(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        cpus: float = 1.0,
        gpus: float = 0.0,
        memory: float | None = None,
    ) -> Iterator[tuple[int, Result | SsdptError]]:
        """`function` of every item: (index, result or what was wrong with it), as they finish.

        Every index comes exactly once. A task whose worker or node dies runs again, as often as
        it takes, so `function` may be called more than once for an item. `cpus`, `gpus` (also a
        fraction) and `memory` (bytes) are what one task takes of a node. Only some items are
        under way at a time; leaving the iterator cancels them.
        """
        import ray
        from ray.exceptions import RayError, RayTaskError

        need = _Need(cpus, gpus, memory or 0.0)
        nodes = _Nodes(self._address, need, self._reporter)
        nodes.check()
        task: Any = ray.remote(_perform).options(
            num_cpus=cpus,
            num_gpus=gpus,
            memory=memory,
            max_retries=0,  # tasks are run again, reported and counted here
            scheduling_strategy="SPREAD",
        )
        work = ray.put(function)
        waiting = enumerate(items)
        under_way: dict[Any, tuple[int, Item]] = {}
        try:
            while True:
                free = _AHEAD * nodes.slots - len(under_way)
                for index, item in islice(waiting, max(0, free)):
                    under_way[task.remote(work, item, __version__)] = (index, item)
                if not under_way:
                    return
                nodes.check()
                ready, _ = ray.wait(list(under_way), timeout=_LOOK_SECONDS)
                nodes.look()
                for reference in ready:
                    index, item = under_way.pop(reference)
                    try:
                        answer: _Answer = ray.get(reference)
                    except RayTaskError as error:
                        raise _cannot_run(_last_line(error)) from error
                    except RayError as error:
                        self._reporter.warn(f"task {index} runs again: {_reason(error)}")
                        time.sleep(_PAUSE_SECONDS)
                        nodes.look(at_once=True)
                        under_way[task.remote(work, item, __version__)] = (index, item)
                        continue
                    yield index, _unpacked(answer)
        finally:
            for reference in under_way:
                with contextlib.suppress(RayError):
                    ray.cancel(reference, force=True)


def device_of_task(device: str, gpus: float) -> str:
    """What `auto` means on a node: a task that asks for no GPU uses none."""
    if device != "auto":
        return device
    return "cuda" if gpus else "cpu"


class _WithoutRay:
    """A stream without what Ray's own threads print into it: the reporter names losses."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if threading.current_thread().name.startswith("ray_"):
            return len(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Nodes:
    """The nodes of a cluster, checked now and then: how many tasks they take, which are lost."""

    def __init__(self, address: str, need: _Need, reporter: Reporter) -> None:
        self._address, self._need, self._reporter = address, need, reporter
        self._alive: dict[str, str] = {}  # node -> its machine's name
        self._looked = -math.inf
        self.slots = 0  # tasks that run at a time
        self.look()

    def look(self, *, at_once: bool = False) -> None:
        """Count the nodes again, if that was not just done, and report those that are lost."""
        if not at_once and time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        import ray

        # Asked of a head that is gone, Ray ends this process after a minute.
        try:
            _check_port(ray.get_runtime_context().gcs_address)
        except OSError as error:
            raise SsdptError(
                f"{self._address}: the head of the Ray cluster is gone; start the cluster again, "
                "then the same command"
            ) from error
        all_nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        nodes = [node for node in all_nodes if node["Alive"]]
        alive = {node["NodeID"]: node["NodeManagerHostname"] for node in nodes}
        for node, host in self._alive.items():
            if node not in alive:
                self._reporter.warn(
                    f"a node of the cluster is lost ({host}); {len(alive)} left, which run its "
                    "tasks again"
                )
        self._alive, self._looked = alive, time.monotonic()
        self.slots = sum(self._need.fits(node["Resources"]) for node in nodes)

    def check(self) -> None:
        """Refuse to wait for ever when no node can take a task."""
        if not self.slots:
            raise SsdptError(
                f"{self._address}: no node of this Ray cluster has {self._need}, which a task "
                f"takes; ask for less, or start a node that has it"
            )


def _perform(function: Callable[[Item], Result], item: Item, version: str) -> _Answer:
    """On a worker: the function's result, or its error as a sentence, which always travels."""
    if version != __version__:
        return _Answer()
    try:
        return _Answer(function(item))
    except SsdptError as error:
        return _Answer(error=str(error))
    except (Exception, SystemExit) as error:
        return _Answer(error=f"a task failed on {socket.gethostname()}: {_named(error)}")


def _unpacked(answer: _Answer) -> Any:
    if answer.version != __version__:
        raise _cannot_run(f"it has ssdpt {answer.version}")
    return SsdptError(answer.error) if answer.error else answer.result


def _cannot_run(reason: str) -> SsdptError:
    return SsdptError(
        f"a worker of the Ray cluster cannot run ssdpt {__version__} ({reason}); install this "
        "version of ssdpt with the same extras on every node"
    )


def _check_reachable(address: str) -> None:
    """Join and leave in another process, within seconds, or raise with the reason."""
    if address != "auto":
        host, _, port = address.rpartition(":")
        if not host or not re.fullmatch(r"\d{1,5}", port) or not 0 < int(port) < 65536:
            raise SsdptError(
                f"{address!r}: not the address of a Ray cluster; give auto or host:port, as "
                "`ray start --head` prints it"
            )
        try:
            _check_port(address)
        except OSError as error:
            raise _not_joined(address, error.strerror or str(error)) from error
    try:
        subprocess.run(
            [sys.executable, "-c", _JOIN, address],
            capture_output=True,
            check=True,
            text=True,
            errors="replace",
            timeout=_JOIN_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise _not_joined(address, f"no answer within {_JOIN_SECONDS:.0f} s") from error
    except subprocess.CalledProcessError as error:
        raise _not_joined(address, error.stderr.rpartition("failed: ")[2]) from error


def _check_port(address: str) -> None:
    """An OSError where there is no answer at host:port."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), _PORT_SECONDS).close()


def _not_joined(address: str, reason: str) -> SsdptError:
    if "mismatch" in reason.lower():
        numbers = re.findall(r"(?:Ray|Python): *([\d.]+\w*)", reason)
        versions = f"; Ray and Python there and here: {', '.join(numbers)}" if numbers else ""
        return SsdptError(
            f"{address}: the Ray cluster runs other versions than this process{versions}; use "
            "the same Ray and Python on every node"
        )
    first = " ".join(reason.split())[:160].rstrip(". ")
    return SsdptError(
        f"{address}: no Ray cluster can be joined there ({first}); start one with `ray start "
        "--head`, and run this on one of its nodes"
    )


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _last_line(error: BaseException) -> str:
    """Ray's errors carry the worker's whole traceback; its last line names the error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:200] if lines else type(error).__name__


def _reason(error: BaseException) -> str:
    """The kind of a loss as text: `WorkerCrashedError` is `worker crashed`."""
    parts = re.findall(r"[A-Z][a-z]+", type(error).__name__.removesuffix("Error"))
    return " ".join(parts).lower()
