"""The Dockerfile, step by step and without a container engine: what it makes runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from dockerfile import build_context, dockerfile_steps
from ssdpt.server.run import listening
from ssdpt.server.settings import ServerSettings
from ssdpt.version import __version__
from waiting import wait_until

ROOT = Path(__file__).parents[1]
IMAGE_USER = 10001


def test_image_is_made_of_files_that_there_are() -> None:
    context = build_context()
    assert not [name for name in context if name.startswith(("tests/", "web/", "deploy/", ".git"))]
    for word, rest in dockerfile_steps():
        if word == "COPY" and not rest.startswith("--from"):
            *sources, _ = rest.split()
            for source in sources:
                assert [name for name in context if name == source or name.startswith(source + "/")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (extras,) = re.findall(r"'\.\[(.+?)\]'", (ROOT / "Dockerfile").read_text("utf-8"))
    assert set(extras.split(",")) <= set(project["optional-dependencies"])


class Image:
    """Runs the steps of the Dockerfile in a folder that stands for the root of the image."""

    def __init__(self, place: Path) -> None:
        self.root, self.context = place / "root", place / "context"
        self.python = _interpreter(place)
        self.user: int | None = None
        self.run_settings: dict[str, str] = {}  # steps that only say how it is run
        for name in build_context():
            (self.context / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.context / name)
        (self.root / "tmp").mkdir(parents=True)
        (self.root / "tmp").chmod(0o1777)

    def build(self) -> None:
        for word, rest in dockerfile_steps():
            # Paths of the image become paths of this computer.
            here = re.sub(r"(?<![\w/:.])/(?=(build|opt|var|tmp|etc)\b)", f"{self.root}/", rest)
            if word in ("VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"):
                self.run_settings[word] = here
            else:
                getattr(self, f"_{word.lower()}")(here)

    def start(self, *arguments: str) -> list[str]:
        """The image's command with these arguments."""
        program, *given = json.loads(self.run_settings["ENTRYPOINT"])
        path = shutil.which(program, path=self.environment["PATH"])
        assert path is not None
        return [path, *given, *arguments]

    @property
    def options(self) -> dict[str, Any]:
        """How a process of the finished image is run."""
        given: dict[str, Any] = {"cwd": self.folder, "env": self.environment, "text": True}
        if self.user is not None:
            given |= {"user": self.user, "group": self.user, "extra_groups": []}
        return given

    def _from(self, rest: str) -> None:
        assert rest.startswith("python:3.11-slim")
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("PYTHON", "VIRTUAL_ENV"))}
        self.environment = {
            **kept,
            "PATH": f"{self.python.parent}:/usr/bin:/bin",
            # Where the loader looks for libpython once its usual place is closed.
            "LD_LIBRARY_PATH": str(self.python.resolve().parents[1] / "lib"),
        }
        self.folder = self.root

    def _arg(self, rest: str) -> None:
        name, default = rest.split("=")
        self.environment[name] = os.environ.get(name, default.strip('"'))

    def _env(self, rest: str) -> None:
        for pair in rest.split():
            name, value = pair.split("=", 1)
            self.environment[name] = value.replace("$PATH", self.environment["PATH"])

    def _workdir(self, rest: str) -> None:
        self.folder = Path(rest)
        self.folder.mkdir(parents=True, exist_ok=True)

    def _copy(self, rest: str) -> None:
        *sources, target = rest.split()
        if sources[0].startswith("--from"):
            # Both stages share the folder; an environment works only where it was made.
            assert sources[1:] == [target]
            return
        for source in sources:
            original, there = self.context / source, self.folder / target
            if original.is_dir():
                shutil.copytree(original, there, dirs_exist_ok=True)
            else:
                shutil.copy(original, there)

    def _run(self, rest: str) -> None:
        if os.geteuid() != 0:  # only root can give files away
            rest = rest.replace(f"-o {IMAGE_USER} -g {IMAGE_USER}", "")
        done = subprocess.run(
            ["/bin/sh", "-ec", rest],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-3000:]

    def _user(self, rest: str) -> None:
        assert rest == f"{IMAGE_USER}:{IMAGE_USER}"
        self.user = IMAGE_USER if os.geteuid() == 0 else None


def _interpreter(place: Path) -> Path:
    """A Python without packages that any user may run, in place of the image's."""
    base = Path(sys.base_prefix)
    if not all(folder.stat().st_mode & 0o001 for folder in (base, *base.parents)):
        # It lies in a home that is closed to others: a copy stands for it.
        left_out = shutil.ignore_patterns("site-packages", "test", "__pycache__", "*.a")
        base = shutil.copytree(base, place / "python", symlinks=True, ignore=left_out)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    subprocess.run([base / "bin" / version, "-m", "venv", place / "venv"], check=True)
    return place / "venv" / "bin" / "python"


def _judges(address: str) -> bool:
    """One of the demo's machines is judged: fitting works with what the image has."""
    with urllib.request.urlopen(f"{address}v1/machines", timeout=60) as reply:
        return any(machine["state"] == "normal" for machine in json.load(reply))


@pytest.mark.full
def test_image_serves_as_a_user_without_rights() -> None:
    with tempfile.TemporaryDirectory(prefix="ssdpt-image-") as name:
        Path(name).chmod(0o755)
        image = Image(Path(name))
        image.build()
        version = subprocess.run(
            image.start("--version"), capture_output=True, check=True, **image.options
        )
        assert version.stdout.split() == ["ssdpt", __version__]

        with listening(ServerSettings(port=0)) as free:
            port = str(free.getsockname()[1])
        usual = json.loads(image.run_settings["CMD"])
        data = usual[usual.index("--data") + 1]
        command = image.start("serve", "--demo", "--data", data, "--port", port)
        check = json.loads(
            image.run_settings["HEALTHCHECK"]
            .split("CMD ")[1]
            .replace(image.run_settings["EXPOSE"], port)
        )

        def healthy() -> bool:
            return subprocess.run(check, capture_output=True, **image.options).returncode == 0

        assert not healthy()
        with subprocess.Popen(command, stdout=subprocess.PIPE, **image.options) as service:
            try:
                assert service.stdout is not None
                address = f"http://127.0.0.1:{port}/"
                assert address in service.stdout.readline()
                wait_until(healthy, "the service is healthy", timeout=60)
                with urllib.request.urlopen(address, timeout=60) as page:
                    assert b"<html" in page.read()
                wait_until(lambda: _judges(address), "a machine is judged", timeout=120)
                service.send_signal(getattr(signal, image.run_settings["STOPSIGNAL"]))
                assert service.wait(60) == 0
            finally:
                service.kill()
        assert (Path(data) / "ssdpt.db").is_file()
        if image.user is not None:
            own = [path for path in image.root.rglob("*") if path.stat().st_uid == image.user]
            places = {path.relative_to(image.root).parts[0] for path in own}
            assert "var" in places
            assert places <= {"var", "tmp"}
