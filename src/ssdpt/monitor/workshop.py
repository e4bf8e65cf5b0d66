"""What takes seconds, one thing after the other, so that no second of a machine waits for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdpt.errors import SsdptError
from ssdpt.monitor.learning import fit_baseline, flac
from ssdpt.monitor.machine import MachineMonitor
from ssdpt.monitor.outputs.messages import EventChanged
from ssdpt.monitor.recorder import event_picture
from ssdpt.monitor.spectrum import SpectrumKeeper
from ssdpt.monitor.store import StoreUnavailable
from ssdpt.monitor.types import Event
from ssdpt.types import Floats

if TYPE_CHECKING:
    from ssdpt.monitor.watch import Watch


_LOG = logging.getLogger(__name__)


class Workshop:
    """Fits baselines, draws events, takes their sound up as normal."""

    def __init__(self, monitor: Watch) -> None:
        self.monitor = monitor
        self._bench = ThreadPoolExecutor(1, "ssdpt-workshop")
        self._closed = False

    def close(self) -> None:
        """Begin nothing more; what is under way is not waited for."""
        self._closed = True
        self._bench.shutdown(wait=False, cancel_futures=True)

    def learn(self, machine: MachineMonitor, make: Callable[[], Sequence[Floats]]) -> None:
        """Fit a model to normal clips (samples,) and judge by it from then on."""
        self._bench.submit(
            self._told, machine, "no baseline was learnt", self._learn, machine, make
        )

    def record(self, machine: MachineMonitor, event: str) -> None:
        """Keep sound and picture of an event."""
        words = "the sound of an event is not kept"
        self._bench.submit(self._told, machine, words, self._record, machine, event)

    def absorb(self, machine: MachineMonitor, event: Event) -> None:
        """Take the sound of an event up as normal."""
        words = "the sound was not taken up as normal"
        self._bench.submit(self._told, machine, words, self._absorb, machine, event)

    def _told(
        self, machine: MachineMonitor, words: str, work: Callable[..., None], *given: object
    ) -> None:
        """Do it; whatever stands in the way is told to whoever runs the plant."""
        try:
            work(*given)
        except Exception as error:
            if self._closed:
                return  # torn down in the middle of it
            if isinstance(error, SsdptError | OSError):
                self.monitor.note(f"{machine.settings.title}: {words}: {error}")
                return
            _LOG.exception("%s: %s", machine.id, words)
            self.monitor.note(f"{machine.settings.title}: {words} ({error!r})")

    def _learn(self, machine: MachineMonitor, make: Callable[[], Sequence[Floats]]) -> None:
        monitor = self.monitor
        folder = monitor.roster.model_folder(machine.settings)
        try:
            clips = make()
            fit_baseline(clips, machine.hearing.rate, machine.id, folder)
            monitor.roster.forget(folder)
            model = monitor.roster.model(folder)
            spectrum = SpectrumKeeper(machine.hearing.rate)
            spectrum.learn(clips)
            with monitor.lock:
                # Reading the plant file again may have put another one in its place.
                machine = monitor.machines.get(machine.id, machine)
                machine.adopt(model)
                machine.spectrum, machine.normal_sample = spectrum, clips[-1]
        finally:
            monitor.fitting.discard(machine.id)
            monitor.tell_machine(machine.id)
        monitor.note(f"{machine.settings.title} has learnt its baseline from {len(clips)} clips")

    def _record(self, machine: MachineMonitor, id: str) -> None:
        monitor, rules = self.monitor, self.monitor.file.retention
        event = machine.known(id) or monitor.store.event(id)
        if event is None or not rules.keep_audio:
            return
        # An event begins when it has lasted, and what it began with may lie a clip before that.
        late = machine.settings.alarm.shortest + (
            machine.model.clip_seconds if machine.model else 0
        )
        begin = event.began - late - rules.pre_roll
        end = event.began + rules.post_roll
        samples, begin = machine.hearing.ring.between(begin, end)
        if not len(samples):
            return
        detector = machine.model.detector if machine.model else None
        drawn = event_picture(samples, begin, detector, machine.place.section, machine.hearing.rate)
        if not monitor.writer.flush():  # an attachment belongs to an event that is there
            raise StoreUnavailable(monitor.writer.trouble)
        monitor.store.attach(id, "audio", flac(samples, machine.hearing.rate), ".flac")
        monitor.store.attach(id, "spectrogram", drawn.to_bytes(), ".npz")
        stored = monitor.store.event(id)
        with monitor.lock:
            event = machine.known(id) or stored
            if event is not None:
                event = replace(event, audio_begin=begin, top_bands_hz=drawn.bands_hz)
                machine.replace_event(event)
                monitor.tell(EventChanged(event))

    def _absorb(self, machine: MachineMonitor, event: Event) -> None:
        monitor = self.monitor
        path = monitor.store.attachment(event.id, "audio")
        if machine.model is None or path is None:
            return
        detector = machine.model.detector
        detector.adapt([path], section=machine.place.section or detector.sections[0])
        detector.save(monitor.roster.model_folder(machine.settings))
        monitor.note(
            f"{machine.settings.title} takes the sound of this event as normal from now on"
        )
