"""Voices: how much of speech is cut out, and how much of machines alone by mistake.

Each machine learns its threshold from its training clips, as it does from its baseline. Speech as
loud as the machine is then mixed into other clips of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdpt.bench.speech import RATE, SPEAKERS, speaking, speech
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.audio import read
from ssdpt.data.layouts import read_layout
from ssdpt.monitor.capture.voice import (
    FRAME,
    THRESHOLDS,
    VoiceNetwork,
    learn_threshold,
    voice_frames,
    voice_probabilities,
)
from ssdpt.types import Floats, Recording

FIXED = (0.1, 0.3, 0.5)  # thresholds without any learning, to compare with
_MOST_MIXED = 40  # clips of a machine
_LEAD = RATE // FRAME * FRAME  # samples, about a second, before someone speaks
_SHORTEST = 2 * _LEAD + FRAME  # samples of a clip in which someone can speak


@dataclass(frozen=True, slots=True)
class VoiceShares:
    """One machine. Shares are of time, 0 to 1."""

    machine: str
    threshold: float  # learned from its training clips
    alone: float  # of its clips that is cut out though nobody speaks
    alone_fixed: tuple[float, ...]  # the same at each threshold of FIXED
    speech: float | None  # of the time in which someone speaks that is cut out; None: nobody did
    speech_at_most: float | None  # the same at the highest threshold that can be learned

    def row(self) -> dict[str, str]:
        """For people."""
        fixed = zip(FIXED, self.alone_fixed, strict=True)
        return {
            "machine": self.machine,
            "threshold": f"{self.threshold:g}",
            "speech cut out": _percent(self.speech),
            f"at {THRESHOLDS[-1]:g}": _percent(self.speech_at_most),
            "machine cut out": f"{100 * self.alone:.2f} %",
            **{f"machine at {threshold:g}": f"{100 * share:.2f} %" for threshold, share in fixed},
        }


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def bench_voices(data: Sequence[Path], reporter: Reporter = SILENT) -> list[VoiceShares]:
    """Every machine, or section of one, of the data folders."""
    network = VoiceNetwork()
    spoken = [speech(speaker) for speaker in SPEAKERS]
    results = []
    for path in data:
        recordings = read_layout(path).recordings
        for section in sorted({recording.section for recording in recordings}):
            own = [recording for recording in recordings if recording.section == section]
            name = f"{path} {section}".strip()
            reporter.say(f"{name}: {len(own)} recordings")
            train, test = _split(own)
            if not train or not test:
                reporter.say(f"{name}: left out, it needs clips to learn from and others to test")
                continue
            results.append(measure_voices(network, name, _read(train), _read(test), spoken))
    return results


def measure_voices(
    network: VoiceNetwork,
    name: str,
    train: Sequence[Floats],
    test: Sequence[Floats],
    spoken: Sequence[Floats],
) -> VoiceShares:
    """One machine by its clips, and speech to be mixed into them; all (samples,) at RATE.

    Nobody speaks in clips of less than two seconds.
    """
    threshold = learn_threshold(network, train, RATE)
    alone = [voice_probabilities(network, clip, RATE) for clip in test]
    removed = removed_at_most = said = 0
    long_enough = [clip for clip in test if len(clip) >= _SHORTEST]
    for number, clip in enumerate(long_enough[:: max(1, len(long_enough) // _MOST_MIXED)]):
        mixed, active = mix(clip, spoken[number % len(spoken)])
        probabilities = voice_probabilities(network, mixed, RATE)
        said += int(active.sum())
        removed += _dropped(probabilities, threshold, active)
        removed_at_most += _dropped(probabilities, THRESHOLDS[-1], active)
    return VoiceShares(
        name,
        threshold,
        _share(alone, threshold),
        tuple(_share(alone, fixed) for fixed in FIXED),
        removed / said if said else None,
        removed_at_most / said if said else None,
    )


def mix(clip: Floats, spoken: Floats) -> tuple[Floats, np.ndarray]:
    """Speech as loud as the clip, from its first second on; and (frames,) where someone speaks."""
    spoken = spoken[: max(len(clip) - 2 * _LEAD, FRAME)]
    active = speaking(spoken, FRAME)
    loud = np.square(spoken[: len(active) * FRAME].reshape(-1, FRAME)[active]).mean()
    mixed = clip.copy()
    gain = np.sqrt(np.square(clip).mean() / loud)
    mixed[_LEAD : _LEAD + len(spoken)] += gain * spoken
    frames = np.zeros(len(clip) // FRAME, bool)
    frames[_LEAD // FRAME : _LEAD // FRAME + len(active)] = active
    return mixed, frames


def _dropped(probabilities: Floats, threshold: float, active: np.ndarray) -> int:
    """Frames in which someone speaks that are cut out."""
    return int((voice_frames(probabilities, threshold)[: len(active)] & active).sum())


def _share(probabilities: Sequence[Floats], threshold: float) -> float:
    dropped = np.concatenate([voice_frames(one, threshold) for one in probabilities])
    return float(dropped.mean())


def _split(recordings: Sequence[Recording]) -> tuple[list[Recording], list[Recording]]:
    """Training and test recordings; without such a split, the first half of the normal ones."""
    train = [recording for recording in recordings if recording.split == "train"]
    if not train:
        normal = [recording for recording in recordings if recording.label == "normal"]
        train = normal[: -(-len(normal) // 2)]
    return train, [recording for recording in recordings if recording not in train]


def _read(recordings: Sequence[Recording]) -> list[Floats]:
    return [read(recording, sample_rate=RATE) for recording in recordings]
