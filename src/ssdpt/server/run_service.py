"""The whole service: store, monitoring and web server, from start to stop."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from ssdpt.common import memory
from ssdpt.common.files import private_files, shut_out_others
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.voice import VoiceNetwork
from ssdpt.monitor.config import read_monitor_config, store_url
from ssdpt.monitor.service.check import CheckResult, check_connections
from ssdpt.monitor.service.config_watcher import ConfigWatcher, file_version
from ssdpt.monitor.service.demo import NORMAL_CLIPS, demo_config
from ssdpt.monitor.service.models import ModelCache, load_named_model, section_of
from ssdpt.monitor.service.service import MonitorService
from ssdpt.monitor.service.shaft import open_shaft
from ssdpt.monitor.sources.simulated_source import SimulatedSource
from ssdpt.monitor.store import Store
from ssdpt.server.run import serve
from ssdpt.server.settings import ServerSettings

_LOG = logging.getLogger(__name__)
_STOPPING = 1.0  # seconds to wait for a configuration file that is being read


def check_config(path: Path, *, offline: bool = False) -> Iterator[CheckResult]:
    """What a configuration file says, and whether all that it names can be opened; starts nothing.

    `offline`: only the file and its models. The store is not opened: it may be in use.
    """
    config = read_monitor_config(path)
    count = f"{len(config.machines)} machine{'' if len(config.machines) == 1 else 's'}"
    yield CheckResult(str(path), f"{config.name}, {count}, times in {config.timezone}")
    for sentence in config.upgrade_notes:
        yield CheckResult(str(path), sentence)
    if config.retention.drop_speech:
        VoiceNetwork()  # raises where the detector is not installed
    models = ModelCache(config.device)
    catalogue = BearingCatalogue.beside(path)
    for settings in config.machines:
        description = "learns its own baseline"
        open_shaft(settings, catalogue)  # raises for a bearing that is not in the catalogue
        model = load_named_model(settings, models)
        if model is not None:
            section_of(settings, model)  # raises where the model does not have it
            description = f"model {settings.model} ({model.detector.system_name})"
        yield CheckResult(settings.id, f"{settings.source.kind} source, {description}")
    if not offline:
        yield from check_connections(config)


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
    certificate = settings.load_certificate()  # what is wrong is said before anything starts
    version = None if path is None else file_version(path)  # before it is read
    config = demo_config(speed) if path is None else read_monitor_config(path)
    with ExitStack() as stack:
        stack.enter_context(private_files())  # recordings, password hashes, addresses of cameras
        try:
            data.mkdir(parents=True, exist_ok=True)
            if shut_out_others(data):
                _LOG.info("%s is closed to other users of this computer from now on", data)
        except OSError as error:
            raise SsdptError(f"{data}: cannot be used for data ({error.strerror})") from error
        store = stack.enter_context(Store.open(store_url(config, data), data, writer=True))
        service = MonitorService(config, store, data, path=path, demo=path is None)
        stack.callback(service.stop)
        if certificate is not None:
            service.log.add_check(certificate.problem)
        if path is None:
            start_demo(service)
        else:
            service.start()
            watcher = ConfigWatcher(path, service.reload, service.log, version, reporter)
            stack.callback(watcher.stop, _STOPPING)
            watcher.start()
        memory.settle()
        serve(service.api, store, settings, started)


def start_demo(service: MonitorService) -> None:
    """Give every simulated machine a model of its normal sound, in the background.

    Until then nothing happens to it: a fault that is there from the start is no alarm.
    """
    sources = {
        machine.id: machine.capture.source for machine in service.machines if machine.model is None
    }
    simulated = {id: it for id, it in sources.items() if isinstance(it, SimulatedSource)}
    for source in simulated.values():
        source.held.set()
    service.start()
    for id, source in simulated.items():
        clips = partial(source.normal_clips, NORMAL_CLIPS)
        service.learning.learn_from(id, clips, done=source.held.clear)
