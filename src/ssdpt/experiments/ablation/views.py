"""What the views say of every clip, worked out once, and how it scores under changed settings.

No label is read here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config
from ssdpt.experiments.paper.data import PaperData
from ssdpt.features.cache import FeatureView
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import clips_of, views_of
from ssdpt.scoring.section_model import ViewVectors
from ssdpt.systems import system_class
from ssdpt.systems.parts.embedding_networks import EmbeddingNetworks
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.systems.texture import TextureConfig
from ssdpt.systems.texture.system import Texture, weighed_views
from ssdpt.types import Domain, Floats, Recording

Rows = list[tuple[Recording, ViewVectors]]


@dataclass(frozen=True, slots=True)
class ClipViews:
    """All clips of all machine types in some views."""

    train: Rows  # a row for each normal clip
    test: Rows  # a row for each ten seconds; the rows of a long recording follow each other

    def beside(self, other: ClipViews) -> ClipViews:
        """The same clips in the views of both."""
        pairs = zip((self.train, self.test), (other.train, other.test), strict=True)
        return ClipViews(*(_joined(mine, theirs) for mine, theirs in pairs))


class Listener:
    """Hears the clips of all machine types at hand."""

    def __init__(self, data: PaperData, config: Config, reporter: Reporter) -> None:
        self.data, self.config, self.reporter = data, config, reporter
        self.front_end = TextureFrames(config.features, config.audio.sample_rate)

    def training_clips(self) -> list[FeatureView]:
        """The frames of the normal clips, machine by machine."""
        return self._frames(self.data.training_clips)

    @cached_property
    def untrained(self) -> ClipViews:
        """Every clip in the views that need no training."""
        return self._hear("untrained views", lambda frames: views_of(frames, self.front_end))

    def trained(self, ears: EmbeddingNetworks) -> ClipViews:
        """Every clip in the views of these networks."""
        return self._hear("networks", lambda frames: ears.embed(self.front_end.log_mels(frames)))

    def _hear(self, name: str, describe: Callable[[Floats], ViewVectors]) -> ClipViews:
        train, test = self.training_clips(), self._frames(self.data.test_clips)
        heard = ClipViews([], [])
        length = round(self.config.audio.clip_seconds / self.front_end.frame_seconds)
        recordings = sum(map(len, [*train, *test]))
        with self.reporter.task(f"listening ({name})", total=recordings) as task:
            for recording, frames in chain.from_iterable(part.clips() for part in train):
                heard.train.append((recording, describe(frames)))
                task.advance()
            for recording, frames in chain.from_iterable(part.clips() for part in test):
                # Cut as a fitted model cuts what it scores.
                pieces = clips_of([frames], length)
                heard.test.extend((recording, describe(piece)) for piece in pieces)
                task.advance()
        return heard

    def _frames(self, part: Callable[..., FeatureView]) -> list[FeatureView]:
        return [
            part((machine,), self.config, self.front_end, self.reporter)
            for machine in self.data.machines
        ]


def scores_of(
    heard: ClipViews, background: SharedReference, config: Config
) -> dict[Recording, float]:
    """Every test recording as machines fitted with this background would score it."""
    kind = system_class(config.system)
    assert issubclass(kind, Texture)
    shares = kind.shares(config, background)
    normal: defaultdict[str, defaultdict[str, defaultdict[Domain, list[ViewVectors]]]]
    normal = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for recording, vectors in heard.train:
        normal[recording.machine][recording.section][recording.domain].append(vectors)
    asked: defaultdict[tuple[str, str], Rows] = defaultdict(list)
    for row in heard.test:
        asked[row[0].machine, row[0].section].append(row)
    found: defaultdict[Recording, list[float]] = defaultdict(list)
    for machine, sections in normal.items():
        views = weighed_views(sections, shares, background.spread, config.part(TextureConfig))
        for section, own in views.items():
            rows = asked[machine, section]
            odd = np.zeros(len(rows))
            for name, view in own.items():
                if rows:
                    odd += view.weight * view.z(np.array([vectors[name] for _, vectors in rows]))
            for (recording, _), value in zip(rows, odd.tolist(), strict=True):
                found[recording].append(value)
    return {recording: float(np.mean(found[recording])) for recording in dict(heard.test)}


def _joined(mine: Rows, theirs: Rows) -> Rows:
    return [
        (recording, {**first, **second})
        for (recording, first), (_, second) in zip(mine, theirs, strict=True)
    ]
