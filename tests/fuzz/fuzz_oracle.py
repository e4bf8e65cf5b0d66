"""What may happen when foreign input is read: success, or an SsdptError of one clean line.

Besides, an input may take only so much time and memory, nothing outside the folder of the target is
written or read, and nothing is printed, warned of or logged with a traceback.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import site
import sys
import threading
import time
import traceback
import unicodedata
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import babel.localedata

from ssdpt.errors import SsdptError, SsdptWarning

LONGEST_SENTENCE = 2100  # characters
_CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})  # controls, half characters, separators of lines
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Changes of the file system, with the places of the paths among the arguments of the event.
_CHANGES = {
    **dict.fromkeys(("os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.chmod"), (0,)),
    **dict.fromkeys(("os.chown", "os.utime", "os.mkfifo", "os.mknod"), (0,)),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink"), (0, 1)),
}
_BABEL = babel.localedata.__file__  # keeps what it knows of languages in pickles of its own
_FORBIDDEN = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pickle.find_class"}
)
# What Python, its libraries and the system read by themselves.
_SYSTEM = tuple(
    os.path.realpath(path)
    for path in (
        *(sys.prefix, sys.base_prefix, *site.getsitepackages(), Path(__file__).parents[2] / "src"),
        *("/usr", "/lib", "/proc", "/dev", "/sys", "/etc/localtime", "/etc/mime.types"),
    )
)
# The MP3 decoder of libsndfile talks on the error stream, and nothing can silence it.
_MP3_DECODER = (b"libmpg123", b"Note: ", b"Warning: ", b"Illegal Audio-MPEG-Header", b"mpg123")

# Python's warning of a text in a template, which jinja2 reads; nobody who runs a service sees it.
_JINJA_ESCAPE = re.compile(r"invalid escape sequence '.*'", re.DOTALL)


class Violation(AssertionError):
    """What happened that must not: where, a colon, and more about it.

    Two inputs with the same text before the colon show the same defect.
    """

    @property
    def place(self) -> str:
        return str(self).partition(": ")[0]


class TooSlow(BaseException):
    """No Exception, so that no reader takes it for a damaged file."""


class Oracle:
    """Runs inputs of one target and judges what happens. One per process."""

    def __init__(self, folder: Path, cpu_seconds: float, memory_mb: int) -> None:
        self._folder = os.path.realpath(folder)
        self._cpu_seconds, self._memory_mb = cpu_seconds, memory_mb
        self._active = threading.Event()
        self._memory = _Memory()
        self._seen: list[str] = []  # violations noticed while an input runs
        self._output = os.memfd_create("output")
        self._streams = {1: os.dup(1), 2: os.dup(2)}
        self.longest = 0.0  # seconds of processor time of one input
        sys.addaudithook(self._audit)
        logging.getLogger().addHandler(_LogWatch(self._seen))
        warnings.simplefilter("always")
        warnings.showwarning = self._warned
        signal.signal(signal.SIGPROF, _too_slow)
        os.chdir(folder)  # a name relative to an open folder looks like one of this folder

    def check(self, run: Callable[[bytes], None], data: bytes) -> None:
        """Run one input; Violation where something happens that must not."""
        self._seen.clear()
        self._memory.reset()
        memory = self._memory.peak_mb()
        began = time.process_time()
        try:
            self._run(run, data)
        finally:
            took = time.process_time() - began
            self.longest = max(self.longest, took)
        for text in self._seen:
            raise Violation(text)
        self._check_output()
        grown = self._memory.peak_mb() - memory
        if grown > self._memory_mb:
            raise Violation(f"too much memory: {grown:.0f} MB for one input")
        if took > self._cpu_seconds:
            raise Violation(f"too slow: {took:.1f} s for one input")

    def _run(self, run: Callable[[bytes], None], data: bytes) -> None:
        for number in self._streams:
            os.dup2(self._output, number)
        signal.setitimer(signal.ITIMER_PROF, self._cpu_seconds)
        self._active.set()
        try:
            run(data)
        except SsdptError as error:
            self._seen += wrong_in(str(error), f"the sentence of {type(error).__name__}")
        except TooSlow as error:
            raise Violation(f"too slow in {_place(error)}: {self._cpu_seconds:g} s") from error
        except Violation:
            raise
        except Exception as error:
            raise Violation(f"{type(error).__name__} in {_place(error)}: {error}") from error
        finally:
            self._active.clear()
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            sys.stdout.flush()
            for number, kept in self._streams.items():
                os.dup2(kept, number)

    def _check_output(self) -> None:
        size = os.lseek(self._output, 0, os.SEEK_CUR)
        if not size:
            return
        text = os.pread(self._output, size, 0)
        os.ftruncate(self._output, 0)
        os.lseek(self._output, 0, os.SEEK_SET)
        lines = [line for line in text.splitlines() if line.strip()]
        if loud := [line for line in lines if not any(word in line for word in _MP3_DECODER)]:
            raise Violation(f"printed: {loud[-1].decode('utf-8', 'replace')}")

    def _warned(
        self, message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any
    ) -> None:
        if issubclass(category, SsdptWarning):
            self._seen += wrong_in(str(message), "a warning")
        elif self._active.is_set() and not _JINJA_ESCAPE.fullmatch(str(message)):
            self._seen.append(f"{category.__name__} in {Path(filename).name}:{lineno}: {message}")

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._active.is_set():
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITES:
                self._check_place("wrote", path)
            else:
                self._check_place("read", path, _SYSTEM)
        elif event in _CHANGES:
            for place in _CHANGES[event]:
                self._check_place(event, arguments[place])
        elif event in _FORBIDDEN and sys._getframe(1).f_code.co_filename != _BABEL:
            self._seen.append(event)
        elif event == "socket.connect":
            self._seen.append(f"connected: {arguments[1]}")

    def _check_place(self, what: str, path: Any, allowed: tuple[str, ...] = ("/dev",)) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return  # an open file
        full = os.path.realpath(os.fsdecode(path))
        if not any(_is_in(full, folder) for folder in (self._folder, *allowed)):
            self._seen.append(f"{what} outside the folder: {full}")


class _LogWatch(logging.Handler):
    """No record has a traceback or more than one line."""

    def __init__(self, seen: list[str]) -> None:
        super().__init__()
        self._seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            self._seen.append(f"logged {type(error).__name__} in {_place(error)}: {error}")


def wrong_in(sentence: str, what: str) -> list[str]:
    """What is wrong with a sentence for people; a list of one, or empty."""
    if not sentence.strip():
        return [f"{what} is empty"]
    if len(sentence) > LONGEST_SENTENCE:
        return [f"{what} is too long: {len(sentence)} characters"]
    for sign in sentence:
        if unicodedata.category(sign) in _CONTROL or sign in _BIDI:
            return [f"{what} has a control character: {sign!a}"]
    return []


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise TooSlow


def _place(error: BaseException) -> str:
    """The last line of the product that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/ssdpt/" in frame.filename] or frames
    return f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"


class _Memory:
    """The largest memory of this process since the last `reset`."""

    def __init__(self) -> None:
        self._status = os.open("/proc/self/status", os.O_RDONLY)
        self._clear = os.open("/proc/self/clear_refs", os.O_WRONLY)

    def reset(self) -> None:
        os.write(self._clear, b"5")

    def peak_mb(self) -> float:
        content = os.pread(self._status, 4096, 0)
        return int(content.partition(b"VmHWM:")[2].split(maxsplit=1)[0]) / 1024


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)
