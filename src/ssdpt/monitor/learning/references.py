"""What a machine is compared with: its normal spectrum, sound and condition indicators.

They belong to the baseline that they were learned with, and change only when a person learns a new
one or accepts a drift: what goes on learning would take a fault for normal after a while.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ssdpt.alarms.indicator_baseline import FEWEST_STEPS, IndicatorBaseline
from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.features.indicators import Indicators
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.capture.spectrum import SpectrumBaseline
from ssdpt.monitor.messages import BaselineStatus
from ssdpt.types import Floats

LIVE_SECONDS = 600  # of normal running, where the model comes from elsewhere
_SAMPLE_SECONDS, _SAMPLE_EVERY = 10.0, 60  # of the normal sample, seconds


class References:
    """Spectrum, sound and indicators of one baseline.

    With a baseline that the machine has learned itself they are complete from the start. Where the
    configuration names the model, they are learned from the first minutes that are judged normal.
    """

    def __init__(self) -> None:
        self.spectrum = SpectrumBaseline()
        self.samples: dict[int, Floats] = {}  # some seconds (samples,) by operating point
        self.indicators: IndicatorBaseline | None = None
        self.sound: SoundReference | None = None  # what a changed sound is compared with
        self.learned_at: float | None = None  # seconds since 1970; None until complete
        self.recordings = 1  # independent ones, made at different times
        self.commissioned_at: float | None = None
        self._seconds_left = LIVE_SECONDS
        self._steps: list[Indicators] = []  # of the seconds learned so far

    @property
    def complete(self) -> bool:
        """Whether nothing more is learned."""
        return self._seconds_left == 0

    @property
    def usual_dbfs(self) -> float | None:
        """The usual level of the whole sound; None until it is known."""
        return None if self.indicators is None else float(self.indicators.usual_db[0])

    @property
    def status(self) -> BaselineStatus | None:
        """As it is shown; None until it is complete."""
        if self.learned_at is None:
            return None
        return BaselineStatus(
            learned_at=self.learned_at,
            recordings=self.recordings,
            commissioned_at=self.commissioned_at,
        )

    def finish(
        self, indicators: Sequence[Indicators], learned_at: float, *, recordings: int = 1
    ) -> None:
        """All that belongs to the baseline is learned; earlier indicators stay normal too."""
        if len(indicators) >= FEWEST_STEPS:
            learned = IndicatorBaseline.learn(indicators, learned_at)
            before = self.indicators
            self.indicators = learned if before is None else learned.joined(before)
        self.learned_at, self.recordings = learned_at, recordings
        self._seconds_left, self._steps = 0, []

    def learn_on(self) -> None:
        """Its operating points are known now: learn for some minutes what is normal at each."""
        self._seconds_left = LIVE_SECONDS

    def learn(
        self,
        now: float,
        capture: AudioCapture,
        spectrum: Floats | None,
        indicators: Indicators | None,
        point: int,
        *,
        recordings: int,
    ) -> bool:
        """A normal second that ended now, at this operating point; whether all is learned with it.

        `spectrum` (bins,) in dB; `recordings`: that the model was learned from.
        """
        if self.complete:
            return False
        if spectrum is not None:
            self.spectrum.learn(spectrum, point)
        if indicators is not None:
            self._steps.append(indicators)
        if point not in self.samples or self._seconds_left % _SAMPLE_EVERY == 0:
            self._take_sample(now, capture, point)
        self._seconds_left -= 1
        if self._seconds_left > 0:
            return False
        self.finish(self._steps, now, recordings=recordings)
        return True

    def accept(
        self, now: float, capture: AudioCapture, begin: float, point: int, *, several_points: bool
    ) -> None:
        """Take what was captured since `begin` as normal at this operating point, and its date.

        What was learned of other points stays.
        """
        self.spectrum.forget(point)
        if not several_points:
            self.indicators = None
        self._take_sample(now, capture, point)
        self.finish(self._add(now, capture, begin, point), now, recordings=self.recordings)

    def commission(self, now: float, capture: AudioCapture, begin: float, point: int) -> None:
        """Take what was captured since `begin` as normal too: a person says so."""
        self.commissioned_at = now
        if self.indicators is not None and self.learned_at is not None:
            steps = self._add(now, capture, begin, point)
            if len(steps) >= FEWEST_STEPS:
                heard = IndicatorBaseline.learn(steps, self.learned_at)
                self.indicators = self.indicators.joined(heard)

    def _add(self, now: float, capture: AudioCapture, begin: float, point: int) -> list[Indicators]:
        """Add the spectra of the seconds since `begin`; their indicators."""
        for end, _ in list(capture.levels):
            if begin < end <= now and (second := capture.spectrum(end)) is not None:
                self.spectrum.learn(second, point)
        return [one for end, one in list(capture.indicators) if begin < end <= now]

    def _take_sample(self, now: float, capture: AudioCapture, point: int) -> None:
        if now - capture.begun >= _SAMPLE_SECONDS:  # a gap is silence
            samples = capture.samples.between(now - _SAMPLE_SECONDS, now)[0]
            self.samples[point] = np.array(samples)

    def values(self) -> dict[str, Any]:
        """What must outlive a restart, by key; the sample is kept as a file."""
        if self.learned_at is None:
            return {}
        return {
            "spectra": self.spectrum.to_json(),
            "sound_reference": None if self.sound is None else self.sound.to_json(),
            "references": {
                "learned_at": self.learned_at,
                "recordings": self.recordings,
                "commissioned_at": self.commissioned_at,
                "seconds_left": self._seconds_left,
                "indicators": None if self.indicators is None else self.indicators.to_json(),
            },
        }

    def restore(self, get: Callable[[str], Any]) -> None:
        """The reverse of `values`; what was not complete is learned again."""
        state = get("references")
        if state is None:
            return
        self.spectrum.restore(get("spectra") or {})
        self.learned_at, self.recordings = float(state["learned_at"]), int(state["recordings"])
        self.commissioned_at = state["commissioned_at"]
        self._seconds_left = int(state["seconds_left"])
        if state["indicators"] is not None:
            self.indicators = IndicatorBaseline.from_json(state["indicators"])
        if (sound := get("sound_reference")) is not None:
            self.sound = SoundReference.from_json(sound)
