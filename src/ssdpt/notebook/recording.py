"""A recording in a notebook: what is known of it, a player, and its spectrogram."""

from __future__ import annotations

import numpy as np

from ssdpt.common.files import printable
from ssdpt.common.numbers import Numbers
from ssdpt.config.settings import FeatureConfig
from ssdpt.data.audio import AudioInfo, AudioReader, describe_rate, open_audio
from ssdpt.data.audio_reader import channels_text
from ssdpt.data.compressed import compress
from ssdpt.errors import SsdptError
from ssdpt.features.logmel import LogMel, resolved_filters
from ssdpt.notebook.html import block, line, small
from ssdpt.notebook.png import data_uri, heat_picture
from ssdpt.notebook.svg import Plot, round_ticks
from ssdpt.types import Clip, Floats, Recording

LONGEST_SECONDS = 20.0  # of what is played and drawn; a page must stay small
_HEIGHT = 200
_WINDOW_SECONDS = 0.064
_BINS = 96
_MOST_COLUMNS = 500
_RANGE_DB = 70.0  # from the darkest to the lightest colour, at most
_HERTZ = (63, 125, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000)
_NUMBERS = Numbers()


def recording_html(sound: Recording | Clip) -> str:
    """The header, the player and the spectrogram; a sentence where it cannot be read."""
    name = sound.name if isinstance(sound, Clip) else sound.path.name
    facts = line(_known(sound))
    try:
        with open_audio(sound) as reader:
            info = reader.info
            samples = _beginning(reader)
    except SsdptError as error:
        return block(printable(name), facts, line(str(error)))
    shown = len(samples) / info.sample_rate
    cut = f"The first {shown:.0f} s are played and shown." if shown < info.seconds - 0.05 else ""
    return block(
        printable(name),
        facts,
        line(_measured(info)),
        _player(samples, info.sample_rate),
        _spectrogram(samples, info.sample_rate),
        small(f"{cut} Light is loud. The player turns the sound up to full volume.".strip()),
    )


def _known(sound: Recording | Clip) -> str:
    """What layout, folder or caller say of it."""
    words = [f"ID {sound.section}" if sound.section else "", f"{sound.domain} domain"]
    if isinstance(sound, Recording):
        fault = f"{sound.label}: {sound.fault}" if sound.fault else sound.label
        words = [sound.machine, *words, sound.split, fault, sound.attribute_text]
        if sound.snapshots:
            words.append(f"{len(sound.snapshots)} snapshots end to end")
    return printable(", ".join(word for word in words if word))


def _measured(info: AudioInfo) -> str:
    seconds = _NUMBERS.figures(info.seconds)
    unit = f", in {info.unit}" if info.unit else ""
    channels = channels_text(info.channels) + (", the first is shown" * (info.channels > 1))
    return f"{seconds} s, {describe_rate(info.sample_rate)}, {channels}{unit}"


def _beginning(reader: AudioReader) -> Floats:
    """The first seconds of the first channel, (samples,), at the recording's own rate."""
    rate = reader.info.sample_rate
    for first in reader.blocks(rate, 0, block_seconds=LONGEST_SECONDS):
        return first
    raise AssertionError("a recording has samples: open_audio refuses an empty one")


def _player(samples: Floats, rate: int) -> str:
    sound, kind = compress(samples, rate)
    style = "display:block;width:100%;max-width:40em;height:36px;margin:.3em 0"
    return f'<audio controls style="{style}" src="{data_uri(kind, sound)}"></audio>'


def _spectrogram(samples: Floats, rate: int) -> str:
    """The log-mel with windows of 64 ms, whatever the rate."""
    window = 1 << max(4, round(np.log2(_WINDOW_SECONDS * rate)))
    bins = min(_BINS, resolved_filters(0.0, rate / 2, rate / window))
    features = LogMel(FeatureConfig(n_fft=window, hop_length=window // 2, n_mels=bins), rate)
    frames = features(samples)  # (frames, bins)
    together = -(-len(frames) // _MOST_COLUMNS)
    starts = np.arange(0, len(frames), together)
    columns = np.maximum.reduceat(frames, starts, axis=0)
    high = float(np.percentile(columns, 99.8))
    low = max(float(np.percentile(columns, 2)), high - _RANGE_DB)
    seconds = len(samples) / rate
    plot = Plot((0.0, seconds), (-0.5, bins - 0.5), _HEIGHT)
    plot.picture(heat_picture(columns.T[::-1], low, high))
    plot.x_axis(round_ticks(0.0, seconds, 10), "seconds")
    plot.y_axis(_frequency_ticks(features.frequencies))
    return plot.svg(f"Spectrogram of {seconds:.1f} seconds, 0 to {rate / 2000:g} kHz")


def _frequency_ticks(frequencies: Floats) -> list[tuple[float, str]]:
    """Octaves at their bins, without those that would overlap."""
    bins = len(frequencies)
    places = np.interp(_HERTZ, frequencies, np.arange(bins), left=-1, right=-1)
    ticks: list[tuple[float, str]] = []
    for hertz, place in zip(_HERTZ, places, strict=True):
        if place >= 0 and (not ticks or place - ticks[-1][0] > bins / 12):
            ticks.append((float(place), _NUMBERS.hertz(hertz)))
    return ticks
