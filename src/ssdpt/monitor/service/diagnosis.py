"""What people diagnose machines with: lines and spectra, of now and of events."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import soundfile

from ssdpt.alarms.indicator_baseline import STEPS_AVERAGED
from ssdpt.diagnosis.analysis import SoundAnalysis, analyse
from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.diagnosis.lines import LineSet, ShaftSpeed
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.gaps import without_gaps
from ssdpt.monitor.messages import Event
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.normal_samples import NormalSamples
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.store import Store
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

_EVENT_SPEED_ERROR = 0.02  # relative, with which the lines of a past event are drawn


class Diagnosis:
    """Analyses what is captured, and the recordings of events. Methods may be called anywhere."""

    def __init__(
        self,
        machines: MachineRegistry,
        store: Store,
        samples: NormalSamples,
        catalogue: Callable[[], BearingCatalogue],
    ) -> None:
        self._machines, self._store, self._samples = machines, store, samples
        self._catalogue = catalogue

    def bearings(self) -> BearingCatalogue:
        """The bearings that are known by name."""
        return self._catalogue()

    def lines(self, id: str, seconds: float = 10.0) -> LineSet:
        """The lines of a machine now: at its speed of the last seconds."""
        machine = self._machines[id]
        end = 0.0 if machine.last is None else machine.last.time
        return _lines(machine, end - seconds, end)

    def event_lines(self, event: Event) -> LineSet:
        """The lines at the speed during an event; none for a machine that is no longer there."""
        machine = self._machines.get(event.machine)
        rpm = event.speed_rpm
        if machine is None or rpm is None:
            return LineSet(speed_rpm=rpm, speed_origin="unknown", lines=())
        lines = machine.shaft.lines_at(ShaftSpeed(rpm, _EVENT_SPEED_ERROR))
        return LineSet(speed_rpm=rpm, speed_origin="fixed", lines=lines)

    def of_machine(
        self, id: str, seconds: float, max_hz: float, band_hz: float | None = None
    ) -> SoundAnalysis | None:
        """The last seconds of a machine, or its last snapshots; None where there is no sound."""
        machine = self._machines[id]
        if isinstance(machine, SnapshotMonitor):
            pieces, rate, length = _snapshots(machine)
        else:
            assert isinstance(machine, StreamMonitor)
            capture = machine.capture
            end = capture.samples.end
            begin = max(end - seconds, capture.begun)
            samples = capture.samples.between(begin, end)[0]
            pieces, rate, length = without_gaps(samples, capture.rate), capture.rate, None
        if not pieces:
            return None
        return analyse(
            pieces,
            rate,
            self.lines(id, seconds),
            normal=self._normal(machine, rate, length),
            max_hz=max_hz,
            band_hz=band_hz,
        )

    def of_event(self, event: Event, max_hz: float, band_hz: float | None = None) -> SoundAnalysis:
        """The unusual part of the recording of an event; SsdptError where there is none."""
        path = self._store.attachment(event.id, "audio")
        if path is None or event.audio_begin is None:
            raise SsdptError(Sentence("api.noRecordingOfEvent"))
        try:
            samples, rate = soundfile.read(path, dtype="float32")
        except (OSError, soundfile.LibsndfileError) as error:
            raise SsdptError(Sentence("api.recordingOfEventRemoved")) from error
        machine = self._machines.get(event.machine)
        length = None
        if isinstance(machine, SnapshotMonitor):
            length = None if machine.judge is None else machine.judge.form.samples
            pieces = _cut(samples, length)[-STEPS_AVERAGED:]  # those that were described
        else:
            delay = 0.0 if machine is None else machine.settings.alarm.min_duration
            began = event.episodes[-1].began if event.episodes else event.began
            first = max(round((began - delay - event.audio_begin) * rate), 0)
            pieces = without_gaps(samples[first:], rate) or without_gaps(samples, rate)
        normal = [] if machine is None else self._normal(machine, rate, length)
        return analyse(
            pieces,
            rate,
            self.event_lines(event),
            normal=normal,
            max_hz=max_hz,
            band_hz=band_hz,
        )

    def _normal(self, machine: MachineMonitor, rate: int, length: int | None) -> Sequence[Floats]:
        """The normal sample, if there is one at this rate; in pieces of `length` samples."""
        try:
            content = self._samples.flac(machine)
        except SsdptError:
            return []
        samples, own_rate = soundfile.read(io.BytesIO(content), dtype="float32")
        return _cut(samples, length) if own_rate == rate else []


def _lines(machine: MachineMonitor, begin: float, end: float) -> LineSet:
    origin, speed = machine.shaft.speed(begin, end)
    return LineSet(
        speed_rpm=None if speed is None else speed.rpm,
        speed_origin=origin,
        lines=machine.shaft.lines_at(speed),
    )


def _snapshots(machine: SnapshotMonitor) -> tuple[list[Floats], int, int | None]:
    """The last ones of the axis that is shown, their rate, and the length of each in samples."""
    last = machine.last_snapshots()
    if not last:
        return [], 0, None
    axes = last[-1].axes
    row = axes.index(machine.shown_axis) if machine.shown_axis in axes else 0
    return [one.samples[row] for one in last], last[-1].sample_rate, last[-1].samples.shape[1]


def _cut(samples: Floats, length: int | None) -> list[Floats]:
    """Snapshots that lie end to end; without a length one piece."""
    if length is None:
        return [samples]
    return [samples[at : at + length] for at in range(0, len(samples) - length + 1, length)]
