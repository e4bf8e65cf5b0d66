"""A PostgreSQL server of our own that can be stopped, frozen and killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Self

import psycopg

from free_ports import free_port
from waiting import wait_until

_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_USER = "postgres"


class PostgresCluster:
    """Its data lies in a folder of its own: the server refuses to run as root."""

    def __init__(self, name: Path) -> None:
        assert _PLACES, "there is no PostgreSQL; install it (Debian: apt install postgresql)"
        self._bin = _PLACES[0]
        self._name = name.name
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://{_USER}@127.0.0.1:{self._port}/postgres"

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix=f"faults-{self._name}-", dir="/tmp"))
        if os.getuid() == 0:
            shutil.chown(self._folder, _USER)
        options = ["-D", str(self._folder / "data"), "-U", _USER, "-A", "trust", "-E", "UTF8"]
        subprocess.run(
            [*self._as_user, str(self._bin / "initdb"), "--no-sync", *options],
            check=True,
            capture_output=True,
            cwd="/",
        )
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _as_user(self) -> list[str]:
        return ["setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups"] * (
            os.getuid() == 0
        )

    def start(self) -> None:
        """Start the server and wait until it answers."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(
                        *self._as_user,
                        str(self._bin / "postgres"),
                        "-D",
                        str(self._folder / "data"),
                    ),
                    *("-p", str(self._port), "-k", str(self._folder), "-h", "127.0.0.1"),
                ],
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
            )
        wait_until(self._answers, "PostgreSQL answers", timeout=120)

    def stop(self) -> None:
        """As an administrator does: connections are ended, all is written."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        self._process.wait(120)

    def kill(self) -> None:
        """kill -9 of the server and all its processes."""
        if self._process is None or self._process.poll() is not None:
            return
        self._signal(signal.SIGKILL)
        self._process.wait(120)

    def freeze(self) -> None:
        """It hangs: connections stay open, nothing is answered."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        """To the server and every process of it; each backend has a group of its own."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text()
        for process in (self._process.pid, *map(int, children.split())):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                continue

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "log").read_text()[-2000:]
        try:
            psycopg.connect(self.url.replace("+psycopg", ""), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True
