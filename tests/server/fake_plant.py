"""A monitor without sound: its machines stand still until a test moves them."""

from __future__ import annotations

import io
import math
import time

import numpy as np
import soundfile

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.messages import Event
from ssdpt.monitor.outputs.messages import EventChanged, event_json
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.service.subscriptions import Subscriptions

EVENT = "0123456789abcdef0123456789abcdef"
LIMITS = {"alert": 2.0, "alarm": 3.0, "extrapolated": False, "words": "as measured"}
POINT = {"number": 1, "name": "", "share": 0.75, "level_dbfs": -30.0, "usual": 1.0}
EXITS = {"alert_exit": 1.8, "alarm_exit": 2.7}


class FakeService:
    """What ssdpt.server.interface asks for, with the events of a real store."""

    def __init__(self, store):
        self.store, self.hub, self.metrics = store, Subscriptions(), Metrics()
        self.ready = True
        self.pushed = []
        self.machines = {id: self._new(id, "pushed") for id in ("fan-1", "pump_2")}
        # The level of digital silence, which JSON has no number for.
        self.machines["pump_2"]["level_dbfs"] = -math.inf

    def _new(self, id, kind, name="", site=""):
        source = {"connected": True, "words": "sound comes", "drift_ppm": 1.5}
        return {
            "id": id,
            "name": name or id,
            "site": site,
            "kind": kind,
            "model": "texture",
            "state": "normal",
            "state_since": time.time(),
            "muted_until": None,
            "score": 1.0,
            "p_value": 0.5,
            "level_dbfs": -30.0,
            "last_sound": time.time(),
            "thresholds": {**LIMITS, **EXITS, "per_week": 1.0},
            "operating_point": 1,
            "operating_points": [dict(POINT), {**POINT, "number": 2, "share": 0.25}],
            "added": False,
            "drift": None,
            "source": {**source, "gaps": 0, "reconnects": 0},
            "learning": None,
            "open_events": 0,
            "last_event": None,
            "spark": [[time.time(), 1.0]],
        }

    def plant(self):
        return {
            "now": 1.79e9,
            "name": "Mill",
            "zone": "Europe/Berlin",
            "version": "0.1.0",
            "demo": False,
            "keeps_audio": True,
            "speed": 1.0,
            "notes": [],
            "troubles": [],
            "machines": self.snapshots(),
        }

    def snapshots(self):
        return [self.snapshot(id) for id in self.machines]

    def snapshot(self, id):
        return dict(self.machines[id])

    def subscribe(self):
        return self.hub.subscribe()

    def acknowledge(self, id, who, comment=""):
        return self._changed(self.store.acknowledge(id, who, time.time(), comment))

    def comment(self, id, who, text):
        return self._changed(self.store.comment(id, who, time.time(), text))

    def label(self, id, label, who):
        return self._changed(self.store.label(id, label, who, time.time()))

    def _changed(self, event):
        self.hub.tell("event", event_json(event))
        self.metrics.publish(EventChanged(event))
        return event

    def mute(self, id, until):
        self._set(id, muted_until=until)

    def rebaseline(self, id):
        self._set(id, drift=None)

    def start_learning(self, id, minutes):
        self._set(id, learning={"seconds": 0.0, "wanted": 60 * minutes})

    def stop_learning(self, id):
        self._set(id, learning=None)

    def name_point(self, id, number, name):
        points = self.machines[id]["operating_points"]
        if not 1 <= number <= len(points):
            raise SsdptError(f"machine {id} has no operating point {number}")
        points[number - 1]["name"] = name

    def thresholds(self, id, per_week):
        return {**LIMITS, "alert": self.machines[id]["thresholds"]["alert"] / per_week}

    def set_thresholds(self, id, per_week):
        found = self.thresholds(id, per_week)
        self._set(id, thresholds={**found, **EXITS, "per_week": per_week})
        return found

    def _set(self, id, **changes):
        self.machines[id].update(changes)
        told = self.snapshot(id)
        del told["spark"]
        self.hub.tell("machine", told)

    def push(self, id, samples, rate, channels, time):
        assert samples.shape[1] == channels
        if self.machines[id]["kind"] != "pushed":
            raise SsdptError(f"machine {id} listens to something else")
        if sum(len(one[1]) for one in self.pushed) > 1_000_000:
            raise SsdptError("60 s of sound are waiting to be listened to")
        self.pushed.append((id, samples, rate, time))

    def spectrum(self, id):
        bins = np.linspace(-60, -40, 4)
        return {"hz": bins + 100, "now": bins, "low": bins, "mean": bins, "high": bins * np.nan}

    def waterfall(self, id, seconds):
        columns = np.zeros((int(seconds), 4), np.uint8)
        return {
            "hz": [100.0, 200.0, 400.0, 800.0],
            "begin": time.time() - seconds,
            "seconds_per_column": 1.0,
            "columns": columns,
            "low_db": -100.0,
            "high_db": 0.0,
        }

    def normal_sample(self, id):
        content = io.BytesIO()
        soundfile.write(content, np.zeros(1600, np.float32), 16000, format="FLAC")
        return content.getvalue()

    def event_spectrogram(self, id):
        if self.store.attachment(id, "spectrogram") is None:
            raise SsdptError("this event has no spectrogram")
        return {**self.waterfall(id, 3.0), "map": [[0, 1, 2, 255]] * 3}

    def models(self):
        card = {"card_markdown": "# fan", "sections": ["00"], "clips": 100, "made": "0.1.0"}
        return [{"id": id, "machine": id, "system": "texture", **card} for id in self.machines]

    def add_machine(self, settings):
        found = MachineSettings.model_validate(settings)
        if found.id in self.machines:
            raise SsdptError(f"there is a machine called {found.id} already")
        self.machines[found.id] = self._new(found.id, found.source.kind, found.name, found.site)
        return found.id

    def remove_machine(self, id):
        del self.machines[id]


def an_event(id=EVENT, machine="fan-1", began=None, **more):
    """An alarm of the last minute."""
    began = time.time() - 60 if began is None else began
    return Event(
        id, machine, "anomaly", "alarm", began, "fan-1 sounds odd", peak=3.5, threshold=3.0, **more
    )
