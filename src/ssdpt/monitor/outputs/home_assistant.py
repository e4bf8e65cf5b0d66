"""Home Assistant finds machines by itself: retained MQTT discovery messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ssdpt.monitor.messages import STATES
from ssdpt.version import __version__

_ROOT = "homeassistant"


def discovery_messages(
    prefix: str, machine: str, name: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Topic and content for every entity of one machine; `name` is for people."""
    node = re.sub(r"[^a-zA-Z0-9_-]", "_", f"{prefix}_{machine}")
    shared: dict[str, Any] = {
        "availability_topic": f"{prefix}/status",
        "payload_available": "online",
        "payload_not_available": "offline",
        "device": {
            "identifiers": [node],
            "name": name,
            "manufacturer": "ssdpt",
            "model": "monitored machine",
            "sw_version": __version__,
        },
    }
    for component, entity, own in _entities(f"{prefix}/{machine}"):
        yield (
            f"{_ROOT}/{component}/{node}/{entity}/config",
            {"unique_id": f"{node}_{entity}", **own, **shared},
        )


def _entities(base: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Component, name in topics and settings of each entity of the machine below `base`."""
    yield (
        "sensor",
        "state",
        {
            "name": "State",
            "icon": "mdi:ear-hearing",
            "device_class": "enum",
            "options": list(STATES),
            "state_topic": f"{base}/state",
            "value_template": "{{ value_json.state }}",
        },
    )
    yield (
        "binary_sensor",
        "problem",
        {
            "name": "Problem",
            "device_class": "problem",
            "state_topic": f"{base}/state",
            "value_template": "{{ 'ON' if value_json.state in ['alert', 'alarm'] else 'OFF' }}",
        },
    )
    yield (
        "sensor",
        "score",
        {
            "name": "Score",
            "state_class": "measurement",
            "suggested_display_precision": 2,
            "state_topic": f"{base}/score",
            "value_template": "{{ value_json.smoothed }}",
        },
    )
    yield (
        "sensor",
        "level",
        {
            "name": "Level",
            "state_class": "measurement",
            "unit_of_measurement": "dBFS",
            "suggested_display_precision": 1,
            "state_topic": f"{base}/score",
            "value_template": "{{ value_json.level_dbfs }}",
        },
    )
    yield (
        "event",
        "event",
        {
            "name": "Event",
            "event_types": ["active", "acknowledged", "cleared"],
            "state_topic": f"{base}/event",
            "value_template": (
                "{{ {'event_type': value_json.state, 'id': value_json.id, 'kind': "
                "value_json.kind, 'level': value_json.level, 'message': value_json.message, "
                "'findings': value_json.findings} "
                "| tojson }}"
            ),
        },
    )
