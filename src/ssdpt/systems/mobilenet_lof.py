"""MobileNetV2 with an additive angular margin on linear spectrograms, then local outlier factors.

The network learns to turn segments of different machine IDs into different directions. A clip is
the mean direction of its segments; it is as anomalous as that lies lonelier than the normal
training clips of its section lie among each other.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import islice
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from ssdpt.config.system_settings import MobileNetLofConfig
from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureView
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.spectrogram import Spectrogram
from ssdpt.nn.mobilenet import AngularMobileNet
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.scoring.neighbours import LocalOutliers, covering, spread_of
from ssdpt.scoring.saliency import saliency
from ssdpt.systems.base import Arrays
from ssdpt.systems.mobilenet import ClipEmbedder, SectionObjective, SegmentSystem
from ssdpt.systems.network import load_weights, seeded
from ssdpt.training.loop import choose_device
from ssdpt.training.objective import Objective
from ssdpt.types import Floats, Timeline

_CLIPS_AT_ONCE = 16
_PLACES = ("references", "reach", "density")  # of a section's `LocalOutliers`, as arrays


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
        settings, rate = config.mnv2_lof, config.audio.sample_rate
        return Spectrogram(settings.n_fft, settings.hop_length, config.features.floor, rate)

    @classmethod
    def settings_of(cls, config: Config) -> MobileNetLofConfig:
        return config.mnv2_lof

    @classmethod
    def build(cls, config: Config, sections: int) -> AngularMobileNet:
        settings = config.mnv2_lof
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
        return _Objective(network, clips, config.mnv2_lof, choose_device(config.device))

    def settle(self, clips: FeatureView) -> None:
        """Where the normal clips of every section lie, source and target domain together."""
        settings = self.config.mnv2_lof
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
        references = {section: np.concatenate(parts) for section, parts in kept.items()}
        k = settings.neighbours
        known = [LocalOutliers.of(group, k) for group in references.values() if len(group) > 1]
        spread = spread_of(known)
        self.outliers = {
            section: LocalOutliers.of(group, k, spread) for section, group in references.items()
        }

    def hearing(self) -> ClipEmbedder:
        return _Hearing(self)

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """Where the clip's own sound, unlike its usual one, moves it away from the references."""
        settings = self.config.mnv2_lof
        references = torch.from_numpy(self.outliers[section].references).to(self.device)
        count = min(settings.neighbours, len(references))

        def distance(segments: Tensor) -> Tensor:
            apart = torch.cdist(self.network(segments), references)  # (segments, references)
            return apart.topk(count, largest=False).values.mean(1)

        return saliency(frames, distance, settings.frames, self.device, self._at_once)

    def arrays(self) -> dict[str, np.ndarray]:
        groups = self.outliers.values()
        return super().arrays() | {
            place: np.concatenate([getattr(group, place) for group in groups]) for place in _PLACES
        }

    def description(self) -> dict[str, Any]:
        counts = [len(self.outliers[section].references) for section in self.sections]
        return {**super().description(), "references": counts}

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        settings = config.mnv2_lof
        network = cls.build(config, len(sections))
        load_weights(
            network, {name: value for name, value in arrays.items() if name not in _PLACES}
        )
        counts = [int(count) for count in description["references"]]
        total, shapes = sum(counts), [arrays[place].shape for place in _PLACES]
        if (
            len(counts) != len(sections)
            or min(counts) < 1
            or shapes != [(total, settings.embedding), (total,), (total,)]
        ):
            raise ValueError("the reference clips are of another model")
        borders = np.cumsum(counts)[:-1]
        groups = zip(*(np.split(arrays[place], borders) for place in _PLACES), strict=True)
        system = cls(config, sections, network)
        system.outliers = {
            section: LocalOutliers(references, reach, density, settings.neighbours)
            for section, (references, reach, density) in zip(sections, groups, strict=True)
        }
        return system


class _Hearing:
    """The factor of every segment in each section, and the sum of their embeddings."""

    def __init__(self, system: MobileNetLof) -> None:
        self.system = system
        self.total, self.count = np.zeros(system.config.mnv2_lof.embedding), 0
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
