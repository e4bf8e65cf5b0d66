"""Checks a configuration: opens every source and output for a moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ssdpt.errors import SsdptError
from ssdpt.features.loudness import Loudness
from ssdpt.monitor.config import (
    MachineSettings,
    MonitorConfig,
    OperatingDataSettings,
    OutputSettings,
    SourceSettings,
)
from ssdpt.monitor.operating import open_operating_data
from ssdpt.monitor.outputs import create_output
from ssdpt.monitor.outputs.base import TryAgain
from ssdpt.monitor.sources import open_snapshots, open_source
from ssdpt.monitor.sources.base import SourceLost
from ssdpt.types import Floats

TIME_LIMIT = 10.0  # seconds for all together, since they are opened at once
_SECONDS = 1.0  # of sound whose level is measured
_RATE = 16000  # Hz; the level is the same at any
_EXPECTED = (SsdptError, SourceLost, TryAgain)  # their messages hold no secret


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check."""

    name: str
    message: str
    ok: bool = True


def check_connections(config: MonitorConfig, limit: float = TIME_LIMIT) -> Iterator[CheckResult]:
    """Open every source and output at once; results in the order of the file.

    Nothing is sent to anyone. `limit` in seconds.
    """
    checks = [
        *(_Check(one.id, partial(_check_machine, one)) for one in config.machines),
        *(
            _Check(f"{one.id} operating data", partial(_check_operating_data, one.operating_data))
            for one in config.machines
            if one.operating_data is not None
        ),
        *(_Check(one.kind, partial(_check_output, one)) for one in config.outputs),
    ]
    end = time.monotonic() + limit
    for check in checks:
        check.start(limit)
    for check in checks:
        yield check.wait(max(0.0, end - time.monotonic()))


class _Check:
    """One check on a thread of its own, which is abandoned if it hangs in a library."""

    def __init__(self, name: str, run: Callable[[_Check], str]) -> None:
        self.name = name
        self.limit = 0.0  # seconds
        self.stop = threading.Event()
        self.so_far = ""  # what is known while it goes on
        self._check = run
        self._result: CheckResult | None = None
        self._thread = threading.Thread(target=self._run, name=f"check {name}", daemon=True)

    def start(self, limit: float) -> None:
        self.limit = limit
        self._thread.start()

    def wait(self, seconds: float) -> CheckResult:
        """The result, after so many seconds at the latest."""
        self._thread.join(seconds)
        self.stop.set()
        if self._result is not None:
            return self._result
        if self.so_far:
            return CheckResult(self.name, self.so_far)
        return CheckResult(self.name, f"no answer within {self.limit:g} s", ok=False)

    def _run(self) -> None:
        ok = False
        try:
            message, ok = self._check(self), True
        except _EXPECTED as error:
            message = str(error)
        except Exception as error:
            # Its text might hold a secret.
            message = f"cannot be opened ({type(error).__name__})"
        self._result = CheckResult(self.name, message, ok)


def _check_machine(machine: MachineSettings, check: _Check) -> str:
    if machine.sensor.snapshots:
        return open_snapshots(machine.source, machine.sensor).probe(check.limit)
    return _check_source(machine.source, check)


def _check_source(settings: SourceSettings, check: _Check) -> str:
    """Capture one second."""
    source = open_source(settings, _RATE)
    chunks: list[Floats] = []
    for chunk in source.chunks_once(check.stop):
        chunks.append(chunk.samples)
        samples = np.concatenate(chunks)
        loudness = Loudness.of(samples)
        level = f"sound arrives at {loudness.dbfs:.0f} dBFS"
        if loudness.silent:
            level = "but only silence arrives"
        status = source.status
        check.so_far = f"{status.message}, {status.rate_in} Hz, {level}"
        if len(samples) >= _SECONDS * _RATE:
            break
    return check.so_far or source.status.message


def _check_operating_data(settings: OperatingDataSettings, check: _Check) -> str:
    return open_operating_data(settings).probe(check.limit)


def _check_output(settings: OutputSettings, check: _Check) -> str:
    """Connect, and send nothing."""
    output = create_output(settings)
    check.name = output.name
    return output.probe(check.limit)
