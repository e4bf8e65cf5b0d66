"""New files in a folder, each once, when it is no longer written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ssdpt.data.audio import AudioError
from ssdpt.errors import SsdptError
from ssdpt.monitor.sources.base import SourceLost
from ssdpt.monitor.sources.clock import Clock
from ssdpt.monitor.sources.recordings import skipped_message
from ssdpt.sentences import Sentence, clauses, said

POLL = 0.5  # seconds; polling also sees what other computers write onto a network share
_STEADY = 1.0  # seconds without a change until a file is opened
_PATIENCE = 10.0  # seconds without a change until a file that cannot be read is skipped


@dataclass(frozen=True, slots=True)
class WatchedFile:
    """A file as it is now; after a change it counts as another one."""

    path: Path
    size: int
    changed: int  # nanoseconds since 1970

    @property
    def end(self) -> float:
        """Seconds since 1970 of the last change."""
        return self.changed / 1e9

    @property
    def unchanged(self) -> bool:
        """Whether it still is as it was."""
        return _file(self.path) == self


class FolderWatch:
    """Files that were there at the start are not new."""

    def __init__(
        self, folder: Path, clock: Clock, list_files: Callable[[Path], list[Path]]
    ) -> None:
        """`list_files`: which files of the folder count."""
        self._folder, self._clock, self._list_files = folder, clock, list_files
        self._started = clock.wall()
        self._done: set[WatchedFile] | None = None  # read or skipped; None: never listed yet
        self._first_seen: dict[WatchedFile, float] = {}  # steady time, of new files
        self._skipped = 0
        self._last_skipped = ""

    @property
    def message(self) -> str:
        """What is watched, and how many files were skipped."""
        watching = Sentence("sources.watching", folder=self._folder)
        return clauses(watching, skipped_message(self._skipped, self._last_skipped))

    def check_folder(self) -> None:
        """SsdptError where it can never be a folder."""
        if self._folder.is_file():
            raise SsdptError(Sentence("sources.notAFolder", folder=self._folder))

    def new_files(self, *, first: bool = False) -> list[WatchedFile]:
        """Files that are new and no longer written, oldest first; SourceLost where none can be.

        `first`: the folder is listed for the first time, at the start.
        """
        try:
            listed = [_file(path) for path in self._list_files(self._folder)]
        except OSError as error:
            reason = error.strerror or str(error)
            raise SourceLost(
                Sentence("sources.notListed", folder=self._folder, reason=reason)
            ) from error
        files = {file for file in listed if file is not None}
        if self._done is None:
            # Where the folder appears later, only the times of its files tell which are new.
            self._done = {file for file in files if first or file.end < self._started}
        self._done &= files
        new = sorted(files - self._done, key=lambda file: (file.changed, file.path))
        now = self._clock.steady()
        self._first_seen = {file: self._first_seen.get(file, now) for file in new}
        written = next((n for n, file in enumerate(new) if self._age(file) < _STEADY), len(new))
        return new[:written]  # newer files wait for one that is still written

    def mark_done(self, file: WatchedFile) -> None:
        """It is not new any more."""
        assert self._done is not None
        self._done.add(file)

    def give_up(self, file: WatchedFile, error: SsdptError) -> bool:
        """Do not read a file that cannot be; False: not yet, it may still be written."""
        refused = not isinstance(error, AudioError) or error.problem == "refused"
        if self._age(file) < _PATIENCE and not refused:
            return False
        self.mark_done(file)
        return True

    def count_skipped(self, error: SsdptError) -> None:
        """One more that cannot be read."""
        self._skipped += 1
        self._last_skipped = said(error)

    def _age(self, file: WatchedFile) -> float:
        """Seconds for which it has not changed."""
        return self._clock.steady() - self._first_seen[file]


def _file(path: Path) -> WatchedFile | None:
    """The file as it is now; None where it no longer exists."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return WatchedFile(path, stat.st_size, stat.st_mtime_ns)
