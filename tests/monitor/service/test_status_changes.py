"""Changes that no other message carries are published, each once."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from ssdpt.monitor.capture.arrivals import Arrivals
from ssdpt.monitor.messages import OperatingData
from ssdpt.monitor.service.status_changes import StatusChanges
from ssdpt.monitor.sources.base import SourceStatus


def machine(id):
    source = SimpleNamespace(status=SourceStatus(False, "connecting", 0.0))
    return SimpleNamespace(
        id=id,
        muted=False,
        operating_point=None,
        question=None,
        baseline_status=None,
        change_points=[],
        capture=SimpleNamespace(source=source, failure="", arrivals=Arrivals(at_intervals=False)),
        collector=None,
        source_remarks="",
        operating=None,
        operating_data=None,
    )


def test_source_operating_point_and_learning_progress_are_noticed():
    published, pump, fan = [], machine("pump"), machine("fan")
    changes = StatusChanges([pump, fan], SimpleNamespace(machine_changed=published.append))

    def after_check():
        changes.check()
        messages = published.copy()
        published.clear()
        return messages

    assert after_check() == []  # new machines are published by whoever adds them
    source = pump.capture.source
    source.status = replace(source.status, connected=True, message="sound arrives")
    assert after_check() == ["pump"]
    assert after_check() == []
    source.status = replace(source.status, drift_ppm=0.2)  # not visible
    assert after_check() == []
    fan.operating_point = 2
    pump.collector = SimpleNamespace(seconds=1.0)
    assert after_check() == ["pump", "fan"]
    pump.collector.seconds = 2.0
    assert after_check() == ["pump"]
    pump.collector, fan.capture.failure = None, "the device is gone"
    assert after_check() == ["pump", "fan"]
    fan.source_remarks = "; 1 left out"
    assert after_check() == ["fan"]
    fan.question = "is it healthy?"
    pump.change_points.append("a rise")
    assert after_check() == ["pump", "fan"]


def test_operating_data_is_noticed_every_few_seconds():
    published, pump = [], machine("pump")
    changes = StatusChanges([pump], SimpleNamespace(machine_changed=published.append))
    pump.operating = SimpleNamespace(status="connected")
    changes.check()
    pump.operating_data = OperatingData(at=1200.0, running=True, speed_rpm=1480)
    changes.check()
    assert published == ["pump"]
    for second in range(1, 3):  # a speed that always changes a little
        pump.operating_data = OperatingData(
            at=1200.0 + second, running=True, speed_rpm=1480 + second
        )
        changes.check()
    assert published == ["pump"]
    pump.operating_data = OperatingData(at=1202.0, running=False, speed_rpm=0)
    changes.check()
    pump.operating.status = "retrying"
    changes.check()
    assert published == ["pump"] * 3
