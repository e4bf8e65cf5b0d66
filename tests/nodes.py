"""Real nodes of a real Ray cluster on this machine, each a process session of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from free_ports import free_port
from ssdpt.common.progress import Reporter
from waiting import wait_until

RAY = str(Path(sys.executable).with_name("ray"))
_ATTEMPTS = 4  # to start a node


class Node:
    """One raylet with its workers; the head has the cluster's directory as well."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        # Ray gives a node half a minute, which is too little where the cores are very busy.
        for _ in range(_ATTEMPTS):
            output = self._start(arguments, environment)
            if output is None:
                return
            self.kill()
        raise RuntimeError(output)

    def _start(self, arguments: tuple[str, ...], environment: dict[str, str]) -> str | None:
        """None, or what it printed if it did not come up."""
        common = ("--disable-usage-stats", "--object-store-memory=80000000")
        ports = ("--min-worker-port=0", "--max-worker-port=0", "--include-log-monitor=false")
        # All that it starts is in this session, by which it is identified and ended.
        started = subprocess.Popen(
            [RAY, "start", *arguments, *common, *ports],
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.session = started.pid
        output, _ = started.communicate(timeout=180)
        return output if started.returncode else None

    def processes(self) -> dict[int, str]:
        """Process ID -> command line."""
        processes = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                status = (place / "stat").read_text().rpartition(")")[2].split()
                if int(status[3]) == self.session and status[0] != "Z":
                    processes[int(place.name)] = (place / "cmdline").read_text().replace("\0", " ")
            except (FileNotFoundError, ProcessLookupError):
                continue
        return processes

    def kill(self) -> None:
        """kill -9 of everything that this node runs."""

        def gone() -> bool:
            processes = self.processes()
            for process in processes:
                kill(process)
            return not processes

        wait_until(gone, "the processes of the node have ended")


class Nodes:
    """A cluster; leaving it ends every process that it has started, and removes its files."""

    def __enter__(self) -> Nodes:
        self._stack = ExitStack()
        folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))  # sockets need short paths
        self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        head = (f"--port={port}", f"--temp-dir={folder}", "--include-dashboard=false")
        # A killed node is missed after five refused calls; one that is merely slow has its time.
        often = {"RAY_health_check_period_ms": "300", "RAY_health_check_initial_delay_ms": "300"}
        self.head = self._keep("--head", *head, "--num-cpus=1", "--num-gpus=1", **often)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, *arguments: str, **environment: str) -> Node:
        """Another node of one CPU."""
        return self._keep(f"--address={self.address}", "--num-cpus=1", *arguments, **environment)

    def _keep(self, *arguments: str, **environment: str) -> Node:
        node = Node(*arguments, **environment)
        self._stack.callback(node.kill)
        return node


class Listener(Reporter):
    """Keeps the warnings."""

    def __init__(self) -> None:
        self.warned: list[str] = []

    def warn(self, message: str) -> None:
        self.warned.append(message)


def kill(process: int) -> None:
    """kill -9, also of one that has just gone by itself."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return
