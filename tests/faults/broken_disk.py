"""A disk that becomes read-only, or slow, under the running service."""

from __future__ import annotations

import random

from faults import strace
from faults.experiment import Outcome
from faults.service_experiment import ServiceExperiment

_WRITES = "pwrite64,fsync,fdatasync,ftruncate,?rename,?renameat,?renameat2,?mkdir,?mkdirat"
_SYNCS = "fsync,fdatasync,pwrite64"


class ReadOnlyDisk(ServiceExperiment):
    """Every call that changes a file fails as on a disk that the kernel has made read-only."""

    name = "read-only-disk"
    refuses = True

    def strike(self, number: int, random: random.Random, outcome: Outcome) -> None:
        with strace.tracing(self.plant.pid, f"{_WRITES}:error=EROFS"):
            self.hold(random.uniform(1, 8), outcome)


class SlowDisk(ServiceExperiment):
    """Every write and sync takes long."""

    name = "slow-disk"

    def strike(self, number: int, random: random.Random, outcome: Outcome) -> None:
        delay = random.choice((20_000, 100_000, 400_000))  # microseconds
        with strace.tracing(self.plant.pid, f"{_SYNCS}:delay_enter={delay}"):
            self.hold(random.uniform(2, 10), outcome)
