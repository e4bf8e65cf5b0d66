"""The Dockerfile read without a container engine: its steps, and the files that it is given."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def dockerfile_steps() -> list[tuple[str, str]]:
    """The instructions in order, such as ("RUN", "python -m venv /opt/ssdpt")."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    return [(word, " ".join(rest.split())) for word, rest in steps]


def build_context() -> list[str]:
    """What the engine is given: files of the project that .dockerignore lets through."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    return [name for name in files if _let_through(Path(name), patterns)]


def _let_through(path: Path, patterns: list[str]) -> bool:
    """The last pattern that matches the file or a folder above it decides."""
    through = True
    for pattern in patterns:
        named, anywhere = pattern.removeprefix("!"), pattern.startswith("**/")
        named = named.removeprefix("**/")
        assert "/" not in named, f"{pattern}: no such pattern is supported here"
        if any(Path(part).match(named) for part in (path.parts if anywhere else path.parts[:1])):
            through = pattern.startswith("!")
    return through
