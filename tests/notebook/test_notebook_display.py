"""What objects show in a notebook: well formed, escaped, without scripts and outside addresses."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import soundfile

import ssdpt
from ssdpt import Detector
from ssdpt.common.numbers import Numbers
from ssdpt.notebook.svg import round_ticks
from ssdpt.types import Clip, Recording, Score, Timeline

GOLDEN = Path(__file__).parents[1] / "golden"
EVIL = "<script>alert('1')</script>&\"x"
_VOID = {"br", "img", "rect", "line", "image"}
_MOST_BYTES = 600_000


class Checker(HTMLParser):
    """Every element is closed, and nothing is loaded or run."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attributes):
        assert tag not in {"script", "link", "iframe", "style"}
        self.seen.add(tag)
        for name, value in attributes:
            assert not name.startswith("on")
            if name in {"src", "href"}:
                assert value.startswith("data:")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def checked(html: str) -> Checker:
    """The page that the HTML makes."""
    page = Checker()
    page.feed(html)
    page.close()
    assert page.open == []
    assert "\n\n" not in html  # in Markdown it would end the HTML
    addresses = re.findall(r"https?://[^\"'< ]+", html)
    assert set(addresses) <= {"http://www.w3.org/2000/svg"}  # the name of SVG, never fetched
    assert len(html) < _MOST_BYTES
    return page


def score(**changes) -> Score:
    values = np.array([0.2, 1.4, 0.3], np.float32)
    line = Timeline(np.arange(3, dtype=np.float32), 1.0, values)
    base = Score("clips/a.wav", "fan", "00", 0.63, 0.5, "alert", 0.004, {"a": 0.6}, line)
    return replace(base, **changes)


def tone(seconds=2.0, rate=16000) -> Clip:
    time = np.arange(int(seconds * rate)) / rate
    noise = np.random.default_rng(0).normal(0, 0.01, len(time))
    return Clip((0.2 * np.sin(2 * np.pi * 1000 * time) + noise).astype(np.float32), rate)


def test_a_score_says_its_level_and_draws_every_second():
    html = score()._repr_html_()
    page = checked(html)
    assert "Alert" in page.text
    assert "Score 0.63, threshold 0.50; 1 of 250 normal clips scores as high." in page.text
    assert html.count("<rect") == 3
    assert html.count("#e0641e") == 2  # the bar above the threshold, and the mark of the level
    assert "stroke-dasharray" in html


def test_a_rare_score_claims_no_more_than_clips_can_show():
    assert "fewer than 1 of 1000 normal" in checked(score(p_value=1e-6)._repr_html_()).text


@pytest.mark.parametrize("level", ["normal", "alert", "alarm"])
def test_every_level_has_words(level):
    assert level in checked(score(level=level)._repr_html_()).text.lower()


@pytest.mark.parametrize(
    "values", [[0.0], [-3.0, -2.0], [5.0] * 4, [1e6, -1e6], [np.nan, 1.0], np.linspace(0, 1, 40000)]
)
def test_any_timeline_is_drawn_small(values):
    values = np.array(values, np.float32)
    line = Timeline(np.arange(len(values), dtype=np.float32), 1.0, values)
    html = score(timeline=line)._repr_html_()
    checked(html)
    assert html.count("<rect") <= 300
    assert len(html) < 60_000
    for number in re.findall(r' (?:y|height)="([^"]+)"', html):
        assert -1e4 < float(number) < 1e4


def test_a_long_timeline_keeps_its_highest_second():
    values = np.zeros(36000, np.float32)
    values[17001] = 9.0
    line = Timeline(np.arange(36000, dtype=np.float32), 1.0, values)
    assert score(timeline=line)._repr_html_().count('fill="#e0641e"') == 1


def test_a_recording_has_a_player_and_a_spectrogram(tmp_path):
    path = tmp_path / "a.wav"
    soundfile.write(path, tone().samples, 16000)
    html = Recording(path, "fan", "00", split="test", label="anomaly", fault="rub")._repr_html_()
    page = checked(html)
    assert {"audio", "svg", "image"} <= page.seen
    assert "fan, ID 00, source domain, test, anomaly: rub" in page.text
    assert "2 s, 16 kHz, 1 channel" in page.text
    assert "data:image/png;base64," in html


def test_the_spectrogram_is_light_where_the_tone_is(tmp_path):
    import base64
    import io

    from PIL import Image

    encoded = re.search(r"data:image/png;base64,([^\"]+)", tone()._repr_html_())[1]
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded))).convert("L"), float)
    rows = picture.mean(axis=1)  # the highest frequency first
    from ssdpt.config.settings import FeatureConfig
    from ssdpt.features.logmel import mel_frequencies

    hertz = mel_frequencies(FeatureConfig(n_mels=len(rows)), 16000)[::-1]
    assert hertz[np.argmax(rows)] == pytest.approx(1000, rel=0.05)


@pytest.mark.parametrize("rate", [100, 1000, 8000, 51200, 192000])
@pytest.mark.parametrize("seconds", [0.05, 1.0, 60.0])
def test_any_rate_and_length_is_shown(rate, seconds):
    if rate * seconds > 5e6:
        seconds = 25.0
    page = checked(tone(seconds, rate)._repr_html_())
    assert ("first 20 s" in page.text) == (seconds > 20)


def test_what_cannot_be_read_is_a_sentence(tmp_path):
    page = checked(Recording(tmp_path / "gone.wav", "fan")._repr_html_())
    assert "gone.wav" in page.text
    assert "audio" not in page.seen


def test_names_are_text_and_never_html(tmp_path):
    path = tmp_path / "a<b>&.wav"
    soundfile.write(path, tone().samples, 16000)
    shown = [
        score(path=f"x/{EVIL.replace('/', '')}", machine=EVIL, section=EVIL, notes=(EVIL,)),
        replace(Recording(path, EVIL, EVIL, attributes=((EVIL, EVIL),)), fault=EVIL),
        replace(tone(), name=EVIL, section=EVIL),
        score(parts={EVIL: 1.0}),
    ]
    for item in shown:
        page = checked(item._repr_html_())
        assert "alert('1')" in page.text
    assert "a<b>&.wav" in checked(shown[1]._repr_html_()).text


@pytest.mark.parametrize("name", ["ssdpt", "texture", "gmm", "ssdpt-ensemble", "multiview"])
def test_a_detector_shows_its_card(name):
    detector = Detector.load(GOLDEN / "formats" / "5" / name, device="cpu")
    page = checked(detector._repr_html_())
    assert f"Detector of {detector.machine}" in page.text
    assert f"{len(detector.fingerprint)} normal recordings" in page.text
    for section in detector.sections:
        alert, alarm = detector.calibration.thresholds(section)
        assert f"{section}{detector.calibration.tail(section).clips}" in page.text
        assert Numbers().score(alert) in page.text
        assert Numbers().score(alarm) in page.text
    assert f"{Numbers().figures(detector.model_bytes / 1e6)} MB" in page.text


def test_the_card_names_views_and_members():
    texture = Detector.load(GOLDEN / "formats" / "5" / "texture")
    assert "spectrum 22 %, roughness 22 %" in checked(texture._repr_html_()).text
    ensemble = Detector.load(GOLDEN / "formats" / "5" / "ssdpt-ensemble", device="cpu")
    assert "2 networks, averaged" in checked(ensemble._repr_html_()).text


def test_provisional_thresholds_are_called_so():
    detector = Detector.load(GOLDEN / "formats" / "5" / "gmm")
    pooled = replace(detector.calibration.pooled, provisional=True)
    detector._set_calibration(replace(detector.calibration, pooled=pooled))
    assert "no other day has confirmed them" in checked(detector._repr_html_()).text


def test_an_exported_detector_shows_its_card_too():
    folder = GOLDEN / "exports" / "4" / "gmm"
    text = checked(ssdpt.load(folder)._repr_html_()).text
    size = sum(file.stat().st_size for file in folder.iterdir())
    assert f"{Numbers().figures(size / 1e6)} MB" in text


def test_the_terminal_still_gets_plain_text():
    assert repr(score()).startswith("Score(path=")
    assert "<" not in repr(Recording(Path("a.wav"), "fan"))


def test_nothing_of_it_is_imported_before_a_notebook_asks():
    code = (
        "import sys, ssdpt; from ssdpt.types import Score; from ssdpt import Clip; "
        "print([name for name in sys.modules if name.startswith('ssdpt.notebook')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("first", "last"), [(0, 10), (-3, 0.1), (0, 1e-3), (0, 86400)])
def test_ticks_are_round_and_few(first, last):
    ticks = round_ticks(first, last, 8)
    assert 3 <= len(ticks) <= 9
    for value, text in ticks:
        assert float(text) == pytest.approx(value, abs=1e-12)
        assert first - 1e-9 <= value <= last + 1e-9
