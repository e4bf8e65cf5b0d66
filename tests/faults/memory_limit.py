"""The service gets no more memory for a while, as in a full container."""

from __future__ import annotations

import contextlib
import random
import resource
from pathlib import Path

import httpx

from faults.experiment import Outcome
from faults.plant import MACHINE
from faults.service_experiment import ServiceExperiment

_MEGABYTE = 2**20


class MemoryLimit(ServiceExperiment):
    """Large uploads ask for memory that there is not; the process may die, nothing may be lost."""

    name = "memory-limit"
    may_restart = True
    has_gaps = True  # what waited in a process that died is gone

    def strike(self, number: int, random: random.Random, outcome: Outcome) -> None:
        more = random.randint(0, 40) * _MEGABYTE
        unlimited = resource.prlimit(self.plant.pid, resource.RLIMIT_AS)
        resource.prlimit(
            self.plant.pid, resource.RLIMIT_AS, (self._address_space() + more, unlimited[1])
        )
        try:
            for _ in range(3):
                with contextlib.suppress(httpx.HTTPError):
                    httpx.post(
                        f"{self.plant.address}v1/machines/{MACHINE}/audio",
                        content=bytes(30 * _MEGABYTE),
                        headers={"Content-Type": "audio/L16;rate=48000;channels=1"},
                        timeout=20.0,
                    )
            self.hold(random.uniform(1, 4), outcome, healthy=False)
        finally:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(self.plant.pid, resource.RLIMIT_AS, unlimited)

    def _address_space(self) -> int:
        """Bytes of address space in use."""
        pages = int(Path(f"/proc/{self.plant.pid}/statm").read_text().split()[0])
        return pages * resource.getpagesize()
