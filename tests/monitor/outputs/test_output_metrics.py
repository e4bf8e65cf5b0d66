"""What Prometheus reads, and the dashboard that shows it."""

from __future__ import annotations

import json
import re
import sys
from importlib.resources import files
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sample_messages import acknowledgement, changed, reading, state_changed

from receivers import an_event
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import (
    STATES,
    EventChanged,
    MachineRemoved,
)
from ssdpt.monitor.outputs import metrics as metrics_module
from ssdpt.monitor.outputs.base import OutputStatus
from ssdpt.monitor.outputs.metrics import Metrics

_ORDER = {"machine": 0, "output": 0, "level": 1, "state": 1, "le": 1, "version": 1}


def samples(metrics):
    """Values by name, machine or output, and other label, as Prometheus would read them."""
    return {
        (sample.name, *(sample.labels[key] for key in sorted(sample.labels, key=_ORDER.get))): (
            sample.value
        )
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def listening_to(metrics, *machines, speed=1.0):
    source = SimpleNamespace(connected=True, reconnects=4, gaps=5, drift_ppm=-6.5, speed=speed)
    metrics.watch_sources({machine: lambda: source for machine in machines})
    return metrics


def busy_metrics():
    metrics = Metrics(clock=lambda: 103.0)
    listening_to(metrics, "fan")
    metrics.publish(state_changed("fan", "alert", 100.0, 2.0))
    metrics.publish(reading("fan", 100.0, "alert", -30.0, score=2.0, smoothed=2.5))
    metrics.publish(EventChanged(event=an_event("fan", level="alert")))
    status = OutputStatus("works", True, queued=3, sent=10, failed=1, dropped=2)
    metrics.watch_outputs([SimpleNamespace(name="mqtt a:1", status=status)] * 2)
    metrics.watch_shedding(lambda: 2, lambda: {"skipped": 5})
    return metrics


def test_readings_states_sources_and_outputs_are_shown():
    values = samples(busy_metrics())
    assert values["ssdpt_score", "fan"] == 2.5
    assert values["ssdpt_level_dbfs", "fan"] == -30.0
    assert values["ssdpt_readings_total", "fan"] == 1
    assert {s: values["ssdpt_state", "fan", s] for s in STATES} == {
        s: float(s == "alert") for s in STATES
    }
    assert values["ssdpt_delay_seconds_sum", "fan"] == 3.0
    assert values["ssdpt_delay_seconds_bucket", "fan", "2.0"] == 0
    assert values["ssdpt_delay_seconds_bucket", "fan", "5.0"] == 1
    assert values["ssdpt_source_connected", "fan"] == 1
    assert values["ssdpt_source_gaps_total", "fan"] == 5
    assert values["ssdpt_source_drift_ppm", "fan"] == -6.5
    assert values["ssdpt_output_queued", "mqtt a:1"] == 3
    assert values["ssdpt_output_failed_total", "mqtt a:1 #2"] == 1


def test_a_machine_that_is_not_judged_has_no_score():
    metrics = busy_metrics()
    metrics.publish(reading("fan", 101.0, "off", -80.0))
    assert str(samples(metrics)["ssdpt_score", "fan"]) == "nan"


@pytest.mark.parametrize("state", ["starting", "learning", "off", "lost"])
def test_no_old_score_is_shown_where_nothing_is_judged(state):
    """Of a lost machine no reading comes that could take it away."""
    metrics = busy_metrics()
    metrics.publish(state_changed("fan", state, 101.0))
    values = samples(metrics)
    assert str(values["ssdpt_score", "fan"]) == "nan"
    assert str(values["ssdpt_level_dbfs", "fan"]) == ("nan" if state == "lost" else "-30.0")
    metrics.publish(reading("fan", 102.0, "normal", -31.0, score=1.0, smoothed=1.5))
    metrics.publish(state_changed("fan", "alarm", 103.0, 3.5))
    values = samples(metrics)
    assert (values["ssdpt_score", "fan"], values["ssdpt_level_dbfs", "fan"]) == (1.5, -31.0)


def test_an_event_counts_once_for_each_level_and_is_open_until_cleared():
    metrics = listening_to(Metrics(), "fan")
    event = an_event("fan", level="alert")
    worse = changed(event, level="alarm")
    over = changed(worse, ended=event.began + 1)
    for state in (event, event, worse, over, over):
        metrics.publish(EventChanged(event=state))
    values = samples(metrics)
    assert values["ssdpt_events_total", "fan", "alert"] == 1
    assert values["ssdpt_events_total", "fan", "alarm"] == 1
    assert values["ssdpt_events_open", "fan"] == 1
    metrics.publish(EventChanged(event=changed(over, acknowledged=acknowledgement())))
    assert samples(metrics)["ssdpt_events_open", "fan"] == 0


def test_an_event_of_before_is_not_counted_as_new():
    metrics = listening_to(Metrics(), "fan")
    metrics.publish(EventChanged(event=an_event("fan", acknowledged=acknowledgement())))
    values = samples(metrics)
    assert ("ssdpt_events_total", "fan", "alarm") not in values
    assert values["ssdpt_events_open", "fan"] == 1


def test_events_of_before_a_restart_are_open_until_cleared_and_not_new():
    under_way, over = an_event("fan", level="alert"), an_event("fan", ended=1.7e9 + 1)
    metrics = listening_to(Metrics([under_way, over]), "fan", "pump")
    assert samples(metrics)["ssdpt_events_open", "fan"] == 2
    assert samples(metrics)["ssdpt_events_open", "pump"] == 0
    metrics.publish(EventChanged(event=changed(under_way, peak=3.0)))
    assert ("ssdpt_events_total", "fan", "alert") not in samples(metrics)
    metrics.publish(EventChanged(event=changed(under_way, level="alarm")))
    assert samples(metrics)["ssdpt_events_total", "fan", "alarm"] == 1
    metrics.publish(EventChanged(event=changed(over, acknowledged=acknowledgement())))
    assert samples(metrics)["ssdpt_events_open", "fan"] == 1


def test_events_that_nobody_acknowledges_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(metrics_module, "MAX_EVENTS", 10)
    metrics = listening_to(Metrics([an_event("fan") for _ in range(20)]), "fan")
    for _ in range(20):
        metrics.publish(EventChanged(event=an_event("fan", ended=1.7e9 + 1)))
    assert samples(metrics)["ssdpt_events_open", "fan"] == 10
    assert len(metrics._levels) == 10


def test_a_machine_that_does_not_run_at_the_pace_of_the_clock_has_no_delay():
    for speed, delays in ((1.0, 1), (4.0, 0), (0.5, 0)):
        metrics = listening_to(Metrics(), "fan", speed=speed)
        metrics.publish(reading("fan", 100.0, "normal", -30.0, score=2.0, smoothed=2.5))
        assert samples(metrics).get(("ssdpt_delay_seconds_count", "fan"), 0) == delays


def test_a_removed_machine_is_gone_also_when_its_events_are_acknowledged_later():
    metrics = busy_metrics()
    event = an_event("fan")
    metrics.publish(EventChanged(event=event))
    metrics.watch_sources({})
    metrics.publish(MachineRemoved(machine="fan"))
    metrics.publish(MachineRemoved(machine="never-there"))
    assert not [key for key in samples(metrics) if "fan" in key]
    metrics.publish(EventChanged(event=changed(event, acknowledged=acknowledgement())))
    assert not [key for key in samples(metrics) if "fan" in key]
    # Back in the configuration file, the other one is still open.
    listening_to(metrics, "fan")
    assert samples(metrics)["ssdpt_events_open", "fan"] == 2


def test_registries_do_not_mix():
    busy_metrics()
    assert ("ssdpt_score", "fan") not in samples(Metrics())


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(SsdptError, match=r"pip install 'ssdpt\[serve\]'"):
        Metrics()


def dashboard():
    return json.loads((files("ssdpt.monitor") / "assets" / "grafana.json").read_text("utf-8"))


def test_the_dashboard_asks_only_for_what_there_is():
    board = dashboard()
    names = {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(busy_metrics().text().decode())
        for sample in family.samples
    }
    asked = set()
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            for name, labels in re.findall(r"(ssdpt_\w+)(?:\{([^}]*)\})?", target["expr"]):
                assert set(re.findall(r"(\w+)=", labels)) <= names[name], target["expr"]
                asked.add(name)
            assert target["expr"].count("(") == target["expr"].count(")")
    forgotten = {name for name in names if not name.endswith(("_created", "_sum", "_count"))}
    assert forgotten - asked == {"ssdpt_info"}


def test_the_dashboard_names_states_as_they_are():
    timeline = next(panel for panel in dashboard()["panels"] if panel["title"] == "States")
    options = timeline["fieldConfig"]["defaults"]["mappings"][0]["options"]
    assert {int(number): shown["text"] for number, shown in options.items()} == dict(
        enumerate(STATES)
    )
    weights = re.findall(r'(\d) \* ssdpt_state\{[^}]*state="(\w+)"', timeline["targets"][0]["expr"])
    assert {name: int(weight) for weight, name in weights} == {
        name: number for number, name in enumerate(STATES) if number
    }


def test_the_panels_lie_side_by_side():
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not cells & taken
        taken |= cells
