"""The sound of a machine, or of a source on trial, as it arrives: in pieces for listeners."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.recent_sound import to_16_bits
from ssdpt.monitor.capture.voice import LiveVoiceFilter, SoundWithoutVoices
from ssdpt.monitor.config import MonitorConfig
from ssdpt.monitor.service.listening import REASONS, HasSound, SoundStream, listening
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.trials import Trials
from ssdpt.monitor.service.voice_filter import VoiceFilter
from ssdpt.sentences import Sentence

PIECE_SECONDS = 0.25
_MOST_AT_ONCE = 1.0  # seconds; what is older, as after a gap, is left out


@dataclass(frozen=True, slots=True)
class SoundPiece:
    """At most a quarter of a second."""

    time: float  # of the first sample, seconds since 1970
    age: float  # seconds from its last sample to now
    rate: int  # Hz
    samples: bytes  # 16-bit, little-endian
    has_voices: bool  # whether some were cut out


class LiveSound:
    """Follows one machine, or one source on trial, from now on; for one thread at a time."""

    def __init__(
        self,
        find: Callable[[], HasSound],
        config: Callable[[], MonitorConfig],
        voices: Callable[[int], LiveVoiceFilter | None],
    ) -> None:
        """`find`: what is listened to, at any time; `voices`: a filter for a rate in Hz."""
        self._find, self._config, self._voices = find, config, voices
        self._stream: SoundStream | None = None
        self._filter: LiveVoiceFilter | None = None
        self._next = 0  # row of the ring of samples
        # Id of the machine; that of a source on trial need not exist.
        self.machine = find().settings.id
        self._check()

    def take(self) -> list[SoundPiece]:
        """What has arrived since the last call, oldest first.

        SsdptError where it can no longer be listened to, UnknownMachine where it was removed,
        UnknownTrial where the trial is over.
        """
        stream = self._check()
        drops = self._config().retention.drop_speech
        if stream is not self._stream or drops != (self._filter is not None):
            self._stream, self._filter = stream, self._voices(stream.rate)
            self._next = stream.samples.count
        samples, begin, self._next = stream.samples.since(self._next)
        most = round(_MOST_AT_ONCE * stream.rate)
        begin += max(len(samples) - most, 0) / stream.rate
        samples = samples[-most:]
        sound = SoundWithoutVoices.untouched(samples, stream.rate)
        since_arrival = clock.monotonic() - stream.last_chunk_at
        if self._filter is not None:
            begin -= self._filter.delay
            sound = self._filter.feed(samples)
            since_arrival += self._filter.delay
        return list(_pieces(sound, begin, since_arrival))

    def _check(self) -> SoundStream:
        subject = self._find()
        possible = listening(subject, self._config())
        if possible != "possible" or subject.stream is None:
            title, reason = subject.settings.title, REASONS[possible]
            raise SsdptError(Sentence("machines.notListenedTo", machine=title, reason=reason))
        return subject.stream


class LiveSounds:
    """Opens the live sound of machines and of sources on trial."""

    def __init__(
        self,
        machines: MachineRegistry,
        trials: Trials,
        config: Callable[[], MonitorConfig],
        voices: VoiceFilter,
    ) -> None:
        self._machines, self._trials = machines, trials
        self._config, self._voices = config, voices

    def of_machine(self, id: str) -> LiveSound:
        """Of a machine from now on; SsdptError where nobody can listen to it."""
        voices = partial(self._voices.live, id)
        return LiveSound(lambda: self._machines[id], self._config, voices)

    def of_trial(self, id: str) -> LiveSound:
        """Of a source on trial; the machine has learned nothing yet of this source."""
        return LiveSound(
            lambda: self._trials.find(id), self._config, partial(self._voices.live, None)
        )


def _pieces(sound: SoundWithoutVoices, begin: float, since_arrival: float) -> Iterator[SoundPiece]:
    """`since_arrival`: seconds since the last sample arrived."""
    step, now = round(PIECE_SECONDS * sound.rate), clock.time()
    end = begin + len(sound.samples) / sound.rate
    for first in range(0, len(sound.samples), step):
        samples = sound.samples[first : first + step]
        time = begin + first / sound.rate
        until = time + len(samples) / sound.rate
        yield SoundPiece(
            time=time,
            # The clock of a source may be ahead of this one; nothing is heard before it arrives.
            age=max(now - until, since_arrival + end - until),
            rate=sound.rate,
            samples=to_16_bits(samples).astype("<i2").tobytes(),
            has_voices=bool(sound.removed[first : first + step].any()),
        )
