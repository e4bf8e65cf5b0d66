"""What webhooks and MQTT send about an event, as JSON and by number."""

from __future__ import annotations

import json
import math

from sample_messages import acknowledgement

from receivers import an_event
from ssdpt.alarms.findings import Finding
from ssdpt.monitor.messages import Comment, EventChanged, EventDelivery


def sent(message):
    return json.loads(EventDelivery.of(message).model_dump_json(), parse_constant=lambda _: 1 / 0)


def test_changes_have_rising_numbers():
    event = an_event()
    numbers = [EventChanged(event=event).change for _ in range(100)]
    assert numbers == sorted(set(numbers))
    assert EventChanged(event=event, change=7).delivery == f"{event.id}-7"


def test_an_event_has_the_fields_that_the_interface_promises():
    event = an_event(
        ended=1.7e9 + 60,
        acknowledged=acknowledgement(at=1.7e9 + 30),
        comments=(Comment(who="ann", at=1.7e9 + 31, text="looked at"),),
        audio_begin=1.7e9 - 10,
        top_bands_hz=((100.0, 200.0),),
    )
    content = sent(EventChanged(event=event, change=7))
    assert set(content) == {
        *("id", "machine", "kind", "level", "state", "began", "ended", "peak", "threshold"),
        *(
            "message",
            "sentence",
            "label",
            "acknowledged",
            "comments",
            "has_audio",
            "audio_begin",
            "voice_seconds",
        ),
        *("top_bands_hz", "findings", "episodes", "may_continue", "baseline_learned_at"),
        *(
            "severity",
            "speed_rpm",
            "cause",
            "work_order",
            "fault",
            "looks_like",
            "delivery",
            "change",
        ),
    }
    assert content["state"] == "cleared"
    assert content["acknowledged"] == {"who": "ann", "at": 1.7e9 + 30}
    (comment,) = content["comments"]
    assert comment == {"who": "ann", "at": 1.7e9 + 31, "text": "looked at", "sentence": None}
    assert content["top_bands_hz"] == [[100.0, 200.0]]
    assert content["change"] == 7
    assert sent(EventChanged(event=an_event()))["acknowledged"] is None


def test_findings_are_codes_and_numbers():
    event = an_event(findings=(Finding(code="tone", hz=130.2, db=30.4, new=True),))
    numbers = {"low_hz": None, "high_hz": None, "per_second": None, "new": True, "lines": []}
    assert sent(EventChanged(event=event))["findings"] == [
        {"code": "tone", "db": 30.4, "hz": 130.2, **numbers}
    ]


def test_json_is_json_even_where_numbers_are_not_finite():
    event = an_event(peak=math.inf, threshold=math.nan, message="Lüfter ±")
    message = EventChanged(event=event, change=1)
    content = sent(message)
    assert content["peak"] is None
    assert content["threshold"] is None
    assert content["message"] == "Lüfter ±"
    assert content["delivery"] == message.delivery
