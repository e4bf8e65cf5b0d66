"""Readings, events and users in SQLite or PostgreSQL, with recordings in a folder."""

from ssdpt.monitor.store.actions import Action
from ssdpt.monitor.store.backup import back_up, restore
from ssdpt.monitor.store.backup_stream import backup_size, stream_backup
from ssdpt.monitor.store.band_trends import BandTrend
from ssdpt.monitor.store.engine import StoreUnavailable
from ssdpt.monitor.store.readings import Trend
from ssdpt.monitor.store.retention import RemovedAudio, Retained
from ssdpt.monitor.store.store import Store
from ssdpt.monitor.store.upgrades import StoreUpgrade
from ssdpt.monitor.store.users import Role, User
from ssdpt.monitor.store.writer import StoreWriter

__all__ = [
    "Action",
    "BandTrend",
    "RemovedAudio",
    "Retained",
    "Role",
    "Store",
    "StoreUnavailable",
    "StoreUpgrade",
    "StoreWriter",
    "Trend",
    "User",
    "back_up",
    "backup_size",
    "restore",
    "stream_backup",
]
