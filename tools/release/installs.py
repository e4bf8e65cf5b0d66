"""The wheel in empty environments: every test on one Python, base and edge installs on others."""

from __future__ import annotations

import shutil
import stat
import tarfile
import time
from pathlib import Path

from release.command import ReleaseError, run

_WHERE = "import pathlib, ssdpt; print(pathlib.Path(ssdpt.__file__).parent)"


class Install:
    """A virtual environment with the wheel and one set of its extras."""

    def __init__(self, python: str, folder: Path, wheel: Path, extras: str, pins: Path) -> None:
        self.folder = folder
        self._environment = {
            "PIP_CONSTRAINT": str(pins),
            "PIP_BUILD_CONSTRAINT": str(pins),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "SSDPT_CACHE": str(folder / "cache"),
            "PYTHONPATH": "",
        }
        folder.mkdir(parents=True)
        run(python, "-m", "venv", folder / "venv", cwd=folder)
        empty, empty_bytecode = self._bytes(), self._bytes("*.pyc")
        wanted = f"ssdpt[{extras}] @ {wheel.resolve().as_uri()}" if extras else str(wheel.resolve())
        before = time.monotonic()
        # Nothing is built from source, so no compiler is needed.
        self.run("python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wanted)
        self.seconds = time.monotonic() - before
        self.added_bytes = self._bytes() - empty
        self.added_bytecode = self._bytes("*.pyc") - empty_bytecode
        where = self.run("python", "-c", _WHERE).strip()
        if not Path(where).is_relative_to(folder):
            raise ReleaseError(f"the tests would not use the installed wheel, but {where}")

    def run(
        self,
        program: str,
        *arguments: str | Path,
        code: int = 0,
        cwd: Path | None = None,
        alone: bool = True,
    ) -> str:
        """What a program of this environment prints.

        `alone`: no other program is on its path, and so no C compiler.
        """
        environment = dict(self._environment)
        if alone:
            environment["PATH"] = str(self.folder / "venv" / "bin")
        return run(
            self.program(program),
            *arguments,
            cwd=cwd or self.folder,
            environment=environment,
            code=code,
        )

    def program(self, name: str) -> Path:
        """The path of a program of this environment."""
        return self.folder / "venv" / "bin" / name

    @property
    def site_packages(self) -> Path:
        """Where its packages are."""
        (folder,) = (self.folder / "venv" / "lib").glob("python3.*/site-packages")
        return folder

    def remove(self) -> None:
        """Delete it."""
        shutil.rmtree(self.folder)

    def _bytes(self, pattern: str = "*") -> int:
        entries = [path.lstat() for path in (self.folder / "venv").rglob(pattern)]
        return sum(entry.st_size for entry in entries if stat.S_ISREG(entry.st_mode))


def run_tests(install: Install, sdist: Path, arguments: list[str]) -> str:
    """Run the tests of the sdist against the installed wheel; the last line of pytest."""
    source = install.folder / "source"
    with tarfile.open(sdist) as archive:
        archive.extractall(source, filter="data")
    (root,) = source.iterdir()
    return install.run("pytest", "-q", *arguments, cwd=root, alone=False).strip().splitlines()[-1]


def check_base(install: Install) -> None:
    """The base install reads, inspects and simulates, and says what a fit needs."""
    install.run("ssdpt", "--help")
    install.run("ssdpt", "doctor")
    install.run("ssdpt", "datasets", "simulate", "plant", "--preset", "tiny", "--machine", "fan")
    install.run("ssdpt", "datasets", "inspect", "plant")
    sentence = install.run("ssdpt", "fit", "plant", "--out", "model", code=2)
    if "pip install 'ssdpt[train]'" not in sentence or "Traceback" in sentence:
        raise ReleaseError(f"the base install does not say what a fit needs: {sentence}")


def make_export(install: Install) -> tuple[Path, Path]:
    """A small exported model and a clip to score, made by a complete install."""
    folder = install.folder
    install.run("ssdpt", "datasets", "simulate", "plant", "--preset", "tiny", "--machine", "fan")
    install.run("ssdpt", "fit", "plant", "--out", "model")
    # A network too: where there is a C compiler, it is used for these.
    install.run("ssdpt", "fit", "plant", "--preset", "tiny", "--out", "network")
    said = install.run("ssdpt", "doctor")
    if "networks are slower on a CPU without it" not in said:
        raise ReleaseError(f"there is a C compiler after all: {said}")
    install.run("ssdpt", "export", "model", "--format", "onnx", "--out", "export")
    return folder / "export", min((folder / "plant" / "fan" / "train").glob("*.wav"))


def check_edge(install: Install, export: Path, clip: Path) -> None:
    """The edge install scores an exported model without torch."""
    if "score" not in install.run("ssdpt", "score", export, clip, "--format", "jsonl"):
        raise ReleaseError("the edge install gives no score")
    install.run("python", "-c", "import torch", code=1)
