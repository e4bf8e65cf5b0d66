"""Run the steps of the Dockerfile in a really clean Debian, then start what they made.

    sudo python3 tools/check_image.py          (or: make image-check)

Needs root, debootstrap and some minutes, but no container engine. Each stage of the Dockerfile is a
root of its own, made by debootstrap from the mirror of this computer; each instruction is executed
in it by chroot. pip uses the settings of this computer (pip.conf, PIP_*, proxies), only while the
image is built. The service is started as the image starts it, by its user, with ENTRYPOINT and CMD,
in a network of its own without a way out, and asked by the image's HEALTHCHECK.
Everything is made in a temporary folder; mounts are private to this process and end with it.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from dockerfile import ROOT, build_context, dockerfile_steps

# Beside Python what python:*-slim has.
_PACKAGES = "python3,python3-venv,ca-certificates,netbase,tzdata"
_PIP_FILES = ("/etc/pip.conf", "~/.config/pip/pip.conf", "~/.pip/pip.conf")
_PASSED_ON = re.compile(r"^PIP_|_proxy$|^SSL_CERT_FILE$", re.IGNORECASE)
_START_LIMIT = 120.0  # seconds until the service must be healthy
_NEW_MOUNTS, _NEW_NETWORK, _PRIVATE = 0x0002_0000, 0x4000_0000, (1 << 18) | (1 << 14)
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1  # of a network interface
_PASSWORD = "of-this-check-only"
_CONFIG = "name: Image check\nmachines: [{id: fan, source: {kind: simulated}}]\n"


class Failed(Exception):
    """The image cannot be made, or what it made does not run."""


class Stage:
    """One stage of the Dockerfile in a root of its own."""

    def __init__(self, root: Path, environment: dict[str, str], shared: list[Path]) -> None:
        self.root = root
        self.environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        # Variables and mounts that the finished image does not have.
        self.build_only, self.shared = environment, shared
        self.folder = "/"
        self.user = ""
        self.run_settings: dict[str, str] = {}  # instructions that only say how it is run

    def inside(self, path: str) -> Path:
        """A path of the image as one of this computer."""
        return self.root / str(Path("/", self.folder, path)).lstrip("/")

    def command(self, *arguments: str) -> dict[str, Any]:
        """How a program is started in the image, for subprocess."""
        group = self.user.partition(":")[2]
        user = [f"--userspec={self.user}", f"--groups={group}"] if self.user else []
        enter = ["chroot", *user, str(self.root)]
        go = ["sh", "-c", 'cd "$0" && exec "$@"', self.folder]
        return {"args": [*enter, *go, *arguments], "env": self.environment, "text": True}

    def arg(self, rest: str) -> None:
        name, default = rest.split("=")
        self.build_only[name] = os.environ.get(name, default.strip('"'))

    def env(self, rest: str) -> None:
        for pair in shlex.split(rest):
            name, value = pair.split("=", 1)
            self.environment[name] = value.replace("$PATH", self.environment["PATH"])

    def workdir(self, rest: str) -> None:
        self.folder = rest
        self.inside(rest).mkdir(parents=True, exist_ok=True)

    def user_(self, rest: str) -> None:
        self.user = rest

    def run(self, rest: str) -> None:
        command = self.command("/bin/sh", "-ec", rest)
        command["env"] = {**self.environment, **self.build_only}
        if subprocess.run(**command).returncode != 0:
            raise Failed(f"RUN {rest}")


def build(place: Path) -> Stage:
    """All stages of the Dockerfile; the last one is the image."""
    context, base = place / "context", place / "base"
    for name in build_context():
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, context / name)
    stages: dict[str, Stage] = {}
    stage: Stage | None = None
    for word, rest in dockerfile_steps():
        began = time.monotonic()
        if word == "FROM":
            image, _, name = rest.partition(" AS ")
            if not base.exists():
                make_base(base, image)
            root = place / f"stage-{len(stages) + 1}"
            subprocess.run(["cp", "--archive", "--reflink=auto", str(base), str(root)], check=True)
            stage = stages[name] = Stage(root, *prepare(root))
        elif stage is None:
            raise Failed(f"{word} before FROM")
        elif word == "COPY":
            copy(rest, context, stages, stage)
        elif word in ("VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"):
            stage.run_settings[word] = rest
        else:
            getattr(stage, {"USER": "user_"}.get(word, word.lower()))(rest)
        say(f"{time.monotonic() - began:6.1f} s  {word} {rest[:90]}")
    if stage is None:
        raise Failed("the Dockerfile has no FROM")
    for target in stage.shared:
        subprocess.run(["umount", str(target)], check=True)
        target.rmdir() if target.is_dir() else target.unlink()
    return stage


def make_base(root: Path, image: str) -> None:
    """A minimal Debian with the Python of the image, in place of an image of a registry."""
    mirror, suite = debian_mirror()
    with (root.parent / "debootstrap.log").open("w") as log:
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", f"--include={_PACKAGES}", suite, root, mirror],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    if made.returncode != 0:
        raise Failed(f"debootstrap: {(root.parent / 'debootstrap.log').read_text()[-2000:]}")
    (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    wanted = re.match(r"python:(\d+\.\d+)-slim$", image)
    version = subprocess.run(
        ["chroot", str(root), "python", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
    ).stdout.strip()
    if wanted is None or version != wanted[1]:
        raise Failed(
            f"the Dockerfile is made from {image}, but Debian {suite} has Python {version}"
        )


def debian_mirror() -> tuple[str, str]:
    """Address and suite that this computer's apt uses."""
    release = Path("/etc/os-release").read_text("utf-8")
    suite = re.search(r"^VERSION_CODENAME=(\w+)", release, re.MULTILINE)
    folder = Path("/etc/apt/sources.list.d")
    files = [Path("/etc/apt/sources.list"), *folder.glob("*.sources"), *folder.glob("*.list")]
    text = "\n".join(file.read_text("utf-8") for file in files if file.exists())
    mirror = re.search(r"^(?:URIs:|deb)\s.*?(\w+://\S+/debian)/?(?:\s|$)", text, re.MULTILINE)
    if suite is None or mirror is None:
        raise Failed("this computer's apt names no Debian mirror")
    return mirror[1], suite[1]


def prepare(root: Path) -> tuple[dict[str, str], list[Path]]:
    """Mount what a container has, and what pip needs of this computer.

    Gives the variables that pip needs, and what is mounted for it alone.
    """
    mount("-t", "proc", "proc", root / "proc")
    # debootstrap has made the usual devices. Those of this computer stay out of reach: this folder
    # is deleted afterwards.
    (root / "dev/shm").mkdir(exist_ok=True)
    mount("-t", "tmpfs", "tmpfs", root / "dev/shm")
    for name in ("/etc/resolv.conf", "/etc/hosts"):
        shutil.copy(name, root / name.lstrip("/"))
    settings = [Path(name).expanduser() for name in _PIP_FILES]
    environment = {name: value for name, value in os.environ.items() if _PASSED_ON.search(name)}
    merged = root.parent / "pip.conf"
    merged.write_text(_merged(settings), "utf-8")
    said = merged.read_text("utf-8") + "\n".join(environment.values())
    folders = {Path(one) for one in re.findall(r"(?<![\w.:/])(?:file://)?(/[\w./-]+)", said)}
    # An index in a folder links to files beside it.
    folders = {one.parent if one.name == "simple" else one for one in folders}
    shared = [share(path, root, str(path)) for path in sorted(folders) if path.exists()]
    shared.append(share(merged, root, "/tmp/pip.conf"))
    return {**environment, "PIP_CONFIG_FILE": "/tmp/pip.conf"}, shared


def _merged(files: list[Path]) -> str:
    """pip.conf files in one, as pip joins them."""
    from configparser import RawConfigParser

    joined = RawConfigParser()
    joined.read(file for file in files if file.exists())
    lines = []
    for section in joined.sections():
        lines.append(f"[{section}]")
        lines += [f"{name} = {' '.join(value.split())}" for name, value in joined[section].items()]
    return "\n".join(lines) + "\n"


def share(path: Path, root: Path, name: str) -> Path:
    """Show a file or folder of this computer in a root, to be read only; gives where."""
    target = root / name.lstrip("/")
    if path.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount("--bind", path, target)
    mount("-o", "remount,bind,ro", target)
    return target


def mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)


def copy(rest: str, context: Path, stages: dict[str, Stage], stage: Stage) -> None:
    *sources, target = rest.split()
    given = context
    if sources[0].startswith("--from="):
        given = stages[sources.pop(0).removeprefix("--from=")].root
    for source in sources:
        original, there = given / source.lstrip("/"), stage.inside(target)
        if original.is_dir():
            shutil.copytree(original, there, symlinks=True, dirs_exist_ok=True)
        else:
            there = there / original.name if target.endswith("/") else there
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(original, there)


def check_service(image: Stage) -> None:
    """Start the image's command, wait until it is healthy, ask it, and stop it."""
    config = image.inside("/etc/ssdpt/monitor.yaml")
    config.parent.mkdir(parents=True)
    config.write_text(_CONFIG, "utf-8")
    settings = image.run_settings
    program = [*json.loads(settings["ENTRYPOINT"]), *json.loads(settings["CMD"])]
    check = json.loads(settings["HEALTHCHECK"].split("CMD ")[1])
    # On an address that others can reach, the service starts only where there is an admin.
    add = ("user", "add", "check", "--role", "admin", "--password-file", "-", "--data")
    data = program[program.index("--data") + 1]
    subprocess.run(**image.command(program[0], *add, data), input=_PASSWORD, check=True)
    unshare(_NEW_NETWORK)
    bring_up_loopback()
    began = time.monotonic()
    with subprocess.Popen(**image.command(*program)) as service:
        try:
            healthy = image.command(*check)
            while subprocess.run(**healthy, stderr=subprocess.DEVNULL).returncode != 0:
                if service.poll() is not None or time.monotonic() - began > _START_LIMIT:
                    raise Failed("the service is not healthy")
                time.sleep(0.5)
            say(f"{time.monotonic() - began:6.1f} s  until the service was healthy")
            for path in ("healthz", "readyz", ""):
                ask = f"import urllib.request as r; u = r.urlopen('http://127.0.0.1:8765/{path}')"
                asked = image.command("python", "-c", f"{ask}; print(u.status, u.read()[:60])")
                answer = subprocess.run(**asked, capture_output=True)
                say(f"          GET /{path}: {answer.stdout.strip() or answer.stderr[-200:]}")
                if answer.returncode != 0:
                    raise Failed(f"GET /{path}")
            service.send_signal(getattr(signal, settings["STOPSIGNAL"]))
            if service.wait(60) != 0:
                raise Failed(f"the service ended with {service.returncode}")
        finally:
            service.kill()


def unshare(what: int) -> None:
    """Leave the mounts or the network of this computer."""
    if ctypes.CDLL(None, use_errno=True).unshare(what) != 0:
        raise Failed(f"unshare: {os.strerror(ctypes.get_errno())}")


def bring_up_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh", b"lo", 0)
        flags = struct.unpack("16sh", fcntl.ioctl(any_socket, _GET_FLAGS, request))[1]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh", b"lo", flags | _UP))


def say(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    if os.geteuid() != 0 or shutil.which("debootstrap", path="/usr/sbin:/usr/bin") is None:
        say("error: this needs root and debootstrap (Debian, Ubuntu: apt install debootstrap)")
        return 2
    unshare(_NEW_MOUNTS)
    if ctypes.CDLL(None).mount(b"none", b"/", None, _PRIVATE, None) != 0:
        raise Failed("mounts cannot be made private")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ssdpt-image-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        place.chmod(0o755)
        try:
            image = build(place)
            size = subprocess.run(
                ["du", "-sm", str(image.root / "opt")], capture_output=True, text=True
            ).stdout.split()[0]
            say(f"          {size} MB in /opt")
            check_service(image)
        except Failed as error:
            say(f"error: {error}")
            return 1
        finally:
            for line in reversed(Path("/proc/self/mounts").read_text("utf-8").splitlines()):
                if line.split()[1].startswith(name):
                    subprocess.run(["umount", "--lazy", line.split()[1]], check=False)
    say(f"the image is made and serves; {time.monotonic() - began:.0f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
