"""Voices in the sound of a machine: where they are, and the sound without them.

The detector is Silero's network, of which only the ONNX file is read. It gives the probability of a
voice for every 32 ms. Some machines sound like a voice now and then, so each has a threshold of its
own, learned from its normal sound.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

RATE = 16000  # Hz, of the network
FRAME = 512  # samples
FRAME_SECONDS = FRAME / RATE
_CONTEXT = 64  # samples before a frame that the network gets with it
_STATE = (2, 1, 128)
_FILE = Path("data") / "silero_vad.onnx"

DEFAULT_THRESHOLD = 0.5  # probability; Silero's own, for a machine without a baseline
# A baseline may lower the threshold or raise it, within bounds: someone who talks while it is
# learned must not switch the detector off. At 0.6, 73 % of speech or more is found beside every
# machine that was measured (`ssdpt bench voices`).
THRESHOLDS = (0.3, 0.4, 0.5, 0.6)
MOST_OF_NORMAL = 0.005  # share of the normal sound that may be taken for a voice
_END_SHARE = 0.6  # of the threshold, below which a voice ends
MARGIN_FRAMES = 13  # dropped before and after a voice: 0.4 s
_MOST_LEARNED = 600.0  # seconds of normal sound that a threshold is learned from

Mask = np.ndarray[Any, np.dtype[np.bool_]]


class VoiceNetwork:
    """The network, shared by all machines; each has a state of its own."""

    def __init__(self) -> None:
        """SsdptError where the extra `voice` is not installed."""
        # Found without importing the package, which would import torch and set its threads.
        package = importlib.util.find_spec("silero_vad")
        folders = list(package.submodule_search_locations or ()) if package else []
        path = next((Path(one) / _FILE for one in folders if (Path(one) / _FILE).is_file()), None)
        try:
            import onnxruntime
        except ImportError as error:
            raise SsdptError(Sentence("service.needsVoiceDetector")) from error
        if path is None:
            raise SsdptError(Sentence("service.needsVoiceDetector"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        self._rate = np.array(RATE, np.int64)

    def run(self, frame: Floats, state: Floats) -> tuple[float, Floats]:
        """The probability of a voice in a frame (context + FRAME,), and the state after it."""
        inputs = {"input": frame[None], "state": state, "sr": self._rate}
        probability, state = self._session.run(None, inputs)
        return float(probability[0, 0]), state


class VoiceDetector:
    """Follows one stream of sound."""

    def __init__(self, network: VoiceNetwork) -> None:
        self._network = network
        self._state = np.zeros(_STATE, np.float32)
        self._context = np.zeros(_CONTEXT, np.float32)

    def probabilities(self, samples: Floats) -> Floats:
        """(frames × FRAME,) samples at RATE to (frames,); they follow those of the last call."""
        frames = samples.astype(np.float32).reshape(-1, FRAME)
        result = np.zeros(len(frames), np.float32)
        for number, frame in enumerate(frames):
            with_context = np.concatenate([self._context, frame])
            result[number], self._state = self._network.run(with_context, self._state)
            self._context = with_context[-_CONTEXT:]
        return result


class VoiceSwitch:
    """Whether someone speaks, frame by frame: on at the threshold, off well below it."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._speaking = False

    def update(self, probabilities: Floats) -> Mask:
        """(frames,) to (frames,); they follow those of the last call."""
        result = np.zeros(len(probabilities), bool)
        for number, probability in enumerate(probabilities):
            self._speaking = probability >= self._threshold * (
                _END_SHARE if self._speaking else 1.0
            )
            result[number] = self._speaking
        return result


def voice_frames(probabilities: Floats, threshold: float) -> Mask:
    """(frames,): where sound is dropped: voices, with a margin on both sides."""
    speaking = VoiceSwitch(threshold).update(probabilities)
    window = np.ones(2 * MARGIN_FRAMES + 1)
    # "same" gives the length of the longer of the two.
    spread = np.convolve(speaking, window)[MARGIN_FRAMES : MARGIN_FRAMES + len(speaking)]
    return spread > 0


def voice_probabilities(network: VoiceNetwork, samples: Floats, rate: int) -> Floats:
    """Of a whole recording (samples,), the last frame filled up with silence: (frames,)."""
    resampled = samples if rate == RATE else soxr.resample(samples, rate, RATE)
    padded = np.pad(resampled, (0, -len(resampled) % FRAME))
    return VoiceDetector(network).probabilities(padded)


@dataclass(frozen=True, slots=True)
class SoundWithoutVoices:
    """A recording in which voices are replaced by silence."""

    samples: Floats  # (n,) or (n, channels)
    removed: Mask  # (n,)
    rate: int  # Hz

    @classmethod
    def of(cls, samples: Floats, removed: Mask, rate: int) -> SoundWithoutVoices:
        """The samples, silent where `removed` (n,) says so."""
        kept = ~removed if samples.ndim == 1 else ~removed[:, None]
        return cls(np.where(kept, samples, np.zeros_like(samples)), removed, rate)

    @classmethod
    def untouched(cls, samples: Floats, rate: int) -> SoundWithoutVoices:
        """All of it, since voices may stay."""
        return cls(samples, np.zeros(len(samples), bool), rate)

    @property
    def removed_seconds(self) -> float:
        return float(self.removed.sum()) / self.rate


def without_voices(
    network: VoiceNetwork, samples: Floats, rate: int, threshold: float
) -> SoundWithoutVoices:
    """The recording (samples,) without its voices."""
    if not len(samples):
        return SoundWithoutVoices.untouched(samples, rate)
    dropped = voice_frames(voice_probabilities(network, samples, rate), threshold)
    # A resampler may round the last frame away.
    frame = np.minimum(np.arange(len(samples)) * RATE // (rate * FRAME), len(dropped) - 1)
    return SoundWithoutVoices.of(samples, dropped[frame], rate)


def learn_threshold(network: VoiceNetwork, clips: Sequence[Floats], rate: int) -> float:
    """The lowest threshold at which hardly any of the normal clips, (samples,) each, is dropped."""
    most = max(1, round(_MOST_LEARNED * rate / max(len(clips[0]), 1)))
    chosen = clips[:: max(1, -(-len(clips) // most))]
    probabilities = [voice_probabilities(network, clip, rate) for clip in chosen]
    for threshold in THRESHOLDS:
        dropped = np.concatenate([voice_frames(one, threshold) for one in probabilities])
        if dropped.mean() <= MOST_OF_NORMAL:
            return threshold
    return THRESHOLDS[-1]


class LiveVoiceFilter:
    """Drops voices from sound as it arrives, later by the margin before a voice."""

    def __init__(self, network: VoiceNetwork, rate: int, threshold: float) -> None:
        self._rate = rate
        self._detector, self._switch = VoiceDetector(network), VoiceSwitch(threshold)
        self._resampler = (
            None if rate == RATE else soxr.ResampleStream(rate, RATE, 1, dtype="float32")
        )
        self._waiting = np.zeros(0, np.float32)  # at RATE, less than a frame
        self._held = np.zeros(0, np.float32)  # samples that may still be dropped
        self._given = 0  # samples so far
        self._decided = 0  # frames so far
        self._dropped: list[tuple[int, int]] = []  # first frame and the one after, with margins

    @property
    def delay(self) -> float:
        """Seconds by which sound comes later."""
        return len(self._held) / self._rate

    def feed(self, samples: Floats) -> SoundWithoutVoices:
        """The samples (n,) that are decided by now; they follow those of the last call."""
        self._held = np.concatenate([self._held, samples])
        resampled = samples if self._resampler is None else self._resampler.resample_chunk(samples)
        self._waiting = np.concatenate([self._waiting, resampled])
        whole = len(self._waiting) // FRAME * FRAME
        speaking = self._switch.update(self._detector.probabilities(self._waiting[:whole]))
        self._waiting = self._waiting[whole:]
        for frame in np.flatnonzero(speaking) + self._decided:
            self._dropped.append((int(frame) - MARGIN_FRAMES, int(frame) + MARGIN_FRAMES + 1))
        self._decided += len(speaking)
        until = self._sample_of(max(self._decided - MARGIN_FRAMES, 0))
        ready = self._held[: max(until - self._given, 0)]
        removed = np.zeros(len(ready), bool)
        for first, after in self._dropped:
            begin, end = self._sample_of(first) - self._given, self._sample_of(after) - self._given
            removed[max(begin, 0) : max(end, 0)] = True
        self._held = self._held[len(ready) :]
        self._given += len(ready)
        self._dropped = [one for one in self._dropped if self._sample_of(one[1]) > self._given]
        return SoundWithoutVoices.of(ready, removed, self._rate)

    def _sample_of(self, frame: int) -> int:
        return frame * FRAME * self._rate // RATE
