"""Synthesised speech, by espeak-ng: several languages, voices and speeds."""

from __future__ import annotations

import io
import subprocess
from dataclasses import dataclass

import numpy as np
import soundfile
import soxr

from ssdpt.errors import SsdptError
from ssdpt.types import Floats

RATE = 16000  # Hz
_QUIETEST = 1e-4  # of the loudest frame's power: below it nobody speaks
_TEXTS = {
    "en": "The pump was repaired on Monday, please call the office before lunch. "
    "Nobody knows when the delivery will arrive.",
    "de": "Die Pumpe wurde am Montag repariert, bitte rufen Sie vor dem Mittagessen im Büro an. "
    "Niemand weiß, wann die Lieferung kommt.",
    "es": "La bomba fue reparada el lunes, por favor llame a la oficina antes del almuerzo. "
    "Nadie sabe cuándo llegará el pedido.",
    "fr": "La pompe a été réparée lundi, appelez le bureau avant midi. "
    "Personne ne sait quand la livraison arrivera.",
    "ja": "ポンプは げつようびに しゅうりされました。じむしょに でんわしてください。",
}


@dataclass(frozen=True, slots=True)
class Speaker:
    """A voice of espeak-ng and its speed."""

    voice: str  # language, and after + the variant
    words_per_minute: int


SPEAKERS = (
    *(Speaker("en-gb", 150), Speaker("en-us+f3", 190), Speaker("en-gb+m5", 220)),
    *(Speaker("de", 170), Speaker("de+f2", 200), Speaker("es", 160), Speaker("es+m3", 130)),
    *(Speaker("fr", 170), Speaker("fr+f4", 150), Speaker("ja", 150)),
)


def speech(speaker: Speaker) -> Floats:
    """A sentence or two at RATE, (samples,)."""
    text = _TEXTS[speaker.voice[:2]]
    program = ["espeak-ng", "-v", speaker.voice, "-s", str(speaker.words_per_minute), "--stdout"]
    try:
        spoken = subprocess.run([*program, text], capture_output=True, check=True, timeout=60)
    except FileNotFoundError as error:
        raise SsdptError(
            "espeak-ng, which speaks for this benchmark, is not installed (Debian, Ubuntu: "
            "sudo apt install espeak-ng)"
        ) from error
    except subprocess.SubprocessError as error:
        raise SsdptError(f"espeak-ng failed with the voice {speaker.voice}: {error}") from error
    samples, rate = soundfile.read(io.BytesIO(spoken.stdout), dtype="float32")
    return np.asarray(soxr.resample(samples, rate, RATE), np.float32)


def speaking(samples: Floats, frame: int) -> np.ndarray:
    """(frames,): where someone speaks, in frames of so many samples; the rest is left out."""
    frames = samples[: len(samples) // frame * frame].reshape(-1, frame)
    power = np.square(frames).mean(1)
    return power > _QUIETEST * power.max()
