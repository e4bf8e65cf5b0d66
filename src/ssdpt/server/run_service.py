"""The whole service: store, monitoring and web server, from start to stop."""

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

_CHECK_EVERY = 2.0  # seconds between looks at the configuration file
_LOG = logging.getLogger(__name__)


def check_config(path: Path, *, offline: bool = False) -> Iterator[Found]:
    """What a configuration file says, and whether all that it names can be opened; starts nothing.

    `offline`: only the file and its models. The store is not opened: it may be in use.
    """
    config = read_monitor_config(path)
    count = f"{len(config.machines)} machine{'' if len(config.machines) == 1 else 's'}"
    yield Found(str(path), f"{config.name}, {count}, times in {config.timezone}")
    for settings in config.machines:
        description = "learns its own baseline"
        if settings.model is not None:
            model = MachineRegistry.read_model(settings)
            description = f"model {settings.model} ({model.detector.system_name})"
        yield Found(settings.id, f"{settings.source.kind} source, {description}")
    if not offline:
        yield from probe_config(config)


def run_service(
    path: Path | None,
    data: Path,
    settings: ServerSettings,
    *,
    speed: float = 1.0,
    started: Callable[[str], None] = lambda address: None,
    reporter: Reporter = SILENT,
) -> None:
    """Run the service of a configuration file, or without one the demo, until SIGINT or SIGTERM."""
    config = demo_config(speed) if path is None else read_monitor_config(path)
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SsdptError(f"{data}: cannot be used for data ({error.strerror})") from error
    store = Store.open(store_url(config, data), data, writer=True)
    stop = threading.Event()
    try:
        service = MonitorService(config, store, data, path=path, demo=path is None)
        try:
            service.start()
            if path is None:
                learn_demo(service)
            else:
                watch = partial(_reload_on_change, service, path, stop, reporter)
                threading.Thread(target=watch, name="ssdpt-config-file", daemon=True).start()
            serve(service, store, settings, started)
        finally:
            stop.set()
            service.stop()
    finally:
        store.close()


def learn_demo(service: MonitorService) -> None:
    """Give every simulated machine a model of its normal sound, in the background."""
    for id, machine in service.machines.items():
        source = machine.hearing.source
        if machine.judge.model is None and isinstance(source, SimulatedSource):
            service.learn_from(id, partial(source.normal_clips, NORMAL_CLIPS))


def _reload_on_change(
    service: MonitorService, path: Path, stop: threading.Event, reporter: Reporter
) -> None:
    """Read the configuration file again whenever it changes."""
    loaded = latest = _version(path)
    while not stop.wait(_CHECK_EVERY):
        version, previous = _version(path), latest
        latest = version
        if version == loaded or version != previous:
            continue  # unchanged, or being written at this moment
        try:
            for change in service.reload() or ["nothing relevant has changed"]:
                service.note(f"configuration file: {change}")
            service.file_trouble = ""
        except StoreUnavailable:
            continue  # tried again until the store is back
        except Exception as error:
            problem = f"the configuration has an error, the previous one stays active: {error}"
            reporter.warn(problem)
            service.note(problem)
            service.file_trouble = problem
        loaded = version


def _version(path: Path) -> tuple[int, int] | None:
    """Changes whenever the file does; None while there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
