"""Live sound for listeners: each sound is followed once, however many listen to it."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections import deque
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import UnknownMachine
from ssdpt.monitor.service.live_sound import LiveSound, SoundPiece
from ssdpt.monitor.service.trials import UnknownTrial
from ssdpt.sentences import Sentence, said
from ssdpt.server.problems import NO_MACHINE, NO_TRIAL

MOST_LISTENERS = 32
_MOST_QUEUED = 8  # pieces, two seconds; a client that is further behind is disconnected
_POLL = 0.1  # seconds
_HEADER = struct.Struct("<dfII")
_VOICES = 1
LOG = logging.getLogger(__name__)


def encode(piece: SoundPiece) -> bytes:
    """A header of 20 bytes, then 16-bit samples, all little-endian.

    Time of the first sample (float64, s), age of the last one when it was sent (float32, s), rate
    (uint32, Hz), flags (uint32; 1 = voices were cut out).
    """
    flags = _VOICES if piece.has_voices else 0
    return _HEADER.pack(piece.time, piece.age, piece.rate, flags) + piece.samples


class Listener:
    """The pieces that one client has not been sent yet. Only used on the server's event loop."""

    def __init__(self) -> None:
        self._queued: deque[bytes] = deque()
        self._changed = asyncio.Event()
        self.machine = ""  # id of what is listened to
        self.ended = ""  # why nothing more comes, in a sentence
        self.closed = asyncio.Event()  # set with it

    def put(self, piece: bytes) -> None:
        """Add a piece; a client that does not read is disconnected."""
        if len(self._queued) >= _MOST_QUEUED:
            self.end(Sentence("api.tooSlow"))
        else:
            self._queued.append(piece)
            self._changed.set()

    def end(self, reason: str) -> None:
        """Send nothing more."""
        self.ended = self.ended or reason
        self.closed.set()

    async def take(self) -> bytes:
        """The next piece as soon as there is one."""
        while not self._queued:
            self._changed.clear()
            await self._changed.wait()
        return self._queued.popleft()


class Listeners:
    """All who listen, by the address of the sound: `machines/fan-1`, `trials/3f2a`."""

    def __init__(self) -> None:
        self._by_address: dict[str, set[Listener]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_address.values()))

    async def add(self, address: str, open: Callable[[], LiveSound]) -> Listener:
        """Begin to listen; SsdptError where that is not possible."""
        if len(self) >= MOST_LISTENERS:
            raise HTTPException(503, Sentence("api.tooManyListeners", count=MOST_LISTENERS))
        listener = Listener()
        # Counted before anything is waited for: many may come at once.
        self._by_address.setdefault(address, set()).add(listener)
        try:
            sound = await run_in_threadpool(open)
        except BaseException:
            self.remove(address, listener)
            raise
        listener.machine = sound.machine
        if address not in self._tasks:
            self._tasks[address] = asyncio.create_task(self._follow(address, sound))
        return listener

    def remove(self, address: str, listener: Listener) -> None:
        """A listener has left; the last one ends the work."""
        listeners = self._by_address.get(address, set())
        listeners.discard(listener)
        if not listeners:
            self._by_address.pop(address, None)
            if (task := self._tasks.pop(address, None)) is not None:
                task.cancel()

    def close(self) -> None:
        """Disconnect everyone."""
        for listeners in self._by_address.values():
            for listener in listeners:
                listener.end(Sentence("api.listeningEnded"))

    async def _follow(self, address: str, sound: LiveSound) -> None:
        reason: str = Sentence("api.listeningFailed")
        try:
            while True:
                for piece in await run_in_threadpool(sound.take):
                    encoded = encode(piece)
                    for listener in self._by_address.get(address, set()):
                        listener.put(encoded)
                await asyncio.sleep(_POLL)
        except UnknownMachine:
            reason = NO_MACHINE
        except UnknownTrial:
            reason = NO_TRIAL
        except SsdptError as error:
            reason = said(error)
        except Exception:
            LOG.exception("live sound of %s has failed", address)
        self._tasks.pop(address, None)
        for listener in self._by_address.get(address, set()):
            listener.end(reason)
