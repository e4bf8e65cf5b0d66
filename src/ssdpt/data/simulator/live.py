"""A simulated machine that runs without end: clips joined without an audible seam.

One specimen runs at one operating point, or alternates between two. The microphone keeps its
position and gain. What varies in a real hall still varies from clip to clip: flow, friction, the
strength of each impact.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from ssdpt.data.simulator.catalogue import MACHINES
from ssdpt.data.simulator.machine import Fault, SpeedAndLoad
from ssdpt.data.simulator.preset import preset_named
from ssdpt.data.simulator.recording_site import RecordingSite
from ssdpt.data.simulator.resonance import Casing, Gains
from ssdpt.data.simulator.timebase import PADDED, RATE, Wave, stream
from ssdpt.errors import SsdptError
from ssdpt.types import Floats

FIRST_SEVERITY = 0.3  # of a fault at its onset
GROWTH_SECONDS = 60.0  # from onset to full severity
RUN_DOWN_SECONDS = 2.0  # from switching off to standstill
BLOCK_SECONDS = 0.25

_LEVEL_DB = -36.0  # RMS of normal running against full scale
_OTHER_POINT_DB = 6.0  # level increase at the second operating point
_SNR_DB = 26.0  # microphone close to the machine; the hall is audible once it stops
_EDGE = RATE // 20  # samples at each end of a clip, where the room response wraps around
_FADE = RATE // 2
_OVERLAP = 2 * RATE  # of two clips, in which their rhythms are aligned
_SEARCH = 2 * RATE  # largest shift of the next clip; one cycle of a slow slide
_ENVELOPE = RATE // 100
_SHORTEST = _OVERLAP + (_OVERLAP + _FADE) // 2  # piece whose fade ends before the next onset


class LiveMachine:
    """One specimen of a machine type as an endless stream of sound."""

    def __init__(
        self, machine: str, section: int = 0, seed: int = 0, *, fault: str | None = None
    ) -> None:
        """`machine`: its DCASE 2021 name. The same `seed` gives the same sound.

        `fault`: which one it gets, at a place of its own; None: one that the seed chooses.
        """
        if machine not in MACHINES:
            raise SsdptError(
                f"no simulated machine is called '{machine}'; choose one of {', '.join(MACHINES)}"
            )
        self.machine = machine
        self.section = section
        self._key = (machine, section)
        self._seed = seed
        kind = MACHINES[machine]
        self.point = kind.operating_point("source", stream(seed, "live-point", *self._key))
        self.other_point = kind.operating_point("target", stream(seed, "live-other", *self._key))
        self.fault = fault or kind.faults[seed % len(kind.faults)]
        plant = preset_named("demo")
        self._specimen = kind(section, stream(seed, "specimen", *self._key))
        place = self._key if fault is None else (*self._key, fault)
        self._specimen.casing = _SettledCasing(
            self._specimen.casing, stream(seed, "live-defect", *place)
        )
        self._site = RecordingSite(
            stream(seed, "place", *self._key, "source"), 0.0, plant.placement_spread
        )
        self._response = self._site.response(stream(seed, "live-visit", *self._key))
        levels = [stream(seed, "live-level", *self._key, n) for n in range(4)]
        healthy = [self._clip(rng, self.point, None) for rng in levels]
        level = _rms(np.concatenate(healthy))
        hall = self._at_microphone(self._site.background(stream(seed, "live-level", *self._key)))
        self._gain = np.float32(10.0 ** (_LEVEL_DB / 20.0)) / level
        self._hall_level = level / _rms(hall) * np.float32(10.0 ** (-_SNR_DB / 20.0))

    def sound(
        self,
        take: int = 0,
        *,
        fault_after: float | None = None,
        off_after: float | None = None,
        change_every: float | None = None,
        held: Callable[[], bool] = lambda: False,
    ) -> Iterator[Floats]:
        """Blocks of `BLOCK_SECONDS` at 16 kHz without end; each `take` is another recording.

        After `fault_after` seconds the machine's fault grows from `FIRST_SEVERITY` to 1 within
        `GROWTH_SECONDS`. After `off_after` seconds the machine runs down and only the hall noise
        remains. Every `change_every` seconds, or slightly later, it changes operating point.
        While `held()`, the times until the fault and until the end do not pass.
        """
        block = round(BLOCK_SECONDS * RATE)
        running = _Reader(self._running(take, fault_after, change_every, held))
        hall = _Reader(self._hall(take))
        stop = None if off_after is None else round(off_after * RATE)
        down = round(RUN_DOWN_SECONDS * RATE)
        for start in itertools.count(0, block):
            samples = hall.read(block)
            if stop is not None and held():
                stop += block
            if stop is None or start < stop + down:
                machine = running.read(block)
                if stop is not None and start + block > stop:
                    left = 1.0 - (np.arange(start, start + block) - stop) / down
                    machine = machine * np.square(np.clip(left, 0.0, 1.0)).astype(np.float32)
                samples = samples + machine
            yield np.clip(samples * self._gain, -1.0, 1.0)

    def normal_clips(
        self,
        count: int,
        seconds: float = 10.0,
        take: int = 1,
        *,
        change_every: float | None = None,
    ) -> list[Floats]:
        """`count` clips of normal operation at 16 kHz, cut from `sound`, to fit a model on."""
        sound = _Reader(self.sound(take, change_every=change_every))
        return [sound.read(round(seconds * RATE)) for _ in range(count)]

    def _running(
        self,
        take: int,
        fault_after: float | None,
        change_every: float | None,
        held: Callable[[], bool],
    ) -> Iterator[Wave]:
        """The machine alone, in pieces whose rhythm continues across their seams."""
        onset = None if fault_after is None else round(fault_after * RATE)
        done = 0
        tail: Wave | None = None
        for number in itertools.count():
            seam = 0 if tail is None else done + _OVERLAP // 2
            fault = None
            if onset is not None and seam >= onset:
                growth = min(1.0, (seam - onset) / (GROWTH_SECONDS * RATE))
                fault = Fault(self.fault, FIRST_SEVERITY + (1.0 - FIRST_SEVERITY) * growth)
            changes = 0 if change_every is None else int(seam // (change_every * RATE))
            point = self.other_point if changes % 2 else self.point
            clip = self._clip(stream(self._seed, "live", *self._key, take, number), point, fault)
            if changes % 2:
                clip *= np.float32(10.0 ** (_OTHER_POINT_DB / 20.0))
            piece = clip if tail is None else _joined(tail, clip)
            if onset is not None and fault is None:
                if held():
                    onset += piece.size - _OVERLAP
                # Cut so that the next seam is where the fault begins.
                piece = piece[: max(_SHORTEST, onset - done + _OVERLAP // 2)]
            yield piece[:-_OVERLAP]
            done += piece.size - _OVERLAP
            tail = piece[-_OVERLAP:]

    def _hall(self, take: int) -> Iterator[Wave]:
        """The background noise at the machine's site."""
        tail: Wave | None = None
        for number in itertools.count():
            rng = stream(self._seed, "live-hall", *self._key, take, number)
            wave = self._at_microphone(self._site.background(rng)) * self._hall_level
            if tail is not None:
                wave[:_FADE] = _crossfade(tail, wave[:_FADE])
            yield wave[:-_FADE]
            tail = wave[-_FADE:]

    def _clip(self, rng: np.random.Generator, point: SpeedAndLoad, fault: Fault | None) -> Wave:
        run = self._specimen.run(point, fault, rng)
        return self._at_microphone(run.healthy + run.faulty)

    def _at_microphone(self, wave: Wave) -> Wave:
        """The wave at the microphone, without the ends where the room response wraps around."""
        spectrum = np.fft.rfft(wave) * self._response
        return np.fft.irfft(spectrum, PADDED)[_EDGE:-_EDGE].astype(np.float32)


class _SettledCasing(Casing):
    """A casing whose defect excites the same modes in every clip."""

    def __init__(self, casing: Casing, rng: np.random.Generator) -> None:
        vars(self).update(vars(casing))
        self._gains = casing.defect(rng)

    def defect(self, rng: np.random.Generator) -> Gains:
        return self._gains


class _Reader:
    """Reads any number of samples from a sequence of waves of any length."""

    def __init__(self, waves: Iterator[Wave]) -> None:
        self._waves = waves
        self._buffer: Wave = np.empty(0, np.float32)

    def read(self, count: int) -> Wave:
        while self._buffer.size < count:
            self._buffer = np.concatenate([self._buffer, next(self._waves)])
        samples, self._buffer = self._buffer[:count], self._buffer[count:]
        return samples


def _joined(tail: Wave, clip: Wave) -> Wave:
    """Cross-fade from `tail` to `clip`, with `clip` shifted so that their impacts coincide."""
    late = _best_lag(_envelope(tail), _envelope(clip[: _OVERLAP + _SEARCH])) * _ENVELOPE
    wave = clip[late:].copy()
    first, last = (_OVERLAP - _FADE) // 2, (_OVERLAP + _FADE) // 2
    wave[:first] = tail[:first]
    wave[first:last] = _crossfade(tail[first:last], wave[first:last])
    return wave


def _best_lag(pattern: Wave, envelope: Wave) -> int:
    """Where in `envelope` the `pattern` fits best."""
    windows = np.lib.stride_tricks.sliding_window_view(envelope, pattern.size)
    windows = windows - windows.mean(axis=1, keepdims=True)
    match = windows @ (pattern - pattern.mean()) / np.linalg.norm(windows, axis=1)
    return int(np.argmax(match))


def _envelope(wave: Wave) -> Wave:
    """Level in steps of 10 ms, of the differentiated wave: impacts are brighter than hum."""
    steps = np.diff(wave, prepend=wave[:1]).reshape(-1, _ENVELOPE)
    envelope: Wave = np.sqrt(np.mean(np.square(steps), axis=1))
    return envelope


def _crossfade(out: Wave, into: Wave) -> Wave:
    """Fade from `out` to `into` at equal power."""
    angle = np.linspace(0.0, np.pi / 2, out.size, dtype=np.float32)
    return out * np.cos(angle) + into * np.sin(angle)


def _rms(wave: Wave) -> np.float32:
    return np.float32(np.sqrt(np.mean(np.square(wave, dtype=np.float64))))
