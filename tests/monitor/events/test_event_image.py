"""The picture of an event as a PNG file."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from ssdpt.monitor.events.image import event_png
from ssdpt.monitor.messages import EventSpectrogram

HZ = tuple(np.geomspace(40, 7800, 64).round(1))


def a_picture(columns, anomaly_map=()):
    return EventSpectrogram(
        hz=HZ,
        begin=1.79e9,
        seconds_per_column=0.1,
        columns=columns,
        low_db=-90,
        high_db=0,
        anomaly_map=anomaly_map,
    )


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def tone_at(bin, columns=100):
    shown = np.full((columns, 64), 40)
    shown[:, bin] = 220
    return shown.tolist()


def test_high_frequencies_are_at_the_top_and_loud_ones_bright():
    image = pixels(event_png(a_picture(tone_at(50)), 100, 64, labels=False))
    assert image.shape == (64, 100, 3)
    assert image.sum(2).mean(1).argmax() == 63 - 50


def test_what_is_unusual_is_cyan():
    heat = np.zeros((100, 64), int)
    heat[:, 10] = 255
    plain = pixels(event_png(a_picture(tone_at(50)), 100, 64, labels=False))
    marked = pixels(event_png(a_picture(tone_at(50), heat.tolist()), 100, 64, labels=False))
    changed = np.abs(marked - plain).sum((1, 2))
    assert changed.argmax() == 63 - 10
    red, green, blue = marked[63 - 10, 50]
    assert min(green, blue) > red + 50


def test_labels_leave_the_size_as_it_is():
    assert pixels(event_png(a_picture(tone_at(5)), 640, 240)).shape == (240, 640, 3)


def test_a_line_shows_where_it_began():
    dark = [[40] * 64] * 100  # ten seconds
    plain, marked = (
        pixels(event_png(a_picture(dark), began=began)) for began in (None, 1.79e9 + 2.5)
    )
    changed = np.flatnonzero((plain[20:200] != marked[20:200]).any((0, 2)))
    assert changed.tolist() == [52 + round(0.25 * 579)]
    assert (plain[215:] != marked[215:]).any()  # seconds count from there
    for elsewhere in (1.79e9, 1.79e9 + 20):
        assert (pixels(event_png(a_picture(dark), began=elsewhere)) == plain).all()


@pytest.mark.parametrize("columns", [[], [[7] * 64], [[0] * 64] * 6000])
def test_an_empty_short_silent_or_long_one_is_a_picture_too(columns):
    assert pixels(event_png(a_picture(columns), 320, 120)).shape == (120, 320, 3)
