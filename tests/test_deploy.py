"""What is deployed: the image, the services beside it, the unit, and the page on all of them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import soundfile
import typer.main
import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from ssdpt.cli import app
from ssdpt.monitor import plant
from ssdpt.monitor.outputs.messages import EventChanged
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.outputs.webhook import WebhookOutput
from ssdpt.monitor.service import Monitor
from ssdpt.monitor.store import Store
from ssdpt.monitor.types import STATES, Event
from ssdpt.server import routes
from ssdpt.server.app import create_app
from ssdpt.server.run import listening, new_server
from ssdpt.server.settings import ServerSettings
from ssdpt.version import __version__

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "monitoring.md").read_text("utf-8")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
UNIT = (DEPLOY / "ssdpt.service").read_text("utf-8")
PASSWORD = "correct horse"
IMAGE_USER = 10001

SECTIONS: dict[str, type[BaseModel]] = {
    "The plant": plant.PlantFile,
    "A machine": plant.MachineSettings,
    "Alarm": plant.AlarmSettings,
    "Retention": plant.RetentionSettings,
    "Source: microphone": plant.MicrophoneSettings,
    "Source: network": plant.NetworkSettings,
    "Source: folder": plant.FolderSettings,
    "Source: pushed": plant.PushedSettings,
    "Source: replay": plant.ReplaySettings,
    "Source: simulated": plant.SimulatedSettings,
    "Output: mqtt": plant.MqttSettings,
    "Output: webhook": plant.WebhookSettings,
    "Output: mail": plant.MailSettings,
}


def _kinds(union: Any) -> dict[str, type[BaseModel]]:
    """The members of a union of settings, by their kind."""
    members = get_args(get_args(union)[0])
    return {member.model_fields["kind"].default: member for member in members}


def _parts(title: str, level: int = 3) -> str:
    """What stands below a heading of the page."""
    rest = PAGE.split(f"\n{'#' * level} {title}\n")[1]
    return re.split(rf"\n#{{2,{level}}} ", rest)[0]


def _wait(condition: Any, seconds: float = 60.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)
    return found


# -- The services beside each other ---------------------------------------------------------------


def test_compose_names_only_what_there_is() -> None:
    for name, service in SERVICES.items():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            if source.startswith("."):
                assert (DEPLOY / source).exists(), f"{name}: {source}"
            else:
                assert source in COMPOSE["volumes"], f"{name}: {source}"
        if "build" in service:
            assert (DEPLOY / service["build"]["context"] / "Dockerfile").is_file()
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"]), name
        for other, wanted in service.get("depends_on", {}).items():
            assert other in SERVICES
            if wanted["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[other] or "build" in SERVICES[other], other
    used = {v.split(":")[0] for s in SERVICES.values() for v in s.get("volumes", ())}
    assert set(COMPOSE["volumes"]) <= used


def test_compose_keeps_secrets_in_files_that_git_ignores() -> None:
    for name, service in SERVICES.items():
        read = set(re.findall(r"/run/secrets/(\w+)", json.dumps(service)))
        assert read <= set(service.get("secrets", ())), name
        assert not [key for key in service.get("environment", {}) if key.endswith("PASSWORD")]
        # No port is open to others than this computer.
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    for secret in COMPOSE["secrets"].values():
        assert secret["file"].startswith("./secrets/")
        path = DEPLOY / secret["file"]
        ignored = subprocess.run(["git", "check-ignore", "--quiet", path], cwd=ROOT)
        assert ignored.returncode == 0


def test_services_fit_together() -> None:
    script = (DEPLOY / "first-start.sh").read_text("utf-8")
    used = plant.read_plant(DEPLOY / "compose-plant" / "plant.yaml")
    assert used.store == SERVICES["first-start"]["environment"]["STORE"]
    (mqtt,) = used.outputs
    assert isinstance(mqtt, plant.MqttSettings)
    assert mqtt.host in SERVICES
    assert mqtt.password_file is not None
    assert mqtt.password_file.name in SERVICES["ssdpt"]["secrets"]
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text("utf-8"))["scrape_configs"]
    assert f"token={job['authorization']['credentials_file']}\n" in script
    exposed = dict(_dockerfile())["EXPOSE"]
    assert job["static_configs"][0]["targets"] == [f"ssdpt:{exposed}"]
    (source,) = yaml.safe_load(
        (DEPLOY / "grafana/provisioning/datasources/prometheus.yaml").read_text("utf-8")
    )["datasources"]
    assert source["url"].split("/")[2].split(":")[0] in SERVICES
    (provider,) = yaml.safe_load(
        (DEPLOY / "grafana/provisioning/dashboards/ssdpt.yaml").read_text("utf-8")
    )["providers"]
    (board,) = [v for v in SERVICES["grafana"]["volumes"] if "grafana.json" in v]
    assert board.split(":")[1].startswith(provider["options"]["path"] + "/")


def test_rules_and_page_name_metrics_that_there_are() -> None:
    known = set(re.findall(r"^# TYPE (\w+) ", Metrics().text().decode(), re.MULTILINE))
    told = {name for name in known if not name.endswith("_created")}
    assert told == set(re.findall(r"`(ssdpt_\w+)`", _parts("Prometheus and Grafana")))
    rules = (DEPLOY / "prometheus-rules.yaml").read_text("utf-8")
    expressions = [rule["expr"] for rule in yaml.safe_load(rules)["groups"][0]["rules"]]
    named = {name for text in expressions for name in re.findall(r"\bssdpt_\w+", text)}
    assert {re.sub(r"_(sum|count|bucket)$", "", name) for name in named} <= known


def test_first_start_makes_users_once(tmp_path: Path, command: str) -> None:
    for name in ("run/secrets", "var/lib/ssdpt", "var/lib/ssdpt-tokens"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "run/secrets/postgres_password").write_text("not asked for\n", "utf-8")
    (tmp_path / "run/secrets/admin_password").write_text(PASSWORD + "\n", "utf-8")
    script = re.sub(
        r"(?<=[ =])/(?=run|var)", f"{tmp_path}/", (DEPLOY / "first-start.sh").read_text("utf-8")
    )
    url, token = f"sqlite:///{tmp_path}/s.db", tmp_path / "var/lib/ssdpt-tokens/prometheus"
    path = f"{Path(command).parent}:{os.environ['PATH']}"
    texts = []
    for _ in range(2):
        environment = {**os.environ, "PATH": path, "STORE": url}
        subprocess.run(["/bin/sh", "-c", script], env=environment, check=True, timeout=120)
        texts.append(token.read_text("utf-8"))
    assert texts[0] == texts[1]
    with Store.open(url, tmp_path) as store:
        assert {user.name: user.role for user in store.users()} == {
            "admin": "admin",
            "prometheus": "viewer",
        }
        assert store.check_password("admin", PASSWORD) is not None
        found = store.check_token(texts[0].strip())
        assert found is not None
        assert found.name == "prometheus"


@pytest.mark.needs_mosquitto
def test_broker_lets_in_who_knows_the_password(tmp_path: Path, free_port: int) -> None:
    for name in ("run/secrets", "tmp", "mosquitto/config", "mosquitto/data"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "run/secrets/mqtt_password").write_text(PASSWORD + "\n", "utf-8")
    within = re.compile(r"(?<=[ =])/(?=run|tmp|mosquitto)")
    config = (DEPLOY / "mosquitto.conf").read_text("utf-8").replace("1883", str(free_port))
    user = "user root\n" if os.geteuid() == 0 else ""  # it cannot become another one in here
    text = user + within.sub(f"{tmp_path}/", config)
    (tmp_path / "mosquitto/config/mosquitto.conf").write_text(text, "utf-8")
    (start,) = SERVICES["mosquitto"]["command"]
    script = within.sub(f"{tmp_path}/", start.replace("$$", "$"))
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    with _process(["/bin/sh", "-c", script], env=environment, stderr=subprocess.DEVNULL):

        def publishes(*login: str) -> bool:
            place = ["-h", "127.0.0.1", "-p", str(free_port), "-t", "health", "-n"]
            done = subprocess.run(["mosquitto_pub", *place, *login], capture_output=True)
            return done.returncode == 0

        _wait(lambda: publishes("-u", "ssdpt", "-P", PASSWORD), 20)
        assert not publishes("-u", "ssdpt", "-P", "wrong")
        assert not publishes()


# -- The plant files and the unit -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["plant.yaml", "compose-plant/plant.yaml"])
def test_plant_files_pass_the_check(cli: Any, name: str) -> None:
    answer = cli("serve", "--check", "--config", DEPLOY / name)
    assert answer.code == 0, answer.err


def test_example_shows_every_setting() -> None:
    text = (DEPLOY / "plant.yaml").read_text("utf-8")
    shown = yaml.safe_load(text)
    assert set(shown) == set(plant.PlantFile.model_fields)
    assert set(shown["retention"]) == set(plant.RetentionSettings.model_fields)
    machines = [set(machine) for machine in shown["machines"]]
    assert set.union(*machines) == set(plant.MachineSettings.model_fields) - {"model", "section"}
    assert "# model: " in text
    assert "# section: " in text
    (alarm,) = [machine["alarm"] for machine in shown["machines"] if "alarm" in machine]
    assert set(alarm) == set(plant.AlarmSettings.model_fields)
    sources = [machine["source"] for machine in shown["machines"]]
    for written, union in (
        (sources, plant.SourceSettings),
        (shown["outputs"], plant.OutputSettings),
    ):
        for kind, model in _kinds(union).items():
            fullest = max((set(one) for one in written if one["kind"] == kind), key=len)
            assert fullest == set(model.model_fields), kind


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_unit_is_sound_and_closed(tmp_path: Path, command: str) -> None:
    unit = tmp_path / "ssdpt.service"
    assert "\nExecStart=/opt/ssdpt/bin/ssdpt serve " in UNIT
    unit.write_text(UNIT.replace("=/opt/ssdpt/bin/ssdpt ", f"={command} "), "utf-8")
    for check in (["verify"], ["security", "--offline=true", "--threshold=20"]):
        done = subprocess.run(["systemd-analyze", *check, unit], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert check != ["verify"] or not done.stderr


# -- The page -------------------------------------------------------------------------------------


def test_page_has_every_setting_with_its_default() -> None:
    unions = (plant.SourceSettings, plant.OutputSettings)
    assert set(SECTIONS.values()) >= {m for union in unions for m in _kinds(union).values()}
    for title, model in SECTIONS.items():
        rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", _parts(title), re.MULTILINE)
        fields = {name: f.default for name, f in model.model_fields.items() if name != "kind"}
        assert dict(rows) == {name: _shown(value) for name, value in fields.items()}, title


def _shown(value: Any) -> str:
    if value is PydanticUndefined:
        return "required"
    if value in (None, "", ()):
        return "empty"
    if isinstance(value, BaseModel):
        return "as below"
    return json.dumps(value) if isinstance(value, bool) else f"{value}".removesuffix(".0")


def test_page_has_every_state_and_address() -> None:
    rows = re.findall(r"^\| (`.+?`) \|", _parts("States", 2), re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(STATES)
    told = re.findall(r"`((?:GET|POST|PUT|DELETE) /\S*?)`", _parts("HTTP API", 2))
    rooms = [
        getattr(routes, name) for name in vars(routes) if hasattr(getattr(routes, name), "router")
    ]
    there = {
        f"{method} {route.path}"
        for room in rooms
        for route in room.router.routes
        for method in getattr(route, "methods", ())
        if method != "HEAD"
    }
    assert set(told) == there


def _commands() -> Iterator[str]:
    """Everything that begins with `ssdpt` and a command."""
    texts = [PAGE, UNIT, *((DEPLOY / name).read_text("utf-8") for name in ("plant.yaml",))]
    for text in texts:
        for code in re.findall(r"`([^`\n]+)`|^ {4}(.+)$|^ExecStart=(.+)$", text, re.MULTILINE):
            yield from re.findall(r"(?:^|[\s/])ssdpt ([a-z]+\b[^'|;]*)", "".join(code))
    yield shlex.join(json.loads(dict(_dockerfile())["CMD"]))
    yield shlex.join(SERVICES["ssdpt"]["command"])


def test_commands_and_options_that_are_named_exist() -> None:
    found = sorted(set(_commands()))
    assert len(found) > 10
    for text in found:
        here: Any = typer.main.get_command(app)
        words = shlex.split(text)
        while hasattr(here, "commands"):
            assert words[0] in here.commands, text
            here = here.commands[words.pop(0)]
        known = {option for parameter in here.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= known, text


def _snippet(word: str) -> str:
    (code,) = [code for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if word in code]
    return code


def _event(number: int = 0) -> Event:
    return Event(f"{number:032x}", "press-1", "anomaly", "alarm", 1.79e9, "sounds odd")


def test_webhook_snippet_takes_our_messages_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("webhook_key").write_text("right key\n", "utf-8")
    Path("wrong_key").write_text("wrong key\n", "utf-8")
    names: dict[str, Any] = {"__name__": "receiver"}
    exec(compile(_snippet("X-Ssdpt-Signature"), "monitoring.md", "exec"), names)
    server = HTTPServer(("127.0.0.1", 0), names["Receiver"])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for key, sent, failed in (("webhook_key", 2, 0), ("wrong_key", 0, 1)):
            settings = plant.WebhookSettings(
                url=f"http://127.0.0.1:{server.server_port}/", secret_file=Path(key)
            )
            output = WebhookOutput(settings)
            output.start()
            change = EventChanged(_event())
            for message in [change] * (sent or failed):  # the same again is told only once
                output.publish(message)
            output.close()
            assert (output.status.sent, output.status.failed) == (sent, failed)
    finally:
        server.shutdown()
        server.server_close()
    assert capsys.readouterr().out == "press-1 alarm active sounds odd\n"


def test_backup_snippets_bring_everything_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ssdpt-data").mkdir()
    with Store.open("sqlite:///ssdpt-data/ssdpt.db", Path("ssdpt-data")) as store:
        store.save_event(_event())
        store.attach(_event().id, "audio", b"sound", ".flac")
    exec(compile(_snippet("back_up("), "monitoring.md", "exec"), {})
    exec(compile(_snippet("restore("), "monitoring.md", "exec"), {})
    with Store.open("sqlite:///ssdpt-restored/ssdpt.db", Path("ssdpt-restored")) as store:
        assert store.event(_event().id) == _event()
        kept = store.attachment(_event().id, "audio")
        assert kept is not None
        assert kept.read_bytes() == b"sound"


@pytest.mark.full
def test_curl_examples_are_answered(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "clip.wav", 0.1 * np.ones(16000, np.float32), 16000)
    wanted = plant.MachineSettings(id="press-1", source=plant.PushedSettings())
    settings = ServerSettings(port=0)
    with Store.open(f"sqlite:///{tmp_path}/s.db", tmp_path, writer=True) as store:
        store.add_user("anna", "admin", PASSWORD)
        store.save_event(_event())
        monitor = Monitor(plant.PlantFile(machines=(wanted,)), store, tmp_path)
        monitor.start()
        with listening(settings) as listener:
            server = new_server(create_app(monitor, store, settings), settings)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            place = f"http://127.0.0.1:{listener.getsockname()[1]}"
            environment = {
                **os.environ,
                "TOKEN": store.new_token("anna", None),
                "EVENT": _event().id,
            }
            try:
                lines = [line for line in PAGE.splitlines() if line.startswith("curl ")]
                assert len(lines) > 5
                for line in lines:
                    asked = line.replace("curl ", "curl --silent --show-error --fail ", 1)
                    done = subprocess.run(
                        ["/bin/sh", "-c", asked.replace("http://127.0.0.1:8765", place)],
                        cwd=tmp_path,
                        env=environment,
                        capture_output=True,
                        text=True,
                        timeout=30,
                    )
                    # The live stream has no end but the time that curl was given.
                    assert done.returncode == (28 if "--max-time" in line else 0), done.stderr
            finally:
                server.should_exit = True
                thread.join(20)
                monitor.stop()
        event = store.event(_event().id)
        assert event is not None
        assert event.acknowledged_by == "anna"
    assert "press-1" in (tmp_path / "events.csv").read_text("utf-8")


# -- The image, made without a container engine ---------------------------------------------------


def _dockerfile() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    return [(word, " ".join(rest.split())) for word, rest in steps]


def _context() -> list[str]:
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
        named = pattern.removeprefix("!")
        depth = {len(path.parts) - named.count("/")} if "**" not in named else set()
        assert named.count("/") == 0 or named.startswith("**/"), "the test knows no such pattern"
        if depth and Path(path.parts[0]).match(named):
            through = pattern.startswith("!")
        elif not depth and named.removeprefix("**/") in path.parts:
            through = False
    return through


def test_image_is_made_of_files_that_there_are() -> None:
    context = _context()
    assert not [name for name in context if name.startswith(("tests/", "web/", "deploy/", ".git"))]
    for word, rest in _dockerfile():
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
        self.said: dict[str, str] = {}
        for name in _context():
            (self.context / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.context / name)
        (self.root / "tmp").mkdir(parents=True)
        (self.root / "tmp").chmod(0o1777)

    def inside(self, text: str) -> str:
        """Paths of the image as paths of this computer."""
        return re.sub(r"(?<![\w/:.])/(?=(build|opt|var|tmp|etc)\b)", f"{self.root}/", text)

    def build(self) -> None:
        for word, rest in _dockerfile():
            getattr(self, f"_{word.lower()}", self._note(word))(self.inside(rest))

    def _note(self, word: str) -> Any:
        return lambda rest: self.said.__setitem__(word, rest)

    def _from(self, rest: str) -> None:
        assert rest.startswith("python:3.11-slim")
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("PYTHON", "VIRTUAL_ENV"))}
        self.environment = {**kept, "PATH": f"{self.python.parent}:/usr/bin:/bin"}
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
            found, there = self.context / source, self.folder / target
            if found.is_dir():
                shutil.copytree(found, there, dirs_exist_ok=True)
            else:
                shutil.copy(found, there)

    def _run(self, rest: str) -> None:
        if os.geteuid() != 0:  # who is not root cannot give files away
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

    def options(self) -> dict[str, Any]:
        """For a process in the finished image."""
        given: dict[str, Any] = {"cwd": self.folder, "env": self.environment, "text": True}
        if self.user is not None:
            given |= {"user": self.user, "group": self.user, "extra_groups": []}
        return given


def _interpreter(place: Path) -> Path:
    """A Python without packages that any user may run, in place of the image's."""
    base = Path(sys.base_prefix)
    if not all(folder.stat().st_mode & 0o001 for folder in (base, *base.parents)):
        # In a home that is closed to others: a copy stands for it.
        left_out = shutil.ignore_patterns("site-packages", "test", "__pycache__", "*.a")
        base = shutil.copytree(base, place / "python", symlinks=True, ignore=left_out)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    subprocess.run([base / "bin" / version, "-m", "venv", place / "venv"], check=True)
    return place / "venv" / "bin" / "python"


@contextmanager
def _process(command: list[Any], **options: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def free_port() -> int:
    with listening(ServerSettings(port=0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.full
def test_image_runs_as_nobody_in_particular(free_port: int) -> None:
    with tempfile.TemporaryDirectory(prefix="ssdpt-image-") as name:
        Path(name).chmod(0o755)
        image = Image(Path(name))
        image.build()
        entry = json.loads(image.said["ENTRYPOINT"])
        options = image.options()
        start = [str(image.root / "opt/ssdpt/bin" / entry[0]), *entry[1:]]
        told = subprocess.run([*start, "--version"], capture_output=True, check=True, **options)
        assert told.stdout.split() == ["ssdpt", __version__]

        given = json.loads(image.said["CMD"])
        data = given[given.index("--data") + 1]
        arguments = ["serve", "--demo", "--data", data, "--port", str(free_port)]
        with _process([*start, *arguments], stdout=subprocess.PIPE, **options) as service:
            assert service.stdout is not None
            assert f"http://127.0.0.1:{free_port}/" in service.stdout.readline()
            check = image.said["HEALTHCHECK"].split("CMD ", 1)[1].replace("8765", str(free_port))

            def healthy() -> bool:
                done = subprocess.run(json.loads(check), capture_output=True, **options)
                return done.returncode == 0

            _wait(healthy)
            with urllib.request.urlopen(f"http://127.0.0.1:{free_port}/", timeout=10) as page:
                assert b"<html" in page.read()
            _wait(lambda: _learnt(free_port), 120)
            service.send_signal(getattr(signal, image.said["STOPSIGNAL"]))
            assert service.wait(30) == 0
            assert not healthy()

        assert (Path(data) / "ssdpt.db").is_file()
        if image.user is not None:
            own = {path for path in image.root.rglob("*") if path.stat().st_uid == image.user}
            allowed = (image.root / "var/lib", image.root / "tmp")
            assert not [path for path in own if not path.is_relative_to(allowed[0])
                        and not path.is_relative_to(allowed[1])]  # fmt: skip


def _learnt(port: int) -> bool:
    """One of the demo's machines is judged: fitting works with what the image has."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/machines", timeout=10) as reply:
        return any(machine["state"] == "normal" for machine in json.load(reply))
