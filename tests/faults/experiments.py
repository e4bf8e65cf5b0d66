"""All experiments, in the order in which the campaign runs them."""

from __future__ import annotations

from faults.bad_source import BadSource
from faults.broken_disk import ReadOnlyDisk, SlowDisk
from faults.broker_outage import BrokerOutage
from faults.clock_jump import ClockJump
from faults.database_outage import DatabaseOutage
from faults.experiment import Experiment
from faults.full_disk import FullDisk
from faults.kill_backup import KillBackup
from faults.kill_cells import KillCells
from faults.kill_fit import KillFit
from faults.kill_migration import KillMigration
from faults.kill_points import KillPoints
from faults.kill_ray_worker import KillRayWorker
from faults.kill_score import KillScore
from faults.kill_service import KillService
from faults.memory_limit import MemoryLimit
from faults.operations import OPERATIONS
from faults.two_writers import TWO_FITS, TWO_SCORERS, TwoServices

EXPERIMENTS: list[Experiment] = [
    *(KillPoints(name) for name in OPERATIONS),
    KillFit(),
    KillScore(),
    KillCells(),
    KillRayWorker(),
    KillBackup(),
    KillMigration(),
    KillService("sqlite"),
    KillService("postgres"),
    FullDisk(),
    ReadOnlyDisk(),
    SlowDisk(),
    MemoryLimit(),
    ClockJump(),
    BrokerOutage(),
    DatabaseOutage(),
    BadSource(),
    TwoServices(),
    TWO_FITS,
    TWO_SCORERS,
]
