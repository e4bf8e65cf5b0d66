"""The picture of an event as a PNG file: for notifications, lists of events and downloads."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from ssdpt.monitor.messages import EventSpectrogram

# The colours of the page, dark to bright with even steps of lightness.
_STOPS = (
    *((8, 10, 26), (32, 24, 82), (72, 30, 122), (125, 38, 122), (180, 52, 98)),
    *((225, 84, 66), (247, 138, 44), (251, 195, 74), (252, 246, 190)),
)
_UNUSUAL = (64, 245, 235)  # of the anomaly map: cyan, which the scale does not have
_PAPER, _INK = (255, 255, 255), (40, 40, 48)
_QUIETEST, _LOUDEST = 0.02, 0.995  # quantiles that the colours begin and end at
_LEAST_CONTRAST = 32  # of 255; noise that hardly varies must not look like a sound
_FREQUENCIES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)  # Hz, of the labels
_STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600)  # seconds between labels of time
_LEFT, _BOTTOM, _RIGHT, _TOP = 52, 20, 8, 6  # pixels around the picture for labels
_TEXT, _DASH = 11, 5  # pixels

Pixels = npt.NDArray[np.uint8]


def event_png(
    picture: EventSpectrogram,
    width: int = 640,
    height: int = 240,
    *,
    began: float | None = None,
    labels: bool = True,
) -> bytes:
    """A PNG file of so many pixels; `labels`: with frequencies and seconds.

    `began`: time of the event; where it is in the picture is a line, from which seconds count.
    """
    sound = Image.fromarray(_pixels(picture), "RGB")
    if not labels:
        return _file(sound.resize((width, height), Image.Resampling.BILINEAR))
    inner = max(width - _LEFT - _RIGHT, 1), max(height - _TOP - _BOTTOM, 1)
    page = Image.new("RGB", (width, height), _PAPER)
    page.paste(sound.resize(inner, Image.Resampling.BILINEAR), (_LEFT, _TOP))
    _label(ImageDraw.Draw(page), picture, *inner, began)
    return _file(page)


def _pixels(picture: EventSpectrogram) -> Pixels:
    """(bins, columns, 3), the highest frequency first."""
    if not picture.columns:
        return np.full((1, 1, 3), _STOPS[0], np.uint8)
    columns = np.array(picture.columns, np.float64).T
    low, high = np.quantile(columns, (_QUIETEST, _LOUDEST))
    if high - low < _LEAST_CONTRAST:
        low, high = max(0.0, low - _LEAST_CONTRAST / 2), min(255.0, low + _LEAST_CONTRAST)
    place = np.clip((columns - low) / (high - low), 0.0, 1.0) * (len(_STOPS) - 1)
    stops = np.array(_STOPS, np.float64)
    colours = np.stack(
        [np.interp(place, np.arange(len(stops)), stops[:, part]) for part in range(3)], axis=-1
    )
    if picture.anomaly_map:
        heat = np.array(picture.anomaly_map, np.float64).T / 255
        # Transparent below a third, so that the sound stays visible.
        opacity = np.maximum(heat - 1 / 3, 0.0)[..., None]
        covered = colours[:, : heat.shape[1]]
        colours[:, : heat.shape[1]] = covered + opacity * (np.array(_UNUSUAL) - covered)
    return np.ascontiguousarray(colours[::-1].round().astype(np.uint8))


def _label(
    draw: ImageDraw.ImageDraw,
    picture: EventSpectrogram,
    width: int,
    height: int,
    began: float | None,
) -> None:
    font = ImageFont.load_default(_TEXT)
    hz = np.array(picture.hz)
    last = None  # height of the label before, so that none lies on another
    for frequency in _FREQUENCIES:
        if not len(hz) or not hz[0] <= frequency <= hz[-1]:
            continue
        share = float(np.interp(frequency, hz, np.linspace(0.0, 1.0, len(hz))))
        y = _TOP + round((1 - share) * (height - 1))
        if last is not None and last - y < 1.3 * _TEXT:
            continue
        last = y
        text = f"{frequency} Hz" if frequency < 1000 else f"{frequency // 1000} kHz"
        draw.line((_LEFT - 3, y, _LEFT, y), fill=_INK)
        draw.text((_LEFT - 5, y), text, fill=_INK, font=font, anchor="rm")
    seconds = len(picture.columns) * picture.seconds_per_column
    step = next((step for step in _STEPS if seconds / step <= width / 60), _STEPS[-1])
    before = 0.0 if began is None else began - picture.begin  # seconds that are shown
    if not 0.0 < before < seconds:  # of measurements end to end, seconds are not those of the clock
        before = 0.0
    for second in range(-int(before / step) * step, int(seconds - before) + 1, step):
        x = _LEFT + round((second + before) / max(seconds, 1e-9) * (width - 1))
        if before and second == 0:
            for y in range(_TOP, _TOP + height, 2 * _DASH):
                draw.line((x, y, x, min(y + _DASH, _TOP + height) - 1), fill=_PAPER)
        draw.line((x, _TOP + height, x, _TOP + height + 3), fill=_INK)
        anchor = "ma" if _LEFT < x < _LEFT + width - _TEXT else ("la" if x == _LEFT else "ra")
        text = f"{second:+d} s" if before and second else f"{second} s"
        draw.text((x, _TOP + height + 4), text, fill=_INK, font=font, anchor=anchor)


def _file(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()
