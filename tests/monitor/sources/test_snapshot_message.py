"""Snapshots as other programs send them."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
import soundfile

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import SensorSettings
from ssdpt.monitor.sources.snapshot_message import decode_snapshot, read_message

NOON = 1_700_000_000.0
GRAVITY = SensorSettings(unit="g", full_scale=50, snapshots=True)
VALUES = [0.5, -1.0, 5.0, 0.0]


def decode(sensor=GRAVITY, **content):
    content = {"sample_rate": 25_600, "unit": "g", "values": VALUES, **content}
    body = json.dumps({name: value for name, value in content.items() if value is not None})
    return decode_snapshot(body.encode(), sensor, NOON)


def test_values_become_samples_of_full_scale():
    snapshot = decode(time=NOON - 5)
    np.testing.assert_allclose(snapshot.samples, [[0.01, -0.02, 0.1, 0.0]], rtol=1e-6)
    assert snapshot.samples.dtype == np.float32
    assert (snapshot.sample_rate, snapshot.time, snapshot.axes) == (25_600, NOON - 5, ())


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (1_700_000_000, NOON),
        ("2023-11-14T22:13:20Z", NOON),
        ("2023-11-14T22:13:20", NOON),
        ("2023-11-14T23:13:20+01:00", NOON),
        (None, NOON - 4 / 25_600),
    ],
)
def test_times(time, expected):
    assert decode(time=time).time == pytest.approx(expected, abs=1e-6)


def test_axes_keep_their_names():
    snapshot = decode(values=None, axes={"x": VALUES, "y": [0, 0, 0, 50]})
    assert snapshot.axes == ("x", "y")
    assert snapshot.samples.shape == (2, 4)
    assert snapshot.samples[1, 3] == 1.0


def test_units_are_converted_or_refused():
    np.testing.assert_allclose(decode(unit="m/s2").samples, decode().samples / 9.80665, rtol=1e-5)
    assert decode(unit=None).samples[0, 2] == pytest.approx(0.1)
    with pytest.raises(SsdptError, match="values in mm/s, but the sensor has g in the settings"):
        decode(unit="mm/s")
    with pytest.raises(SsdptError, match="but the sensor has no unit in the settings; set its"):
        decode(SensorSettings(snapshots=True))


def test_the_settings_can_say_the_sample_rate():
    sensor = GRAVITY.model_copy(update={"sample_rate": 10_000})
    assert decode(sensor, sample_rate=None).sample_rate == 10_000
    with pytest.raises(SsdptError, match="a snapshot without sample_rate"):
        decode(sample_rate=None)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"values": None}, "either values, of one axis, or axes, by name"),
        ({"axes": {"x": VALUES}}, "either values, of one axis, or axes, by name"),
        ({"values": None, "axes": {"x": VALUES, "y": [1.0]}}, "the same number of values for each"),
        ({"values": []}, "the same number of values for each"),
        ({"values": ["a"]}, "not a snapshot as JSON: values.0: must be a number"),
        ({"unit": "furlongs"}, "not a snapshot as JSON: unit: 'furlongs' is not valid"),
        ({"sample_rate": 0}, "not a snapshot as JSON: sample_rate: must be more than 0"),
        ({"rate": 5}, "not a snapshot as JSON: rate: is not known"),
        ({"time": "yesterday"}, "not a snapshot as JSON: time"),
    ],
)
def test_what_is_wrong_is_said(content, sentence):
    with pytest.raises(SsdptError) as caught:
        decode(**content)
    assert sentence in str(caught.value)


def test_sound_files_hold_all_axes():
    frames = np.stack([np.linspace(-0.5, 0.5, 100), np.full(100, 0.25)], axis=1)
    content = io.BytesIO()
    soundfile.write(content, frames, 12_800, format="WAV", subtype="FLOAT")
    snapshot = decode_snapshot(content.getvalue(), GRAVITY, NOON)
    np.testing.assert_allclose(snapshot.samples, frames.T, atol=1e-6)
    assert (snapshot.sample_rate, snapshot.end) == (12_800, pytest.approx(NOON))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"{", "not a snapshot as JSON: not valid JSON"),
        (b"hello", "neither JSON nor a WAV or FLAC file"),
        (b"RIFF....", "neither JSON nor a WAV or FLAC file"),
    ],
)
def test_other_bytes_are_refused(content, sentence):
    with pytest.raises(SsdptError, match=sentence):
        decode_snapshot(content, GRAVITY, NOON)


@pytest.mark.parametrize("content", ["[" * 9 * 2**20, '{"values": [' + "0," * 1_000_001 + "0]}"])
def test_much_json_is_refused_unread(content):
    with pytest.raises(SsdptError, match="at most 8 MiB and 1000000 values; send it as a WAV"):
        read_message(content.encode())
