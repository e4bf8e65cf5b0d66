"""A simulated machine, running live."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from ssdpt.data.simulator.live import BLOCK_SECONDS, LiveMachine
from ssdpt.data.simulator.timebase import RATE
from ssdpt.monitor.config import PlaybackSettings
from ssdpt.monitor.sources.background import BackgroundIterator
from ssdpt.monitor.sources.base import CHUNK_SECONDS, Source
from ssdpt.monitor.sources.block_converter import BlockConverter
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.playback import PlaybackTimer
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

_AHEAD_SECONDS = 30.0


class SimulatedSettings(PlaybackSettings):
    """A simulated machine, running live."""

    kind: Literal["simulated"] = "simulated"
    machine: str = Field("fan", description="fan, gearbox, pump, slider, valve, ToyCar, ToyTrain")
    section: int = Field(0, ge=0, description="which machine of that type")
    seed: int = Field(0, ge=0, description="of all random numbers")
    fault_after: float | None = Field(
        None, ge=0, description="seconds until a fault starts to grow"
    )
    off_after: float | None = Field(None, ge=0, description="seconds until it is switched off")
    change_every: float | None = Field(
        None, ge=10, description="seconds between changes of the operating point"
    )

    @property
    def reads_local_files(self) -> bool:
        return False


class SimulatedSource(Source):
    """Generates sound ahead on a thread of its own and plays it at the chosen speed.

    Times are counted in samples from the start. Where the computer cannot keep up, the machine runs
    slower.
    """

    settings_class = SimulatedSettings

    def __init__(self, settings: SimulatedSettings, rate: int, clock: Clock = SYSTEM) -> None:
        super().__init__(settings, rate, clock)
        self._settings = settings
        self.machine = LiveMachine(settings.machine, settings.section, settings.seed)
        # Set: the times until it fails and is switched off do not pass.
        self.held = threading.Event()

    def normal_clips(self, count: int, seconds: float = 10.0) -> list[Floats]:
        """Normal clips (samples,) of this machine at 16 kHz to fit a model; never played."""
        return self.machine.normal_clips(count, seconds, change_every=self._settings.change_every)

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        converter = BlockConverter(RATE, self.rate, 0, CHUNK_SECONDS)
        timer = PlaybackTimer(self.rate, self._settings.speed, self.clock)
        message = self._message()
        self._update_status(connected=True, message=message, rate_in=RATE, channels_in=1)
        with BackgroundIterator(self._sound, round(_AHEAD_SECONDS / BLOCK_SECONDS)) as blocks:
            while not stop.is_set():
                block = blocks.get()
                if block is None:
                    continue
                for samples in converter.feed(block[:, None]):
                    chunk = timer.chunk(samples, stop)
                    if stop.is_set():
                        break
                    yield chunk
        self._update_status(connected=False, message=Sentence("sources.stopped"))

    def _sound(self) -> Iterator[Floats]:
        return self.machine.sound(
            fault_after=self._settings.fault_after,
            off_after=self._settings.off_after,
            change_every=self._settings.change_every,
            held=self.held.is_set,
        )

    def _message(self) -> str:
        machine = self.machine
        return Sentence(
            "sources.simulated",
            machine=f"{machine.machine} {machine.section:02d}",
            attributes=[f"{name} {value}" for name, value in machine.point.attributes],
        )
