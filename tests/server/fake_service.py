"""A monitoring service without sound: its machines stay as they are until a test changes them."""

from __future__ import annotations

import io
import time

import examples
import numpy as np
import soundfile

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import (
    EventChanged,
    LearningProgress,
    MachineChanged,
    MachineRemoved,
    UnknownMachine,
)
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.service.subscriptions import Subscriptions


class FakeService:
    """What MonitorApi offers, with the events of a real store."""

    def __init__(self, store):
        self.store, self.subscriptions, self.metrics = store, Subscriptions(), Metrics()
        self.ready = True
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

    def _changed(self, event):
        message = EventChanged(event=event)
        self.subscriptions.publish(message)
        self.metrics.publish(message)
        return event

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

    def push_snapshot(self, id, message):
        self.machine_status(id)
        self.snapshots.append((id, message))
        return len(message.values or ()) / message.sample_rate

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
