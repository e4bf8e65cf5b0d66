"""Models that score clip by clip: a recording is cut into clips, each one run of a graph.

A recording is cut where its frames are, as for the fitted model: a clip inside it has no silence
at its ends. So its frames come from the front end itself, as those of live sound do, and each clip
is a run of the graph of frames. The graph of samples is for one clip.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ssdpt.features.views import longest_clip
from ssdpt.runtime.manifest import Manifest
from ssdpt.runtime.segment_outputs import of_another_graph, sections_of
from ssdpt.scoring.aggregate import ClipScore, aggregate


class WholeClipOutputs:
    """Collects the clips of one recording, run by run."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._frames = 0
        self._clips: list[np.ndarray] = []  # (parts, rows, sections) each

    @property
    def names(self) -> list[str]:
        """The outputs that a run of the graph must give."""
        return list(self._manifest.parts)

    def add(self, outputs: Mapping[str, np.ndarray], frames: int) -> None:
        """Take one run: a clip of so many frames."""
        values = [sections_of(outputs[name], self._manifest) for name in self.names]
        if len({len(part) for part in values}) != 1:
            raise of_another_graph(self._manifest)
        self._clips.append(np.stack(values))
        self._frames += frames

    def score_as(self, section: str) -> ClipScore:
        """The recording's score as one of the model's sections."""
        number = self._manifest.sections.index(section)
        parts = np.concatenate(self._clips, axis=1)[:, :, number]  # (parts, rows)
        seconds = self._frames * self._manifest.frame_seconds / parts.shape[1]
        return aggregate(
            dict(zip(self.names, parts, strict=True)),
            self._manifest.weights_as(section),
            hop_seconds=seconds,
            segment_seconds=seconds,
        )


def longest_samples(manifest: Manifest) -> int:
    """The most samples that are one clip."""
    assert manifest.clip_frames is not None
    return longest_clip(manifest.clip_frames) * manifest.features.hop_length - 1
