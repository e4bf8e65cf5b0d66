"""What events say."""

from __future__ import annotations

from ssdpt.alarms.findings import Finding
from ssdpt.monitor.events import descriptions

TONE = Finding(code="tone", hz=130.2, db=30.4, new=True)
KNOCKS = Finding(code="knocks", db=7.6, low_hz=2520, high_hz=3175, per_second=3.456, new=True)


def test_what_has_changed_is_named():
    assert descriptions.anomaly("half load", 8.0, (TONE,)) == (
        "Unusual sound at half load: new tone at 130 Hz, 30 dB above normal"
    )
    assert descriptions.anomaly("", 8.0) == "Unusual sound, 8 dB louder than usual"
    assert descriptions.anomaly("", -1.0) == "Unusual sound"


def test_later_findings_replace_those_of_the_beginning():
    knocks = "new knocks, 3.46 per second, from 2.5 to 3.2 kHz, 8 dB above normal"
    first = descriptions.anomaly("half load", None, (TONE,))
    assert descriptions.with_findings(first, (TONE,), (KNOCKS,)) == (
        f"Unusual sound at half load: {knocks}"
    )
    assert descriptions.with_findings(first, (TONE,), ()) == first
    assert descriptions.with_findings("Unusual sound", (), (KNOCKS,)) == f"Unusual sound: {knocks}"


def test_every_kind_of_finding_has_words():
    level = Finding(code="level", db=-6.2)
    band = Finding(code="band", db=-9.5, low_hz=794, high_hz=1260)
    louder = Finding(code="band", db=4.2, low_hz=99, high_hz=125)
    stronger = Finding(code="tone", hz=2497, db=12)
    swelling = Finding(code="modulation", db=3, low_hz=500, high_hz=630, per_second=7, new=True)
    assert [finding.text for finding in (level, band, louder, stronger, swelling)] == [
        "6 dB quieter than normal",
        "weaker from 790 Hz to 1.3 kHz, 10 dB below normal",
        "stronger from 99 to 120 Hz, 4 dB above normal",
        "stronger tone at 2.5 kHz, 12 dB above normal",
        "strength rises and falls, 7 times per second, from 500 to 630 Hz, 3 dB above normal",
    ]
