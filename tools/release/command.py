"""Commands that a release runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


class ReleaseError(Exception):
    """Why the release cannot be made, in one sentence."""


def run(
    *command: str | Path, cwd: Path, environment: Mapping[str, str] | None = None, code: int = 0
) -> str:
    """What a command prints; ReleaseError with the end of it if the exit code is another one."""
    result = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode != code:
        words = " ".join(str(word) for word in command)
        raise ReleaseError(
            f"{words}: exit code {result.returncode}, expected {code}\n{result.stdout[-3000:]}"
        )
    return result.stdout
