"""Models that score clips as a whole: a recording is cut into clips, each one run of a graph.

A recording is cut where its frames are, as for the fitted model: a clip inside it has no silence
at its ends. So its frames come from the front end itself, as those of live sound do, and each clip
is a run of the graph of frames. The graph of samples is for one clip.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from ssdpt.features.views import longest_clip
from ssdpt.runtime.manifest import Manifest
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.scoring.windows import Parts, ScoredClip, WindowGrid, clip_by_clip

WINDOWS = "windows"


class WholeClipOutputs:
    """Collects the clips of one recording, run by run."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._clips: list[tuple[int, np.ndarray, np.ndarray | None]] = []

    @property
    def names(self) -> list[str]:
        """The outputs that a run of the graph must give."""
        return [*self._manifest.parts, *([WINDOWS] if self._manifest.windows else [])]

    def add(self, outputs: Mapping[str, np.ndarray], frames: int) -> None:
        """Take one run: a clip of so many frames."""
        parts = np.stack([outputs[name][0] for name in self._manifest.parts])  # (parts, sections)
        self._clips.append((frames, parts, outputs.get(WINDOWS)))

    def score_as(self, section: str) -> ClipScore:
        """The recording's score as one of the model's sections."""
        manifest = self._manifest
        number = manifest.sections.index(section)
        clips = [
            ScoredClip(
                frames,
                dict(zip(manifest.parts, parts[:, number].tolist(), strict=True)),
                partial(self._windows, windows, number),
            )
            for frames, parts, windows in self._clips
        ]
        cut = manifest.windows
        grid = None if cut is None else WindowGrid(cut.frames, cut.hop)
        return clip_by_clip(clips, manifest.weights_as(section), grid, manifest.frame_seconds)

    def _windows(self, windows: np.ndarray | None, section: int) -> Parts:
        """Of one section by part, from (windows, sections, parts)."""
        assert windows is not None  # only asked for if the manifest says how clips are cut
        return {name: windows[:, section, at] for at, name in enumerate(self._manifest.parts)}


def longest_samples(manifest: Manifest) -> int:
    """The most samples that are one clip."""
    assert manifest.clip_frames is not None
    return longest_clip(manifest.clip_frames) * manifest.features.hop_length - 1
