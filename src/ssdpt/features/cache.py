"""What a front end makes of a set of recordings, in one memory-mapped array, computed once.

The array is (all frames, bins) and holds the front end's numbers exactly, so that a clip scores
the same from the cache and from its file. It lies under the user's cache folder (`SSDPT_CACHE`
overrides), named by what it was made from; the least recently used ones go when the folder
outgrows `SSDPT_CACHE_GB` (default 20). Features of clips in memory stay in memory.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ssdpt.common.files import atomic_folder, write_json, writing
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.common.threads import cores
from ssdpt.config.settings import AudioConfig
from ssdpt.data import audio
from ssdpt.data.sensor import sensor_of
from ssdpt.errors import SsdptError
from ssdpt.features.front_end import FrontEnd
from ssdpt.types import Floats, Recording

_FORMAT = 3
_FRAMES = "frames.bin"
_LONG_SECONDS = 600.0  # a longer recording passes block by block instead of as a whole


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """Frames of several clips, end to end, and the recordings they come from."""

    recordings: tuple[Recording, ...]
    frames: Floats  # (all frames, bins), memory-mapped; float16 where the front end stores that
    offsets: NDArray[np.int64]  # (clips + 1,): clip c is frames[offsets[c]:offsets[c + 1]]
    failures: tuple[tuple[Recording, str], ...] = ()  # unreadable recordings, and why

    def __len__(self) -> int:
        return len(self.recordings)

    def clip(self, index: int) -> Floats:
        """The frames of one clip, (frames, bins) float32: a view where they are stored so."""
        stored = self.frames[self.offsets[index] : self.offsets[index + 1]]
        return stored.astype(np.float32, copy=False)

    def subset(self, indices: Sequence[int]) -> FeatureView:
        """Some of the clips, on the same array."""
        return FeatureView(self, tuple(indices))

    def cut(self, clip_frames: int) -> FeatureSet:
        """The same frames with every long recording cut into clips of about `clip_frames`.

        A recording under one and a half times that length stays whole. The clips of a recording
        all name that recording.
        """
        recordings: list[Recording] = []
        borders = [0]
        for index, recording in enumerate(self.recordings):
            first, last = self.offsets[index], self.offsets[index + 1]
            pieces = max(1, int((last - first) / clip_frames + 0.5))
            borders += np.linspace(first, last, pieces + 1).astype(int)[1:].tolist()
            recordings += [recording] * pieces
        return FeatureSet(tuple(recordings), self.frames, np.array(borders), self.failures)

    @classmethod
    def joined(cls, sets: Sequence[FeatureSet]) -> FeatureSet:
        """The clips of several sets end to end, in memory."""
        sizes = [len(part.frames) for part in sets]
        shifts = np.cumsum([0, *sizes[:-1]])
        offsets = [part.offsets[:-1] + shift for part, shift in zip(sets, shifts, strict=True)]
        return cls(
            recordings=tuple(item for part in sets for item in part.recordings),
            frames=np.concatenate([part.frames for part in sets]),
            offsets=np.concatenate([*offsets, [sum(sizes)]]),
            failures=tuple(failure for part in sets for failure in part.failures),
        )

    def all(self) -> FeatureView:
        """Every clip."""
        return self.subset(range(len(self)))


@dataclass(frozen=True, slots=True)
class FeatureView:
    """Some clips of a `FeatureSet`; the array itself is shared."""

    source: FeatureSet
    indices: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def recordings(self) -> list[Recording]:
        return [self.source.recordings[index] for index in self.indices]

    def clips(self) -> Iterator[tuple[Recording, Floats]]:
        """Each recording with its frames (frames, bins)."""
        for index in self.indices:
            yield self.source.recordings[index], self.source.clip(index)

    def spans(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First frame of every clip in the shared array, and its number of frames: (clips,)."""
        index = np.array(self.indices, np.int64)
        offsets = self.source.offsets
        return offsets[index], offsets[index + 1] - offsets[index]

    def without(self, positions: Sequence[int]) -> FeatureView:
        """All but the clips at these positions of this view."""
        left_out = set(positions)
        return FeatureView(
            self.source,
            tuple(index for place, index in enumerate(self.indices) if place not in left_out),
        )

    def only(self, positions: Sequence[int]) -> FeatureView:
        """Just the clips at these positions of this view."""
        return FeatureView(self.source, tuple(self.indices[place] for place in positions))


def cache_folder() -> Path:
    """Where features are kept."""
    if chosen := os.environ.get("SSDPT_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "ssdpt" / "features"


def features_of(
    recordings: Sequence[Recording],
    audio_config: AudioConfig,
    front_end: FrontEnd,
    *,
    strict: bool = False,
    reporter: Reporter = SILENT,
) -> FeatureSet:
    """The frames of `recordings`, from the cache where they have been computed before.

    A recording that cannot be read is left out and named in `failures`; the others are read.
    If clips in memory are among them, nothing is written.
    """
    if any(recording.clip is not None for recording in recordings):
        return _in_memory(recordings, audio_config, front_end, strict, reporter)
    folder = cache_folder() / _key(recordings, audio_config, front_end, strict)
    if cached := _cached(recordings, folder, front_end):
        return cached
    with _only_one(folder):
        # Whoever held the lock before may have made just this.
        if cached := _cached(recordings, folder, front_end):
            return cached
        with atomic_folder(folder) as temporary:
            _compute(recordings, audio_config, front_end, strict, temporary, reporter)
        _prune(keep=folder)
        return _open(recordings, folder, front_end)


@contextlib.contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """One thread of one process at a time; the others wait instead of computing the same."""
    lock = folder.with_name(f"{folder.name}.lock")
    with writing(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("w")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
        lock.unlink(missing_ok=True)


def _cached(
    recordings: Sequence[Recording], folder: Path, front_end: FrontEnd
) -> FeatureSet | None:
    """What was computed before; None where it is not there yet, or damaged."""
    try:
        return _open(recordings, folder, front_end)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _key(
    recordings: Sequence[Recording],
    audio_config: AudioConfig,
    front_end: FrontEnd,
    strict: bool,
) -> str:
    """Changes when a file (path, size, time of change), its sensor or the front end does."""
    hasher = hashlib.blake2b(digest_size=16)
    settings = [_FORMAT, strict, audio_config.model_dump(), front_end.name, front_end.settings]
    hasher.update(json.dumps(settings, sort_keys=True).encode())
    for path in (path for recording in recordings for path in recording.files):
        try:
            status = path.stat()
            version = f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
        except OSError:
            version = "missing"
        sensor = sensor_of(path).model_dump_json(exclude_defaults=True)
        hasher.update(os.fsencode(path.resolve()) + f":{version}{sensor}\n".encode())
    hasher.update(json.dumps([len(recording.files) for recording in recordings]).encode())
    return hasher.hexdigest()


def _in_memory(
    recordings: Sequence[Recording],
    audio_config: AudioConfig,
    front_end: FrontEnd,
    strict: bool,
    reporter: Reporter,
) -> FeatureSet:
    """The same as from the cache, without a file."""

    def frames_of(recording: Recording) -> Floats | str:
        """(frames, bins) as the cache would store them, or why there are none."""
        try:
            with audio.open_audio(recording) as reader:
                blocks = list(_frame_blocks(reader, audio_config, front_end, strict))
        except SsdptError as error:
            return str(error)
        return np.concatenate(blocks).astype(front_end.storage, copy=False)

    readable: list[Recording] = []
    frames: list[Floats] = [np.zeros((0, front_end.bins), front_end.storage)]
    failures: list[tuple[Recording, str]] = []
    with (
        ThreadPoolExecutor(max(1, cores())) as pool,
        reporter.task("features", total=len(recordings)) as task,
    ):
        for recording, result in zip(recordings, pool.map(frames_of, recordings), strict=True):
            if isinstance(result, str):
                failures.append((recording, result))
            else:
                readable.append(recording)
                frames.append(result)
            task.advance()
    return FeatureSet(
        recordings=tuple(readable),
        frames=np.concatenate(frames),
        offsets=np.cumsum([len(part) for part in frames], dtype=np.int64),
        failures=tuple(failures),
    )


def _frame_blocks(
    reader: audio.AudioReader, audio_config: AudioConfig, front_end: FrontEnd, strict: bool
) -> Iterator[Floats]:
    return front_end.stream(reader.model_input(audio_config, strict=strict))


def _compute(
    recordings: Sequence[Recording],
    audio_config: AudioConfig,
    front_end: FrontEnd,
    strict: bool,
    folder: Path,
    reporter: Reporter,
) -> None:
    def streamed(recording: Recording) -> Iterator[Floats]:
        with audio.open_audio(recording) as reader:
            yield from _frame_blocks(reader, audio_config, front_end, strict)

    def ahead_of_time(recording: Recording) -> list[Floats] | str | None:
        """The frames, or why there are none; a long recording waits to be streamed (None)."""
        try:
            with audio.open_audio(recording) as reader:
                if reader.info.seconds > _LONG_SECONDS:
                    return None
                return list(_frame_blocks(reader, audio_config, front_end, strict))
        except SsdptError as error:
            return str(error)

    lengths: list[int | None] = []
    errors: dict[str, str] = {}
    workers = max(1, cores())
    waiting = iter(recordings)
    with (
        (folder / _FRAMES).open("wb") as file,
        ThreadPoolExecutor(workers) as pool,
        reporter.task("features", total=len(recordings)) as task,
    ):
        # A bounded number of short clips is in memory at any time, and they are written in order.
        ahead = [pool.submit(ahead_of_time, item) for item in islice(waiting, 4 * workers)]
        for recording in recordings:
            ready = ahead.pop(0).result()
            ahead += [pool.submit(ahead_of_time, item) for item in islice(waiting, 1)]
            written: int | str = (
                ready
                if isinstance(ready, str)
                else _append(
                    file, streamed(recording) if ready is None else ready, front_end.storage
                )
            )
            if isinstance(written, str):
                errors[str(len(lengths))] = written
            lengths.append(written if isinstance(written, int) else None)
            task.advance()
    write_json(folder / "index.json", {"frames": lengths, "errors": errors})


def _append(file: BinaryIO, blocks: Iterable[Floats], storage: str) -> int | str:
    """Write blocks of frames; their number, or why it failed midway (then nothing is left)."""
    begin, frames = file.tell(), 0
    try:
        for block in blocks:
            file.write(np.ascontiguousarray(block, storage).tobytes())
            frames += len(block)
    except SsdptError as error:
        file.seek(begin)
        file.truncate()
        return str(error)
    return frames


def _open(recordings: Sequence[Recording], folder: Path, front_end: FrontEnd) -> FeatureSet:
    index = json.loads((folder / "index.json").read_text("utf-8"))
    os.utime(folder / "index.json")  # so that it counts as recently used
    readable = [
        (recording, count)
        for recording, count in zip(recordings, index["frames"], strict=True)
        if count is not None
    ]
    offsets = np.zeros(len(readable) + 1, np.int64)
    np.cumsum([count for _, count in readable], out=offsets[1:])
    path, storage = folder / _FRAMES, front_end.storage
    shape = (int(offsets[-1]), front_end.bins)
    # Copy-on-write, not read-only: torch takes no tensor from a read-only array.
    frames = np.memmap(path, storage, "c", shape=shape) if shape[0] else np.zeros(shape, storage)
    return FeatureSet(
        recordings=tuple(recording for recording, _ in readable),
        frames=frames,
        offsets=offsets,
        failures=tuple((recordings[int(i)], reason) for i, reason in index["errors"].items()),
    )


def _prune(keep: Path) -> None:
    """Delete the least recently used entries until the folder is within its limit."""
    chosen = os.environ.get("SSDPT_CACHE_GB", "20")
    try:
        limit = float(chosen) * 1e9
    except ValueError as error:
        raise SsdptError(f"SSDPT_CACHE_GB={chosen}: not a number of gigabytes") from error
    entries = []
    for index in keep.parent.glob("*/index.json"):
        with contextlib.suppress(OSError):  # another process may be pruning too
            size = (index.parent / _FRAMES).stat().st_size
            entries.append((index.stat().st_mtime, index.parent, size))
    total = sum(size for _, _, size in entries)
    for _, folder, size in sorted(entries):
        if total <= limit:
            break
        if folder != keep:
            shutil.rmtree(folder, ignore_errors=True)
            total -= size
