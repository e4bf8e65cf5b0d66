"""What each page finds in its folder: small stand-ins for the recordings that it speaks of.

A page that is not named here runs in an empty folder. A stand-in is a function that is given the
`Folder` of the page; what takes long is made once in a test run and copied.
"""

from __future__ import annotations

import shutil
import threading
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
import soundfile
from tutorial_stand_ins import TUTORIALS

from receivers import WebReceiver
from sounds import RATE, hum
from ssdpt import Detector
from ssdpt.data.simulator import simulate
from ssdpt.data.simulator.clip import ClipName
from ssdpt.data.simulator.preset import preset_named
from ssdpt.data.simulator.simulation import SimulationJob, write_clips
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.messages import Event
from ssdpt.monitor.operating.pushed_operating_data import PushedOperatingDataSettings
from ssdpt.monitor.outputs.webhook_output import WebhookSettings
from ssdpt.monitor.service.service import MonitorService
from ssdpt.monitor.sources.pushed_source import PushedSettings
from ssdpt.monitor.store import Store
from ssdpt.server.app import create_app
from ssdpt.server.run import listening, new_server
from ssdpt.server.settings import ServerSettings
from waiting import wait_until


class Material:
    """Recordings and models that pages share, each made when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def plant(self) -> Path:
        """A tiny pump and fan of three sections each, in the layout of DCASE 2021."""
        return simulate(self.root / "plant", "tiny", machines=["pump", "fan"], workers=1)

    @cached_property
    def pump(self) -> Path:
        """One pump, in a folder of one's own: normal clips and a few faulty ones."""
        section = "section_00"
        for kind, folder in (("normal", "normal"), ("anomaly", "cavitation")):
            target = self.root / "pump" / folder
            target.mkdir(parents=True)
            for clip in sorted((self.plant / "pump").glob(f"*/{section}_*_{kind}_*.wav")):
                shutil.copy(clip, target / f"{clip.stem.removeprefix(section)[1:]}.wav")
        return self.root / "pump"

    @cached_property
    def first_day(self) -> Path:
        """Five normal clips of the pump, of another day."""
        job = SimulationJob(self.root / "first-day", preset_named("tiny"), 0, ("pump",))
        clips = [ClipName("pump", 0, "source", "test", "normal", 10 + index) for index in range(5)]
        list(write_clips(job, clips, workers=1))
        return self.root / "first-day"

    @cached_property
    def model(self) -> Path:
        """The default model of the one pump."""
        Detector.fit(self.pump).save(self.root / "model")
        return self.root / "model"


@dataclass
class Folder:
    """The folder of a page; stand-ins fill it."""

    path: Path
    material: Material
    patch: pytest.MonkeyPatch
    replacements: dict[str, str] = field(default_factory=dict)  # in the code of the page
    typed: str = ""  # what a person types at the questions of commands
    running: ExitStack = field(default_factory=ExitStack)  # services, ended after the page


StandIn = Callable[[Folder], None]


def recordings(folder: Folder) -> None:
    """`recordings/pump` of one pump, a faulty clip `today.wav`, and `first-day`."""
    _recordings(folder, folder.material.pump)


def three_pumps(folder: Folder) -> None:
    """The same with three pumps, which networks can tell apart."""
    _recordings(folder, folder.material.plant / "pump")


def _recordings(folder: Folder, pump: Path) -> None:
    shutil.copytree(pump, folder.path / "recordings" / "pump")
    faulty = next((folder.material.plant / "pump").glob("source_test/*anomaly*"))
    shutil.copy(faulty, folder.path / "today.wav")
    shutil.copytree(folder.material.first_day, folder.path / "first-day")


def model(folder: Folder) -> None:
    """`model`, fitted to `recordings/pump`."""
    shutil.copytree(folder.material.model, folder.path / "model")


def other_machines(folder: Folder) -> None:
    """`recordings/fan` and `recordings/valve`."""
    fan = folder.material.plant / "fan"
    for name in ("fan", "valve"):
        shutil.copytree(fan, folder.path / "recordings" / name)


def vibration(folder: Folder) -> None:
    """Tables of a vibration sensor, in `bearing/normal` and as `today.csv`."""
    times = np.arange(25600) / 25600
    names = [f"bearing/normal/2026-01-31_12.{number}0.00.csv" for number in range(6)]
    for seed, name in enumerate([*names, "today.csv"]):
        path = folder.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        axes = np.random.default_rng(seed).standard_normal((25600, 2))
        table = np.column_stack([times, axes])
        header = "time [s],acc_x [g],acc_y [g]"
        np.savetxt(path, table, "%.7f", ",", header=header, comments="")


def store(folder: Folder) -> None:
    """`ssdpt-data` with one event and its recording."""
    with Store.open("sqlite:///ssdpt-data/ssdpt.db", Path("ssdpt-data")) as opened:
        opened.save_event(EVENT)
        opened.attach(EVENT.id, "audio", b"sound", ".flac")


def passwords(folder: Folder) -> None:
    """What a person types, and a file with a password."""
    folder.typed = "correct horse\n" * 2
    folder.patch.setattr("typer.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    (folder.path / "shift.txt").write_text("battery staple\n", "utf-8")


def accounts(folder: Folder) -> None:
    """`ssdpt-data` with the accounts anna and shift."""
    passwords(folder)
    with Store.open("sqlite:///ssdpt-data/ssdpt.db", Path("ssdpt-data")) as opened:
        opened.add_user("anna", "admin", "correct horse")
        opened.add_user("shift", "viewer", "correct horse")


def old_config(folder: Folder) -> None:
    """`monitor.yaml` of an earlier release."""
    (folder.path / "monitor.yaml").write_text("zone: Europe/Berlin\n", "utf-8")


def monitor_config(folder: Folder) -> None:
    """`monitor.yaml`, which names no machine."""
    (folder.path / "monitor.yaml").write_text("timezone: Europe/Berlin\n", "utf-8")


def service(folder: Folder) -> None:
    """A running service with two machines, an event, and an admin whose token is in TOKEN.

    One machine has been sent a clip; an output posts to a receiver.
    """
    soundfile.write(folder.path / "clip.wav", hum(), RATE)
    press = MachineSettings(id="press-1", source=PushedSettings())
    (folder.path / "press-1.json").write_text(press.model_dump_json(), "utf-8")
    pump = MachineSettings(
        id="pump-1", source=PushedSettings(), operating_data=PushedOperatingDataSettings()
    )
    settings = ServerSettings(port=0)
    opened = folder.running.enter_context(
        Store.open("sqlite:///service/s.db", Path("service"), writer=True)
    )
    opened.add_user("anna", "admin", "correct horse")
    opened.save_event(EVENT)
    receiver = folder.running.enter_context(WebReceiver())
    config = MonitorConfig(machines=(pump,), outputs=(WebhookSettings(url=receiver.url),))
    monitor = MonitorService(config, opened, Path("service"))
    monitor.start()
    folder.running.callback(monitor.stop)
    monitor.api.add_machine(press)
    listener = folder.running.enter_context(listening(settings))
    server = new_server(create_app(monitor.api, opened, settings), settings, listener.limits)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    folder.running.callback(thread.join, 60)
    folder.running.callback(setattr, server, "should_exit", True)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    folder.replacements["http://127.0.0.1:8765"] = address
    token = opened.new_token("anna", None)
    folder.patch.setenv("TOKEN", token)
    folder.patch.setenv("EVENT", EVENT.id)
    # curl says nothing but errors, and an answer of the service that is one ends it.
    (folder.path / ".curlrc").write_text("silent\nshow-error\nfail\n", "utf-8")
    folder.patch.setenv("CURL_HOME", str(folder.path))
    sent = urllib.request.Request(
        f"{address}/v1/machines/press-1/audio",
        (folder.path / "clip.wav").read_bytes(),
        {"Authorization": f"Bearer {token}", "Content-Type": "audio/wav"},
    )
    urllib.request.urlopen(sent).close()
    wait_until(
        lambda: monitor.api.machine_status("press-1").level_dbfs is not None, "sound has come"
    )


EVENT = Event(
    id="0123456789abcdef0123456789abcdef",
    machine="press-1",
    kind="anomaly",
    level="alarm",
    began=1.79e9,
    message="unusual sound",
)

PAGES: dict[str, tuple[StandIn, ...]] = {
    "README.md": (recordings,),
    "index.md": (recordings,),
    "how-to/record.md": (recordings,),
    "how-to/fit.md": (recordings, other_machines),
    "how-to/score.md": (recordings, model),
    "how-to/threshold.md": (recordings, model),
    "how-to/adapt.md": (recordings, model),
    "how-to/hop.md": (three_pumps,),
    "how-to/export.md": (recordings, model),
    "how-to/sensors.md": (vibration,),
    "how-to/users.md": (passwords,),
    "how-to/set-up.md": (service, accounts),
    "how-to/backup.md": (store,),
    "how-to/upgrade.md": (old_config,),
    "how-to/new-baseline.md": (service,),
    "how-to/history.md": (service, store, monitor_config),
    "how-to/listening.md": (service,),
    "how-to/notifications.md": (service,),
    "how-to/operating-data.md": (service,),
    "how-to/notebooks.md": (recordings,),
    "how-to/pytorch-datasets.md": (recordings,),
    "reference/http-api.md": (service,),
    "reference/python.md": (recordings,),
    **TUTORIALS,
}

# Pages that take more than some seconds: only `make test-all` runs them.
FULL = {"how-to/export.md"}

# Followed with nothing made smaller, and only so: `test_tutorial_outputs.py`.
ONLY_WHOLE = {"tutorials/edge-device.md", "tutorials/own-detector.md"}

# How many blocks of a page are not run, each for the reason that stands above it.
NOT_RUN = {
    "README.md": 4,
    "explanation/alarms.md": 4,
    "explanation/comparison.md": 2,
    "explanation/how-it-hears.md": 3,
    "explanation/performance.md": 2,
    "explanation/quality.md": 7,
    "explanation/reliability.md": 1,
    "explanation/what-figures-mean.md": 3,
    "how-to/encoders.md": 3,
    "how-to/export.md": 1,
    "how-to/history.md": 1,
    "how-to/https.md": 1,
    "how-to/install.md": 5,
    "how-to/listening.md": 2,
    "how-to/mqtt.md": 1,
    "how-to/notebooks.md": 2,
    "how-to/notifications.md": 1,
    "how-to/own-detector.md": 1,
    "how-to/own-source.md": 1,
    "how-to/record.md": 1,
    "how-to/scale.md": 5,
    "how-to/serve.md": 3,
    "how-to/service.md": 3,
    "how-to/set-up.md": 2,
    "how-to/upgrade.md": 1,
    "index.md": 3,
    "reference/paper-on-real-machines.md": 1,
    "tutorials/bearing.md": 1,
    "tutorials/edge-device.md": 2,
    "tutorials/own-detector.md": 1,
    "tutorials/paper.md": 5,
    "tutorials/propeller.md": 1,
    "tutorials/pump.md": 2,
}
