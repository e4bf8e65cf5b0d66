"""How far a stretch of sound without gaps has come, and the readings that wait for its verdict."""

from __future__ import annotations

from ssdpt.monitor.messages import MachineState, Message, Reading, ReadingTaken


class StretchProgress:
    """Counts the seconds since the last gap.

    Readings of a recording are held back until a whole clip of it can be judged: the verdict is on
    all of its seconds.
    """

    def __init__(self) -> None:
        self.seconds = 0  # since the last gap
        self._begun = 0.0  # when the sound began
        self._held: list[Reading] = []

    def add_second(self, begun: float) -> bool:
        """One more second of sound that began at `begun`; whether a gap was before it."""
        after_gap = begun != self._begun
        if after_gap:
            self._begun, self.seconds = begun, 0
        self.seconds += 1
        return after_gap

    def hold(self, reading: Reading) -> None:
        """Keep a reading back."""
        self._held.append(reading)

    def release(self, state: MachineState | None) -> list[Message]:
        """The readings that were held back, with the state of the verdict on them, if any."""
        held, self._held = self._held, []
        changes = {} if state is None else {"state": state}
        return [ReadingTaken(reading=reading.model_copy(update=changes)) for reading in held]
