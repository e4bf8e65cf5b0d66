"""What takes seconds, one thing after the other, so that no second of a machine waits for it."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ssdpt.alarms.operating_points import UNKNOWN, OperatingPointLearner
from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.spectrum import SpectrumBaseline
from ssdpt.monitor.events.picture import event_picture
from ssdpt.monitor.learning.baseline import fit_baseline, flac, points_of
from ssdpt.monitor.messages import Event
from ssdpt.monitor.outputs.messages import EventChanged
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.types import Floats

if TYPE_CHECKING:
    from ssdpt.monitor.service.loop import Watch


_LOG = logging.getLogger(__name__)


class JobQueue:
    """Fits baselines, draws events, takes their sound up as normal."""

    def __init__(self, monitor: Watch) -> None:
        self.monitor = monitor
        self._closed = False
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        # A daemon: nobody waits for a model to be fitted when the service is to stop.
        threading.Thread(target=self._run, name="ssdpt-workshop", daemon=True).start()

    def close(self) -> None:
        """Begin nothing more; what is under way is not waited for."""
        self._closed = True
        self._work.put(lambda: None)

    def learn(self, machine: MachineMonitor, make: Callable[[], Sequence[Floats]]) -> None:
        """Fit a model to normal clips (samples,) and judge by it from then on."""
        self._add(machine, "no baseline was learnt", partial(self._learn, machine, make))

    def learn_points(self, machine: MachineMonitor, learner: OperatingPointLearner) -> None:
        """Tell the operating points of a machine apart, by what was heard of it live."""
        words = "its operating points are not known"
        self._add(machine, words, partial(self._learn_points, machine, learner))

    def record(self, machine: MachineMonitor, event: str) -> None:
        """Keep sound and picture of an event: what is in the ring now, and drawn in its turn."""
        monitor, rules = self.monitor, self.monitor.file.retention
        known, model = machine.events.known(event), machine.judge.model
        if known is None or not rules.keep_audio:
            return
        # An event begins when it has lasted, and what it began with may lie a clip before that.
        late = machine.settings.alarm.shortest + (model.clip_seconds if model else 0)
        begin, end = known.began - late - rules.pre_roll, known.began + rules.post_roll
        samples, begin = machine.hearing.ring.between(begin, end)
        if not len(samples):
            monitor.note(f"{machine.settings.title}: nothing is held any more of an event's sound")
            return
        words = "the sound of an event is not kept"
        self._add(machine, words, partial(self._record, machine, event, samples, begin))

    def absorb(self, machine: MachineMonitor, event: Event) -> None:
        """Take the sound of an event up as normal."""
        words = "the sound was not taken up as normal"
        self._add(machine, words, partial(self._absorb, machine, event))

    def keep_sample(self, machine: MachineMonitor) -> None:
        """Keep how it sounds when all is well, to compare with after a restart."""
        words = "its normal sound is not kept"
        self._add(machine, words, partial(self._keep_sample, machine))

    def _add(self, machine: MachineMonitor, words: str, work: Callable[[], None]) -> None:
        self._work.put(partial(self._told, machine, words, work))

    def _run(self) -> None:
        while not self._closed:
            self._work.get()()

    def _told(self, machine: MachineMonitor, words: str, work: Callable[[], None]) -> None:
        """Do it; whatever stands in the way is told to whoever runs the plant."""
        try:
            work()
        except Exception as error:
            if self._closed:
                return  # torn down in the middle of it
            if isinstance(error, SsdptError | OSError):
                self.monitor.note(f"{machine.settings.title}: {words}: {error}")
                return
            _LOG.exception("%s: %s", machine.id, words)
            self.monitor.note(f"{machine.settings.title}: {words} ({error!r})")

    def _learn(self, machine: MachineMonitor, make: Callable[[], Sequence[Floats]]) -> None:
        monitor, id = self.monitor, machine.id
        try:
            clips, rate = make(), machine.hearing.rate
            detector = fit_baseline(clips, rate, id)
            points = points_of(clips, rate, detector)
            spectrum = SpectrumBaseline(rate)
            samples: dict[int, Floats] = {}
            for clip in clips:
                mean = spectrum.log_mel(clip).mean(0)
                number = UNKNOWN if points is None else points.at(mean)
                spectrum.learn(clip, number)
                samples[number] = clip
            with monitor.lock:
                # Reading the plant file again may have put another one in its place, or none.
                now = monitor.machines.get(id)
                if now is None or now.settings.model is not None:
                    return
                model = monitor.roster.learnt(now, detector)
                now.judge.adopt(model, now.settings.section, points)
                now.spectrum, now.normal_samples = spectrum, samples
                monitor.fitting.discard(id)
                for message in now.turn("starting"):
                    monitor.tell(message)
            monitor.roster.remember(now)
        finally:
            with monitor.lock:
                monitor.fitting.discard(id)
                if id not in monitor.learning:
                    monitor.store.forget(id, "learning")
            monitor.tell_machine(id)
        self._keep_sample(now)
        monitor.note(f"{now.settings.title} has learnt its baseline from {len(clips)} clips")

    def _learn_points(self, machine: MachineMonitor, learner: OperatingPointLearner) -> None:
        baseline = machine.judge.baseline
        points = learner.learn()
        with self.monitor.lock:
            now = self.monitor.machines.get(machine.id)
            if now is None or now.judge.baseline is not baseline:
                return  # it has another model meanwhile
            baseline.tell_apart(points)
        self.monitor.roster.remember(now)
        self.monitor.tell_machine(machine.id)

    def _record(self, machine: MachineMonitor, id: str, samples: Floats, begin: float) -> None:
        monitor, model = self.monitor, machine.judge.model
        section, rate = machine.judge.place.section, machine.hearing.rate
        drawn = event_picture(samples, begin, model.detector if model else None, section, rate)
        if not monitor.writer.flush():  # an attachment belongs to an event that is there
            raise StoreUnavailable(monitor.writer.trouble)
        monitor.store.attach(id, "audio", flac(samples, rate), ".flac")
        monitor.store.attach(id, "spectrogram", drawn.to_bytes(), ".npz")
        stored = monitor.store.event(id)
        with monitor.lock:
            machine = monitor.machines.get(machine.id, machine)
            event = machine.events.known(id) or stored
            if event is None:
                return
            event = replace(event, audio_begin=begin, top_bands_hz=drawn.bands_hz)
            machine.events.replace(event)
            monitor.tell(EventChanged(event))
        if event.label == "normal":  # someone was faster
            self.absorb(machine, event)

    def _absorb(self, machine: MachineMonitor, event: Event) -> None:
        monitor, id = self.monitor, machine.id
        path = monitor.store.attachment(event.id, "audio")
        machine = monitor.machines.get(id, machine)
        judge, model = machine.judge, machine.judge.model
        if model is None or path is None:
            return
        # A copy: others may be judged by the same model, at this moment.
        detector = Detector.load(monitor.roster.folder_of(machine), device="cpu")
        detector.adapt([path], section=judge.place.section or detector.sections[0])
        with monitor.lock:
            now = monitor.machines.get(id)
            if now is None or now.judge.model is not model:
                raise SsdptError("it is judged by another model meanwhile; say it again")
            now.judge.model = monitor.roster.learnt(now, detector)
        monitor.roster.remember(now)
        monitor.note(f"{now.settings.title} takes the sound of this event as normal from now on")

    def _keep_sample(self, machine: MachineMonitor) -> None:
        sample = machine.normal_sample
        if sample is not None and self.monitor.file.retention.keep_audio:
            content = flac(np.asarray(sample), machine.hearing.rate)
            self.monitor.store.keep_sample(machine.id, content, ".flac")
