"""What outputs are told, as JSON and by number."""

from __future__ import annotations

import json
import math

from receivers import an_event
from ssdpt.monitor.messages import Comment
from ssdpt.monitor.outputs.messages import EventChanged, change_json, encoded, event_json


def test_changes_have_rising_numbers():
    event = an_event()
    numbers = [EventChanged(event).change for _ in range(100)]
    assert numbers == sorted(set(numbers))
    assert EventChanged(event, 7).delivery == f"{event.id}-7"


def test_an_event_has_the_fields_that_the_interface_promises():
    event = an_event(
        ended=1.7e9 + 60,
        acknowledged_by="ann",
        acknowledged_at=1.7e9 + 30,
        comments=(Comment("ann", 1.7e9 + 31, "looked at"),),
        audio_begin=1.7e9 - 10,
        top_bands_hz=((100.0, 200.0),),
    )
    shown = event_json(event)
    assert set(shown) == {
        *("id", "machine", "kind", "level", "state", "began", "ended", "peak", "threshold"),
        *("words", "label", "acknowledged", "comments", "has_audio", "audio_begin"),
        "top_bands_hz",
    }
    assert shown["state"] == "cleared"
    assert shown["acknowledged"] == {"who": "ann", "at": 1.7e9 + 30}
    assert shown["comments"] == [{"who": "ann", "at": 1.7e9 + 31, "text": "looked at"}]
    assert shown["top_bands_hz"] == [[100.0, 200.0]]
    assert event_json(an_event())["acknowledged"] is None


def test_json_is_json_even_where_numbers_are_not():
    message = EventChanged(an_event(peak=math.inf, threshold=math.nan, words="Lüfter ±"), 1)
    shown = json.loads(encoded(change_json(message)), parse_constant=lambda name: 1 / 0)
    assert shown["peak"] is None
    assert shown["threshold"] is None
    assert shown["words"] == "Lüfter ±"
    assert shown["delivery"] == message.delivery
