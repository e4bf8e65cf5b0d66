"""Sound for a web page: small, and loud enough to hear."""

from __future__ import annotations

import io

import numpy as np
import soundfile
import soxr

from ssdpt.types import Floats

_MP3_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)


def compress(samples: Floats, rate: int) -> tuple[bytes, str]:
    """A small sound file for a web page and its media type; normalised to a peak of 0.7.

    MP3, which plays in every browser; Ogg Vorbis if libsndfile was built without MP3.
    """
    peak = float(np.max(np.abs(samples), initial=0.0))
    audible = samples * (0.7 / peak) if peak > 0 else samples
    mp3 = "MP3" in soundfile.available_formats()
    if mp3 and rate not in _MP3_RATES:
        audible = soxr.resample(audible, rate, 48000)
        rate = 48000
    buffer = io.BytesIO()
    soundfile.write(buffer, audible, rate, format="MP3" if mp3 else "OGG")
    return buffer.getvalue(), "audio/mpeg" if mp3 else "audio/ogg"
