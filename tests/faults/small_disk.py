"""A small disk of our own that can be filled."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path
from typing import Self


class SmallDisk:
    """A file system in memory; only root can mount it."""

    def __init__(self, folder: Path, megabytes: int = 96) -> None:
        self.folder = folder
        self._size = megabytes
        self._ballast = folder / "ballast"

    def __enter__(self) -> Self:
        self.folder.mkdir()
        options = f"size={self._size}m"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"only root can mount a small disk: {done.stderr}"
        return self

    def __exit__(self, *_: object) -> None:
        # Lazily: a killed process may still be about to close its files.
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)

    def fill(self) -> None:
        """Leave no byte free."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (2**20, 4096, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)
