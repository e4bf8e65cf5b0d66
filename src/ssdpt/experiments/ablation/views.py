"""The views of every clip, computed once, and the scores of the clips under changed settings.

No label is read here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
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
from ssdpt.scoring.section_model import ClipViews as ViewsOfClip
from ssdpt.systems import system_class
from ssdpt.systems.parts.embedding_networks import EmbeddingNetworks
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.systems.texture import TextureConfig
from ssdpt.systems.texture.system import Texture, section_views
from ssdpt.types import Domain, Floats, Recording

Rows = list[tuple[Recording, ViewsOfClip]]


@dataclass(frozen=True, slots=True)
class ClipViews:
    """The views of all clips of all machine types."""

    train: Rows  # a row per normal clip
    test: Rows  # a row per ten seconds; the rows of a long recording are consecutive

    def joined_with(self, other: ClipViews) -> ClipViews:
        """The same clips with the views of both."""
        pairs = zip((self.train, self.test), (other.train, other.test), strict=True)
        return ClipViews(*(_joined(first, second) for first, second in pairs))

    def only(self, machines: Collection[str]) -> ClipViews:
        """The clips of these machines."""
        train, test = (
            [row for row in rows if row[0].machine in machines] for rows in (self.train, self.test)
        )
        return ClipViews(train, test)


class ViewExtractor:
    """Computes the views of the clips of all machine types."""

    def __init__(self, data: PaperData, config: Config, reporter: Reporter) -> None:
        self.data, self.config, self.reporter = data, config, reporter
        self.front_end = TextureFrames(config.features, config.audio.sample_rate)

    def training_clips(self, machines: Sequence[str]) -> list[FeatureView]:
        """The frames of the normal clips, machine by machine."""
        return self._frames(self.data.training_clips, machines)

    @cached_property
    def untrained(self) -> ClipViews:
        """The views of every clip that need no training."""
        seconds = self.config.part(TextureConfig).seconds
        return self._extract(
            "untrained views",
            lambda frames: views_of(frames, self.front_end, seconds),
            self.data.machines,
        )

    def trained(self, networks: EmbeddingNetworks, machines: Sequence[str]) -> ClipViews:
        """The views of the clips of these machines by these networks."""
        return self._extract(
            "networks", lambda frames: networks.embed(self.front_end.log_mels(frames)), machines
        )

    def _extract(
        self, name: str, describe: Callable[[Floats], ViewsOfClip], machines: Sequence[str]
    ) -> ClipViews:
        train = self.training_clips(machines)
        test = self._frames(self.data.test_clips, machines)
        views = ClipViews([], [])
        length = round(self.config.audio.clip_seconds / self.front_end.frame_seconds)
        recordings = sum(map(len, [*train, *test]))
        with self.reporter.task(f"computing {name}", total=recordings) as task:
            for recording, frames in chain.from_iterable(part.clips() for part in train):
                views.train.append((recording, describe(frames)))
                task.advance()
            for recording, frames in chain.from_iterable(part.clips() for part in test):
                # Cut into pieces as a fitted model does for scoring.
                pieces = clips_of([frames], length)
                views.test.extend((recording, describe(piece)) for piece in pieces)
                task.advance()
        return views

    def _frames(
        self, part: Callable[..., FeatureView], machines: Sequence[str]
    ) -> list[FeatureView]:
        return [
            part((machine,), self.config, self.front_end, self.reporter) for machine in machines
        ]


def score_test_clips(
    views: ClipViews, reference: SharedReference, config: Config
) -> dict[Recording, float]:
    """The score of every test recording by detectors fitted with this shared reference."""
    kind = system_class(config.system)
    assert issubclass(kind, Texture)
    shares = kind.shares(config, reference)
    normal: defaultdict[str, defaultdict[str, defaultdict[Domain, list[ViewsOfClip]]]]
    normal = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for recording, vectors in views.train:
        normal[recording.machine][recording.section][recording.domain].append(vectors)
    test: defaultdict[tuple[str, str], Rows] = defaultdict(list)
    for row in views.test:
        test[row[0].machine, row[0].section].append(row)
    scores: defaultdict[Recording, list[float]] = defaultdict(list)
    for machine, sections in normal.items():
        of_machine = section_views(sections, shares, reference.spread, config.part(TextureConfig))
        for section, views_of_section in of_machine.items():
            rows = test[machine, section]
            values = np.zeros(len(rows))
            for name, view in views_of_section.items():
                if rows:
                    values += view.weight * view.z_scores([clip[name] for _, clip in rows])
            for (recording, _), value in zip(rows, values.tolist(), strict=True):
                scores[recording].append(value)
    return {recording: float(np.mean(scores[recording])) for recording in dict(views.test)}


def _joined(first: Rows, second: Rows) -> Rows:
    return [
        (recording, {**vectors, **others})
        for (recording, vectors), (_, others) in zip(first, second, strict=True)
    ]
