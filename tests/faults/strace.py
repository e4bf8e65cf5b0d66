"""Strikes a process at a chosen system call with `strace`: a kill, a delay, an error."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from waiting import wait_until

# Every call that can change a file or make a change last. A kill between two others leaves the
# disk as a kill before the next of these does. A `?` allows for calls that a processor lacks.
CHANGING = ",".join(
    f"?{call}"
    for call in (
        *("open", "openat", "openat2", "creat", "close", "write", "pwrite64", "writev", "pwritev"),
        *("pwritev2", "sendfile", "copy_file_range", "splice", "truncate", "ftruncate"),
        *("fallocate", "fsync", "fdatasync", "sync_file_range", "msync", "sync", "syncfs"),
        *("rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat"),
        *("unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "flock", "chmod", "fchmod"),
        *("fchmodat", "chown", "fchown", "lchown", "fchownat", "utimensat", "setxattr"),
    )
)


def program() -> str:
    path = shutil.which("strace")
    assert path, "there is no strace; install it (Debian: apt install strace)"
    return path


@contextmanager
def tracing(process: int, *faults: str, calls: str = "", log: Path | None = None) -> Iterator[None]:
    """Trace a process and its threads and children from now on.

    `faults` have the form of `strace --inject`; `calls` are written to `log`.
    """
    with tempfile.TemporaryDirectory(prefix="faults-strace-") as folder:
        messages = Path(folder) / "messages"
        options = [part for fault in faults for part in ("--inject", fault)]
        # Only calls that are traced can be struck.
        traced = [*(fault.partition(":")[0] for fault in faults), *filter(None, [calls])]
        with messages.open("w") as errors:
            tracer = subprocess.Popen(
                [
                    *(program(), "-f", "-e", f"trace={','.join(traced)}", *options),
                    *("-o", str(log or "/dev/null"), "-p", str(process)),
                ],
                stderr=errors,
            )
        try:
            wait_until(lambda: _attached(tracer, messages), "strace traces the process")
            yield
        finally:
            tracer.terminate()
            tracer.wait(60)


def _attached(tracer: subprocess.Popen[bytes], messages: Path) -> bool:
    text = messages.read_text()
    assert tracer.poll() is None or "attached" in text, text
    return "attached" in text


def points(log: Path) -> list[str]:
    """Where a process can be killed: before each call in a log, as `strace --inject` names it.

    strace counts each kind of call by itself: the third `write`, not the third call of all.
    """
    seen: Counter[str] = Counter()
    found = []
    for call in re.findall(r"^(?:\d+ +)?(\w+)\(", log.read_text(errors="replace"), re.MULTILINE):
        seen[call] += 1
        found.append(f"{call}:signal=KILL:when={seen[call]}")
    assert found, "strace has seen no call"
    return found
