"""The whole service: store, monitor and server, from start to stop."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from ssdpt.common.progress import SILENT, Reporter
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import read_monitor_config, store_url
from ssdpt.monitor.service.check import Found, probe_config
from ssdpt.monitor.service.demo import NORMAL_CLIPS, demo_config
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.service import MonitorService
from ssdpt.monitor.sources.simulated_source import SimulatedSource
from ssdpt.monitor.store import Store, StoreUnavailable
from ssdpt.server.run import serve
from ssdpt.server.settings import ServerSettings

_LOOK_EVERY = 2.0  # seconds, at the plant file
_LOG = logging.getLogger(__name__)


def check_config(path: Path, *, offline: bool = False) -> Iterator[Found]:
    """What a plant file says, and whether all that it names can be opened; starts nothing.

    `offline`: only the file and its models. The store is not looked at: it may be in use.
    """
    plant = read_monitor_config(path)
    count = f"{len(plant.machines)} machine{'' if len(plant.machines) == 1 else 's'}"
    yield Found(str(path), f"{plant.name}, {count}, times in {plant.zone}")
    for settings in plant.machines:
        judged = "learns its own baseline"
        if settings.model is not None:
            model = MachineRegistry.read_model(settings)
            judged = f"model {settings.model} ({model.detector.system_name})"
        yield Found(settings.id, f"{settings.source.kind} source, {judged}")
    if not offline:
        yield from probe_config(plant)


def run_service(
    path: Path | None,
    data: Path,
    settings: ServerSettings,
    *,
    speed: float = 1.0,
    started: Callable[[str], None] = lambda address: None,
    reporter: Reporter = SILENT,
) -> None:
    """Serve the plant of a file, or without one the demo, until it is told to stop."""
    plant = demo_config(speed) if path is None else read_monitor_config(path)
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SsdptError(f"{data}: cannot be used for data ({error.strerror})") from error
    store = Store.open(store_url(plant, data), data, writer=True)
    stop = threading.Event()
    try:
        monitor = MonitorService(plant, store, data, path=path, demo=path is None)
        try:
            monitor.start()
            if path is None:
                learn_demo(monitor)
            else:
                watch = partial(_watch, monitor, path, stop, reporter)
                threading.Thread(target=watch, name="ssdpt-plant-file", daemon=True).start()
            serve(monitor, store, settings, started)
        finally:
            stop.set()
            monitor.stop()
    finally:
        store.close()


def learn_demo(monitor: MonitorService) -> None:
    """Give every simulated machine a model of its normal sound, in the background."""
    for id, machine in monitor.machines.items():
        source = machine.hearing.source
        if machine.judge.model is None and isinstance(source, SimulatedSource):
            monitor.learn_from(id, partial(source.normal_clips, NORMAL_CLIPS))


def _watch(monitor: MonitorService, path: Path, stop: threading.Event, reporter: Reporter) -> None:
    """Read the plant file again whenever it changes."""
    known = seen = _mark(path)
    while not stop.wait(_LOOK_EVERY):
        mark, before = _mark(path), seen
        seen = mark
        if mark == known or mark != before:
            continue  # as it was, or being written at this moment
        try:
            for words in monitor.reload() or ["nothing that matters has changed"]:
                monitor.note(f"plant file: {words}")
            monitor.file_trouble = ""
        except StoreUnavailable:
            continue  # tried again until the store is back
        except Exception as error:
            words = f"the plant file is not taken, the one before stays in force: {error}"
            reporter.warn(words)
            monitor.note(words)
            monitor.file_trouble = words
        known = mark


def _mark(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
