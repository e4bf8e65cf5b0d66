"""What events say."""

from __future__ import annotations

import pytest

from receivers import an_event
from ssdpt.alarms.findings import Finding
from ssdpt.alarms.operating_points import OperatingPoint, OperatingPoints
from ssdpt.alarms.speed_and_load import SpeedAndLoad
from ssdpt.monitor.events import descriptions
from ssdpt.monitor.language import Language

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
        "stronger from 99 to 130 Hz, 4 dB above normal",
        "stronger tone at 2.5 kHz, 12 dB above normal",
        "strength rises and falls, 7 times per second, from 500 to 630 Hz, 3 dB above normal",
    ]


def titles(*points):
    """As events store them, of points with a name, or with speed and load, or with neither."""
    learned = OperatingPoints(
        tuple(
            OperatingPoint((), 1.0, 0.5, -40.0, 1.0, 0.1, name, SpeedAndLoad(*operation))
            for name, *operation in points
        ),
        1.0,
        0.1,
    )
    return [learned.title(number) for number in range(1, len(points) + 1)]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "de",
            (
                "Ungewöhnliches Geräusch bei Betriebspunkt 1",
                "Ungewöhnliches Geräusch bei 1480 1/min, 60 % Last",
                "Ungewöhnliches Geräusch bei 12.500 1/min",
                "Ungewöhnliches Geräusch bei 0,5 1/min",
                "Ungewöhnliches Geräusch bei 60 % Last",
                "Ungewöhnliches Geräusch bei half load, 2 pumps",
            ),
        ),
        (
            "es",
            (
                "Sonido inusual en punto de operación 1",
                "Sonido inusual en 1480 rpm, 60 % de carga",
                "Sonido inusual en 12.500 rpm",
                "Sonido inusual en 0,5 rpm",
                "Sonido inusual en 60 % de carga",
                "Sonido inusual en half load, 2 pumps",
            ),
        ),
        (
            "ja",
            (
                "異常音（運転点 1）",
                "異常音（1480 rpm, 負荷 60 %）",
                "異常音（12,500 rpm）",
                "異常音（0.5 rpm）",
                "異常音（負荷 60 %）",
                "異常音（half load, 2 pumps）",
            ),
        ),
    ],
)
def test_operating_points_without_a_name_are_said_in_the_language_of_the_reader(language, said):
    points = titles(
        ("",),
        ("", 1480.0, 60.0),
        ("", 12500.0),
        ("", 0.5),
        ("", None, 60.0),
        ("half load, 2 pumps",),
    )
    words = Language(language)
    for title, sentence in zip(points, said, strict=True):
        message = descriptions.anomaly(title, None)
        assert message == f"Unusual sound at {title}"
        assert descriptions.cause(an_event(message=message), words) == sentence
        louder = descriptions.cause(an_event(message=descriptions.anomaly(title, 6.0)), words)
        assert louder.startswith(sentence)
