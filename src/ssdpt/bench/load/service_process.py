"""`ssdpt serve` as a process of its own, which is measured from outside."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.request import urlopen

from ssdpt.bench.load.usage import Usage, usage_of
from ssdpt.errors import SsdptError

_COMMAND = "import ssdpt.cli; ssdpt.cli.main()"
_ADDRESS = re.compile(r"listening; open (http://\S+)/")
_POLL = 0.05  # seconds
_LONGEST_START = 600.0  # seconds
_LONGEST_STOP = 120.0
_LOG_SHOWN = 2000  # characters


class ServiceProcess:
    """Runs from `with` to its end; `start_seconds` and `stop_seconds` say how long these took."""

    def __init__(self, config: Path, data: Path, log: Path) -> None:
        self._log = log
        self._command = [
            *(sys.executable, "-c", _COMMAND, "serve", "--config", str(config)),
            *("--data", str(data), "--port", "0"),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self.address = ""  # without a slash at the end
        self.start_seconds = 0.0  # until the service says that it is ready
        self.stop_seconds = 0.0  # from SIGTERM to the end of the process

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def usage(self) -> Usage:
        return usage_of(self.pid)

    def __enter__(self) -> Self:
        begun = time.monotonic()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        try:
            while not self._ready():
                self._check_running()
                if time.monotonic() - begun > _LONGEST_START:
                    raise SsdptError(f"the service is not ready after {_LONGEST_START:.0f} s")
                time.sleep(_POLL)
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        self.start_seconds = time.monotonic() - begun
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        begun = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_LONGEST_STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.stop_seconds = time.monotonic() - begun

    def _ready(self) -> bool:
        if not self.address:
            match = _ADDRESS.search(self._log.read_text("utf-8", errors="replace"))
            self.address = match[1] if match else ""
        if not self.address:
            return False
        try:
            with urlopen(f"{self.address}/readyz", timeout=10) as reply:
                return bool(reply.status == 200)
        except OSError:  # not listening yet, or not ready
            return False

    def _check_running(self) -> None:
        assert self._process is not None
        if self._process.poll() is not None:
            log = self._log.read_text("utf-8", errors="replace")[-_LOG_SHOWN:]
            raise SsdptError(f"the service has ended:\n{log}")
