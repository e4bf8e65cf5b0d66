"""The service itself: its status, models, outputs and upgrades."""

from __future__ import annotations

from examples.machines import TIME
from ssdpt.monitor.messages import ModelInfo, OutputInfo, OutputTest, ServiceStatus
from ssdpt.server.schemas import UpgradeNotice


def upgrade_notice(**changes):
    fields = {
        "at": TIME - 600,
        "from_version": "0.1.0",
        "to_version": "0.2.0",
        "from_tables": "0003",
        "to_tables": "0004",
        "backup": "backups/before-tables-0004-20231114-221320.db",
        "config_changes": ("the setting 'zone' is called 'timezone' now",),
    }
    return UpgradeNotice(**fields | changes)


def service_status(**changes):
    fields = {
        "now": TIME,
        "name": "Mill",
        "timezone": "Europe/Berlin",
        "version": "0.1.0",
        "demo": False,
        "keeps_audio": True,
        "recent_minutes": 10.0,
        "speed": 1.0,
        "notes": (),
        "problems": (),
    }
    return ServiceStatus(**fields | changes)


def model(machine="fan-1"):
    return ModelInfo(
        machine=machine,
        system="texture",
        card_markdown="# fan",
        sections=("00",),
        recordings=100,
        version="0.1.0",
    )


def output(**changes):
    fields = {
        "number": 1,
        "kind": "notify",
        "name": "notify ntfy ntfy.example:443",
        "groups": (),
        "message": "working",
        "healthy": True,
        "last_success": TIME - 60,
        "quiet_until": None,
        "queued": 0,
        "sent": 12,
        "failed": 0,
        "dropped": 0,
    }
    return OutputInfo(**{**fields, **changes})


def outputs():
    webhook = "webhook https://tickets.example"
    failing = {"message": "answers 500", "healthy": False, "last_success": None, "queued": 2}
    return [output(), output(number=2, kind="webhook", name=webhook, sent=0, **failing)]


def output_test():
    return OutputTest(ok=True, message="accepted")
