"""compose.yaml, the configuration files and the systemd unit fit together and are valid."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from free_ports import free_port
from ssdpt.alarms.settings import AlarmSettings
from ssdpt.monitor.config import (
    MachineSettings,
    MonitorConfig,
    OperatingDataSettings,
    OutputSettings,
    RetentionSettings,
    SensorSettings,
    SourceSettings,
    read_monitor_config,
)
from ssdpt.monitor.outputs.metrics import Metrics
from ssdpt.monitor.outputs.mqtt_output import MqttSettings
from ssdpt.monitor.store import Store
from ssdpt.server.connection_limits import MOST_CONNECTIONS
from waiting import wait_until

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
PASSWORD = "correct horse"


def _read(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text("utf-8"))


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
    config = read_monitor_config(DEPLOY / "compose-config" / "monitor.yaml")
    assert config.store == SERVICES["first-start"]["environment"]["STORE"]
    (mqtt,) = config.outputs
    assert isinstance(mqtt, MqttSettings)
    assert mqtt.host in SERVICES
    assert mqtt.password_file is not None
    assert mqtt.password_file.name in SERVICES["ssdpt"]["secrets"]
    (job,) = _read("prometheus.yaml")["scrape_configs"]
    assert f"token={job['authorization']['credentials_file']}\n" in script
    (exposed,) = re.findall(
        r"^EXPOSE (\d+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE
    )
    assert job["static_configs"][0]["targets"] == [f"ssdpt:{exposed}"]
    (source,) = _read("grafana/provisioning/datasources/prometheus.yaml")["datasources"]
    assert source["url"].split("/")[2].split(":")[0] in SERVICES
    (provider,) = _read("grafana/provisioning/dashboards/ssdpt.yaml")["providers"]
    (board,) = [v for v in SERVICES["grafana"]["volumes"] if "grafana.json" in v]
    assert board.split(":")[1].startswith(provider["options"]["path"] + "/")


def test_rules_name_metrics_that_there_are() -> None:
    metrics = set(re.findall(r"^# TYPE (\w+) ", Metrics().text().decode(), re.MULTILINE))
    expressions = [rule["expr"] for rule in _read("prometheus-rules.yaml")["groups"][0]["rules"]]
    named = {name for text in expressions for name in re.findall(r"\bssdpt_\w+", text)}
    assert named
    assert {re.sub(r"_(sum|count|bucket)$", "", name) for name in named} <= metrics


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
        account = store.check_token(texts[0].strip())
        assert account is not None
        assert account.name == "prometheus"


@pytest.mark.needs_mosquitto
def test_broker_lets_in_who_knows_the_password(tmp_path: Path) -> None:
    port = free_port()
    for name in ("run/secrets", "tmp", "mosquitto/config", "mosquitto/data"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "run/secrets/mqtt_password").write_text(PASSWORD + "\n", "utf-8")
    within = re.compile(r"(?<=[ =])/(?=run|tmp|mosquitto)")
    config = (DEPLOY / "mosquitto.conf").read_text("utf-8").replace("1883", str(port))
    user = "user root\n" if os.geteuid() == 0 else ""  # it cannot become another one in here
    text = user + within.sub(f"{tmp_path}/", config)
    (tmp_path / "mosquitto/config/mosquitto.conf").write_text(text, "utf-8")
    (start,) = SERVICES["mosquitto"]["command"]
    script = within.sub(f"{tmp_path}/", start.replace("$$", "$"))
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    with subprocess.Popen(
        ["/bin/sh", "-c", script], env=environment, stderr=subprocess.DEVNULL
    ) as broker:

        def publishes(*login: str) -> bool:
            place = ["-h", "127.0.0.1", "-p", str(port), "-t", "health", "-n"]
            done = subprocess.run(["mosquitto_pub", *place, *login], capture_output=True)
            return done.returncode == 0

        try:
            wait_until(lambda: publishes("-u", "ssdpt", "-P", PASSWORD), "the broker answers")
            assert not publishes("-u", "ssdpt", "-P", "wrong")
            assert not publishes()
        finally:
            broker.kill()


@pytest.mark.parametrize("name", ["monitor.yaml", "compose-config/monitor.yaml"])
def test_configuration_files_pass_the_check(cli: Any, name: str) -> None:
    answer = cli("serve", "--check", "--offline", "--config", DEPLOY / name)
    assert answer.code == 0, answer.err


def test_example_shows_every_setting() -> None:
    text = (DEPLOY / "monitor.yaml").read_text("utf-8")
    shown = yaml.safe_load(text)
    assert set(shown) == set(MonitorConfig.model_fields)
    assert set(shown["retention"]) == set(RetentionSettings.model_fields)
    machines = [set(machine) for machine in shown["machines"]]
    assert set.union(*machines) == set(MachineSettings.model_fields) - {"model", "section"}
    assert "# model: " in text
    assert "# section: " in text
    sensors = [set(machine["sensor"]) for machine in shown["machines"] if "sensor" in machine]
    assert max(sensors, key=len) == set(SensorSettings.model_fields)
    (alarm,) = [machine["alarm"] for machine in shown["machines"] if "alarm" in machine]
    assert set(alarm) == set(AlarmSettings.model_fields)
    (opcua,) = [
        one["operating_data"]
        for one in shown["machines"]
        if one.get("operating_data", {}).get("kind") == "opcua"
    ]
    assert set(opcua) == set(OperatingDataSettings.class_for("opcua").model_fields)
    sources = [machine["source"] for machine in shown["machines"]]
    for written, base in ((sources, SourceSettings), (shown["outputs"], OutputSettings)):
        for kind in base.registry.names():
            fullest = max((set(one) for one in written if one["kind"] == kind), key=len)
            assert fullest == set(base.class_for(kind).model_fields), kind


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_unit_is_sound_and_closed(tmp_path: Path, command: str) -> None:
    unit = tmp_path / "ssdpt.service"
    text = (DEPLOY / "ssdpt.service").read_text("utf-8")
    assert "\nExecStart=/opt/ssdpt/bin/ssdpt serve " in text
    unit.write_text(text.replace("=/opt/ssdpt/bin/ssdpt ", f"={command} "), "utf-8")
    for check in (["verify"], ["security", "--offline=true", "--threshold=20"]):
        done = subprocess.run(["systemd-analyze", *check, unit], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert check != ["verify"] or not done.stderr


def test_unit_lets_the_service_open_as_many_files_as_connections_need() -> None:
    files = re.search(r"^LimitNOFILE=(\d+)$", (DEPLOY / "ssdpt.service").read_text("utf-8"), re.M)
    assert files
    assert int(files[1]) > 2 * MOST_CONNECTIONS  # and the store, sources and outputs
