"""A machine of the simulated plant, running live."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from ssdpt.data.simulator.live import BLOCK_SECONDS, LiveMachine
from ssdpt.data.simulator.timebase import RATE
from ssdpt.monitor.config import SimulatedSettings
from ssdpt.monitor.sources.ahead import Ahead
from ssdpt.monitor.sources.base import CHUNK_SECONDS, Source
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.monitor.sources.pace import Pace
from ssdpt.monitor.sources.resampler import Blocks
from ssdpt.types import Floats

_AHEAD_SECONDS = 30.0


class SimulatedSource(Source):
    """Sound is made ahead on a thread of its own and played at `speed` times real time.

    Times go on by counting samples from the start; where the computer cannot keep up, the machine
    runs slower.
    """

    def __init__(self, settings: SimulatedSettings, rate: int, clock: Clock = SYSTEM) -> None:
        super().__init__(rate, 0, clock)
        self._settings = settings
        self._tell(speed=settings.speed)
        self.machine = LiveMachine(settings.machine, settings.section, settings.seed)

    def normal_clips(self, count: int, seconds: float = 10.0) -> list[Floats]:
        """Normal sound of this machine at 16 kHz to fit a model on; none of it is played."""
        return self.machine.normal_clips(count, seconds, change_every=self._settings.change_every)

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        blocks = Blocks(RATE, self.rate, 0, CHUNK_SECONDS)
        pace = Pace(self.rate, self._settings.speed, self.clock)
        self._tell(connected=True, words=self._words(), rate_in=RATE, channels_in=1)
        with Ahead(self._made, round(_AHEAD_SECONDS / BLOCK_SECONDS)) as ahead:
            while not stop.is_set():
                wave = ahead.get()
                if wave is None:
                    continue
                for samples in blocks.feed(wave[:, None]):
                    chunk = pace.chunk(samples, stop)
                    if stop.is_set():
                        break
                    yield chunk
        self._tell(connected=False, words="stopped")

    def _made(self) -> Iterator[Floats]:
        return self.machine.sound(
            fault_after=self._settings.fault_after,
            off_after=self._settings.off_after,
            change_every=self._settings.change_every,
        )

    def _words(self) -> str:
        machine = self.machine
        return (
            f"simulated {machine.machine} {machine.section:02d}, "
            f"{', '.join(f'{name} {value}' for name, value in machine.point.attributes)}"
        )
