"""A monitoring service without sound: its machines stay as they are until a test changes them."""

from __future__ import annotations

import io
import secrets
import time

import examples
import numpy as np
import soundfile

from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import SensorSettings
from ssdpt.monitor.messages import (
    EventChanged,
    LearningProgress,
    MachineChanged,
    MachineRemoved,
    OutputTest,
    UnknownMachine,
)
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.service.live_sound import SoundPiece
from ssdpt.monitor.service.outputs import UnknownOutput
from ssdpt.monitor.service.subscriptions import Subscriptions
from ssdpt.monitor.service.trials import UnknownTrial
from ssdpt.monitor.setup_messages import ChangeEffect
from ssdpt.monitor.sources.snapshot_message import snapshot_of


class FakeDiagnosis:
    """What Diagnosis offers, always the same."""

    def __init__(self, service):
        self._service = service

    def bearings(self):
        return BearingCatalogue.shipped()

    def lines(self, id):
        self._service.machine_status(id)
        return examples.line_set()

    def event_lines(self, event):
        return examples.line_set()

    def of_machine(self, id, seconds, max_hz, band_hz):
        self._service.machine_status(id)
        return examples.sound_analysis()

    def of_event(self, event, max_hz, band_hz):
        if self._service.store.attachment(event.id, "audio") is None:
            raise SsdptError("there is no recording of this event")
        return examples.sound_analysis()


class FakeService:
    """What MonitorApi offers, with the events of a real store."""

    def __init__(self, store):
        self.store, self.subscriptions, self.metrics = store, Subscriptions(), Metrics()
        self.ready = True
        self.diagnosis = FakeDiagnosis(self)
        self.pushed = []
        self.snapshots = []
        # Digital silence has the level −∞ dB, which JSON has no number for.
        silent = examples.machine("pump_2", level_dbfs=-np.inf)
        everything = examples.machine_with_everything("fan-1")
        self.machines = {each.id: each for each in (everything, silent)}

    def machine_ids(self):
        return list(self.machines)

    def status(self):
        return examples.service_status()

    def config_upgrades(self):
        return ()

    def machine_statuses(self):
        return list(self.machines.values())

    def machine_status(self, id):
        try:
            return self.machines[id]
        except KeyError:
            raise UnknownMachine(id) from None

    def subscribe(self):
        return self.subscriptions.subscribe()

    def acknowledge(self, id, who, comment=""):
        return self._changed(self.store.acknowledge(id, who, time.time(), comment))

    def comment(self, id, who, text):
        return self._changed(self.store.comment(id, who, time.time(), text))

    def label(self, id, label, who):
        return self._changed(self.store.label(id, label, who, time.time()))

    def set_details(self, id, details, who):
        return self._changed(self.store.set_details(id, who, time.time(), details))

    def judge_recognition(self, id, *, right, who):
        event = self.store.event(id)
        if event is not None and event.looks_like is None:
            raise SsdptError("nothing was recognised in this event; name its fault instead")
        if right and event is not None:
            return self.set_details(id, {"fault": event.looks_like.fault}, who)
        return self._changed(self.store.reject_looks_like(id, who, time.time()))

    def weekly_report(self, week=None):
        return examples.weekly_report()

    def _changed(self, event):
        message = EventChanged(event=event)
        self.subscriptions.publish(message)
        self.metrics.publish(message)
        return event

    def keep_sound(self, id, minutes, who, note=""):
        recording = examples.kept_recording(secrets.token_hex(16), machine=id, who=who, note=note)
        self.store.keep_recording(recording, self.normal_sample(id), ".flac")
        return recording

    def live_sound(self, id):
        if id != "fan-1":
            raise SsdptError(f"{id}: its sound arrives in recordings, not as a stream")
        return FakeLiveSound(id)

    def trial_sound(self, id):
        self.trial(id, 0.0)
        return FakeLiveSound("saw")

    def mute(self, id, until):
        self._set(id, muted_until=until)

    def commission(self, id, *, healthy):
        at = examples.TIME if healthy else None
        self._set(id, question=None, baseline=examples.baseline(commissioned_at=at))

    def accept_drift(self, id):
        self._set(id, drift=None)

    def start_learning(self, id, minutes):
        self._set(id, learning=LearningProgress(seconds=0.0, target_seconds=60 * minutes))

    def stop_learning(self, id):
        self._set(id, learning=None)

    def name_operating_point(self, id, number, name):
        points = list(self.machine_status(id).operating_points)
        if not 1 <= number <= len(points):
            raise SsdptError(f"machine {id} has no operating point {number}")
        points[number - 1] = points[number - 1].model_copy(update={"name": name})
        self._set(id, operating_points=tuple(points))

    def thresholds(self, id, false_alerts_per_week):
        alert = self.machine_status(id).thresholds.alert / false_alerts_per_week
        return examples.thresholds(alert=alert, false_alerts_per_week=false_alerts_per_week)

    def set_false_alerts(self, id, false_alerts_per_week):
        thresholds = self.thresholds(id, false_alerts_per_week)
        self._set(id, thresholds=thresholds)
        return thresholds

    def _set(self, id, **changes):
        self.machines[id] = self.machine_status(id).model_copy(update=changes)
        self.subscriptions.publish(MachineChanged(status=self.machines[id]))

    def push(self, id, samples, rate, channels, time):
        assert samples.shape[1] == channels
        if self.machine_status(id).source.kind != "pushed":
            raise SsdptError(f"machine {id} has a source of another kind")
        if sum(len(samples) for _, samples, _, _ in self.pushed) > 1_000_000:
            raise SsdptError("60 s of sound are waiting to be processed")
        self.pushed.append((id, samples, rate, time))
        return len(samples) / rate

    def push_snapshot(self, id, message):
        self.machine_status(id)
        snapshot = snapshot_of(message, SensorSettings(snapshots=True, unit="g"), time.time())
        self.snapshots.append((id, message))
        return snapshot.seconds

    def push_operating_data(self, id, *, running, speed_rpm, load_percent):
        if speed_rpm is not None and not 0 <= speed_rpm <= 100_000:
            text = f"a speed of {speed_rpm:,.0f} rpm is not plausible (0 to 100,000 rpm)"
            raise SsdptError(text)
        data = examples.operating_data(
            running=running, speed_rpm=speed_rpm, load_percent=load_percent
        )
        self._set(id, operating_data=data)

    def spectrum(self, id):
        return examples.spectrum()

    def spectrogram(self, id, seconds):
        return examples.spectrogram(seconds)

    def normal_sample(self, id):
        content = io.BytesIO()
        soundfile.write(content, np.zeros(1600, np.float32), 16000, format="FLAC")
        return content.getvalue()

    def event_spectrogram(self, id):
        if self.store.attachment(id, "spectrogram") is None:
            raise SsdptError("this event has no spectrogram")
        return examples.event_spectrogram()

    def models(self):
        return [examples.model(id) for id in self.machines]

    def outputs(self):
        return examples.outputs()

    def test_output(self, number):
        if number > len(examples.outputs()):
            raise UnknownOutput(number)
        return OutputTest(ok=number == 1, message="accepted" if number == 1 else "answers 500")

    def add_machine(self, settings):
        if settings.id in self.machines:
            raise SsdptError(f"there is a machine called {settings.id} already")
        self.machines[settings.id] = examples.machine(
            settings.id,
            name=settings.name or settings.id,
            site=settings.site,
            source=examples.source(kind=settings.source.kind),
            added_on_page=True,
        )
        return settings.id

    def remove_machine(self, id):
        del self.machines[id]
        self.subscriptions.publish(MachineRemoved(machine=id))

    # --- Setting up -------------------------------------------------------------------------------

    def receives(self, id):
        return id in self.machines

    def microphones(self):
        return examples.microphones()

    def open_trial(self, settings):
        return examples.trial()

    def trial(self, id, seconds):
        if id != examples.TRIAL:
            raise UnknownTrial(id)
        return examples.trial()

    def close_trial(self, id):
        self.trial(id, 0.0)

    def definition(self, id):
        return examples.definition(id)

    def change_effect(self, settings):
        return ChangeEffect(baseline="kept")

    def change_machine(self, settings, choice):
        self._set(settings.id, name=settings.title, site=settings.site)

    def remove_ignored_definition(self, id):
        self.machine_status(id)


class FakeLiveSound:
    """A quarter of a second of silence at every call."""

    def __init__(self, machine):
        self.machine = machine

    def take(self):
        return [SoundPiece(time.time(), 0.1, 16000, bytes(8000), has_voices=False)]
