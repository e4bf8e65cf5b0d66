"""MobileNetV2 with an additive angular margin on linear spectrograms, then local outlier factors.

The network learns to turn segments of different machine IDs into different directions. A clip is
the mean direction of its segments; it is as anomalous as it is sparser around that than around
the normal training clips of its section that are nearest to it.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from ssdpt.common.arrays import Arrays
from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureView
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.spectrogram import LinearSpectrogram
from ssdpt.nn.mobilenet import AngularMobileNet
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.scoring.local_outlier import LocalOutliers, covering, outliers_of
from ssdpt.scoring.saliency import saliency
from ssdpt.systems.mobilenet import MobileNetLofConfig
from ssdpt.systems.mobilenet.classifier import ClipScorer, SectionObjective, SegmentSystem
from ssdpt.systems.parts.network import load_weights, seeded
from ssdpt.training.loop import choose_device
from ssdpt.training.objective import Objective
from ssdpt.types import Floats, Timeline

_CLIPS_AT_ONCE = 16
_REFERENCES = "references"  # the array with those of all sections


class MobileNetLof(SegmentSystem[AngularMobileNet]):
    """One network for a machine, and reference clips for each of its sections."""

    name: ClassVar[str] = "mnv2-lof"
    origin: ClassVar[str] = "MNv2-LOF"

    def __init__(
        self, config: Config, sections: tuple[str, ...], network: AngularMobileNet
    ) -> None:
        super().__init__(config, sections, network)
        self.outliers: dict[str, LocalOutliers] = {}  # of every section, once it is settled

    @classmethod
    def front_end_of(cls, config: Config) -> FrontEnd:
        settings, rate = config.part(MobileNetLofConfig), config.audio.sample_rate
        return LinearSpectrogram(settings.n_fft, settings.hop_length, config.features.floor, rate)

    @classmethod
    def settings_of(cls, config: Config) -> MobileNetLofConfig:
        return config.part(MobileNetLofConfig)

    @classmethod
    def build(cls, config: Config, sections: int) -> AngularMobileNet:
        settings = config.part(MobileNetLofConfig)
        return seeded(
            lambda: AngularMobileNet(
                sections,
                bins=cls.front_end_of(config).bins,
                width=settings.width,
                embedding=settings.embedding,
                margin=settings.margin,
                scale=settings.scale,
            ),
            config.seed,
        )

    @classmethod
    def objective(cls, network: AngularMobileNet, clips: FeatureView, config: Config) -> Objective:
        return _Objective(
            network, clips, config.part(MobileNetLofConfig), choose_device(config.device)
        )

    def settle(self, clips: FeatureView) -> None:
        """Where the normal clips of every section lie, source and target domain together."""
        settings = self.config.part(MobileNetLofConfig)
        places: defaultdict[tuple[str, str], list[np.ndarray]] = defaultdict(list)
        waiting = clips.clips()
        while batch := list(islice(waiting, _CLIPS_AT_ONCE)):
            outputs = self.outputs_of([frames for _, frames in batch])
            for (recording, _), embeddings in zip(batch, outputs, strict=True):
                mean = embeddings.double().mean(0).numpy()
                places[recording.section, str(recording.domain)].append(mean)
        kept: dict[str, list[np.ndarray]] = {section: [] for section in self.sections}
        for (section, _), group in sorted(places.items()):
            points = np.array(group, np.float32)
            kept[section].append(points[covering(points, settings.references)])
        self._set_references([np.concatenate(kept[section]) for section in self.sections])

    def clip_scorer(self) -> ClipScorer:
        return _ClipScorer(self)

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """Where the clip's own sound, unlike its usual one, moves it away from the references."""
        settings = self.config.part(MobileNetLofConfig)
        references = torch.from_numpy(self.outliers[section].references).to(self.device)
        count = min(settings.neighbours, len(references))

        def distance(segments: Tensor) -> Tensor:
            distance = torch.cdist(self.network(segments), references)  # (segments, references)
            return distance.topk(count, largest=False).values.mean(1)

        return saliency(frames, distance, settings.frames, self.device, self._at_once)

    def arrays(self) -> dict[str, np.ndarray]:
        groups = [self.outliers[section].references for section in self.sections]
        return super().arrays() | {_REFERENCES: np.concatenate(groups)}

    def description(self) -> dict[str, Any]:
        counts = [len(self.outliers[section].references) for section in self.sections]
        return {**super().description(), "references": counts}

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        settings = config.part(MobileNetLofConfig)
        network = cls.build(config, len(sections))
        load_weights(
            network, {name: value for name, value in arrays.items() if name != _REFERENCES}
        )
        counts = [int(count) for count in description["references"]]
        references = np.asarray(arrays[_REFERENCES])
        shape = sum(counts), settings.embedding
        if len(counts) != len(sections) or min(counts) < 1 or references.shape != shape:
            raise ValueError("the reference clips are of another model")
        system = cls(config, sections, network)
        system._set_references(np.split(references, np.cumsum(counts)[:-1]))
        return system

    def _set_references(self, groups: Sequence[Floats]) -> None:
        """The embeddings (references, E) of the normal clips of every section."""
        neighbours = self.config.part(MobileNetLofConfig).neighbours
        outliers = outliers_of(groups, neighbours)
        self.outliers = dict(zip(self.sections, outliers, strict=True))


class _ClipScorer:
    """The factor of every segment in each section, and the sum of their embeddings."""

    def __init__(self, system: MobileNetLof) -> None:
        self.system = system
        self.total, self.count = np.zeros(system.config.part(MobileNetLofConfig).embedding), 0
        self.along = {section: array("f") for section in system.sections}

    def add(self, outputs: Tensor) -> None:
        embeddings = outputs.numpy()
        self.total += embeddings.sum(0, dtype=np.float64)
        self.count += len(embeddings)
        for section, along in self.along.items():
            along.extend(self.system.outliers[section].factors(embeddings).tolist())

    def score_as(self, section: str) -> ClipScore:
        mean = self.total / self.count
        value = float(self.system.outliers[section].factors(mean[None])[0])
        along, timing = np.array(self.along[section], np.float32), self.system.timing()
        return ClipScore(
            value=value,
            parts={"outlier": value},
            timeline=Timeline(
                start=(np.arange(len(along)) * timing["hop_seconds"]).astype(np.float32),
                duration=timing["segment_seconds"],
                value=along,
                parts={"outlier": along},
            ),
        )


class _Objective(SectionObjective):
    """Cross-entropy with the margin; the accuracy is that of the nearest direction."""

    network: AngularMobileNet

    def logits(self, segments: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        embeddings = self.network(segments)
        head = self.network.head
        return head(embeddings, labels), head.cosines(embeddings)
