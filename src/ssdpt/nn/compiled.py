"""C code that is compiled on the machine it runs on, once, and kept in the cache."""

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
_MOST_SECONDS = 60.0


def compiled(source: Path, included: Sequence[Path] = ()) -> ctypes.CDLL | None:
    """`source` as a library, made with `CC`, else `cc`; None where no compiler makes one.

    The name of a file in the cache ends with the digest of what is in it: a damaged one is passed
    over, and two processes that compile at once each leave a whole one.
    """
    compiler = [*shlex.split(os.environ.get("CC") or "cc"), *_FLAGS, *_LIBRARY]
    try:
        key = _key(compiler, [source, *included])
        return _kept(key) or _fresh(key, compiler, source)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _folder() -> Path:
    return cache_folder() / "native"


def _kept(key: str) -> ctypes.CDLL | None:
    for path in _folder().glob(f"{key}-*.so"):
        with contextlib.suppress(OSError):
            if path.stem == f"{key}-{digest(path)}":
                return ctypes.CDLL(str(path))
    return None


def _fresh(key: str, compiler: list[str], source: Path) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as temporary:
        made = Path(temporary) / "library.so"
        _run([*compiler, "-o", str(made), str(source), "-lm"])
        path = _folder() / f"{key}-{digest(made)}.so"
        try:
            with atomic_path(path) as beside:
                shutil.copyfile(made, beside)
        except SsdptError:  # nowhere to keep it: the next process compiles again
            path = made
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
    told = [platform.machine()]
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
        wanted = ("vendor_id", "model name", "flags", "Features", "CPU implementer", "CPU part")
        told += sorted({line for line in lines if line.startswith(wanted)})
    return "\n".join(told).encode()


def _run(command: list[str]) -> bytes:
    done = subprocess.run(command, check=True, capture_output=True, timeout=_MOST_SECONDS)
    return done.stdout
