"""Compiles C code once on the machine it runs on, and keeps the library in the cache."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ssdpt.common.files import atomic_path, digest
from ssdpt.errors import SsdptError
from ssdpt.features.cache import cache_folder

# No -ffast-math: NaN must stay NaN, and rounding by adding a large number must not be undone.
_FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"]
_LIBRARY = ["-shared", "-fPIC"]
_TIMEOUT_SECONDS = 60.0


def compiled(source: Path, included: Sequence[Path] = ()) -> ctypes.CDLL | None:
    """`source` as a library, compiled with `CC` or `cc`; None if that is not possible.

    The name of a file in the cache ends with the digest of its content: a damaged file is ignored,
    and two processes that compile at the same time each write a complete file.
    """
    compiler = [*shlex.split(os.environ.get("CC") or "cc"), *_FLAGS, *_LIBRARY]
    try:
        key = _key(compiler, [source, *included])
        return _cached(key) or _compile(key, compiler, source)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _folder() -> Path:
    return cache_folder() / "native"


def _cached(key: str) -> ctypes.CDLL | None:
    for path in _folder().glob(f"{key}-*.so"):
        with contextlib.suppress(OSError):
            if path.stem == f"{key}-{digest(path)}":
                return ctypes.CDLL(str(path))
    return None


def _compile(key: str, compiler: list[str], source: Path) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as temporary:
        library = Path(temporary) / "library.so"
        _run([*compiler, "-o", str(library), str(source), "-lm"])
        path = _folder() / f"{key}-{digest(library)}.so"
        try:
            with atomic_path(path) as target:
                shutil.copyfile(library, target)
        except SsdptError:  # the cache is not writable: the next process compiles again
            path = library
        return ctypes.CDLL(str(path))


def _key(compiler: list[str], sources: list[Path]) -> str:
    """Changes with the sources, the compiler and the processor."""
    hasher = hashlib.blake2b(digest_size=16)
    for part in (
        *(source.read_bytes() for source in sources),
        " ".join(compiler).encode(),
        _run([*compiler, "--version"]),
        _processor(),
    ):
        hasher.update(len(part).to_bytes(8, "little") + part)
    return hasher.hexdigest()


def _processor() -> bytes:
    """Model and instruction sets of the processor."""
    lines = [platform.machine()]
    with contextlib.suppress(OSError):
        all_lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
        wanted = ("vendor_id", "model name", "flags", "Features", "CPU implementer", "CPU part")
        lines += sorted({line for line in all_lines if line.startswith(wanted)})
    return "\n".join(lines).encode()


def _run(command: list[str]) -> bytes:
    done = subprocess.run(command, check=True, capture_output=True, timeout=_TIMEOUT_SECONDS)
    return done.stdout
