"""WaveNets on raw samples, and the ensemble of several: DCASE 2021's first place.

Each is trained to tell the machine IDs of normal clips apart, with an additive margin; a clip is
scored by how unlikely its own ID looks, without it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ssdpt.common.arrays import Arrays
from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureView
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.segments import segments_of_clip, whole_segments
from ssdpt.features.waveform import Waveform
from ssdpt.nn.losses import log_odds
from ssdpt.nn.shards import each, threads_for_shards
from ssdpt.nn.wavenet import WaveNet, layer_table
from ssdpt.scoring.aggregate import ClipScore, aggregate
from ssdpt.scoring.section_score import SectionScore
from ssdpt.systems.base import FitContext
from ssdpt.systems.parts.ensemble import EnsembleSystem
from ssdpt.systems.parts.network import (
    ClassifierSystem,
    count_parameters,
    load_weights,
    seeded,
    train_network,
    training_segments,
)
from ssdpt.systems.wavenet import WaveNetConfig
from ssdpt.training.loop import choose_device
from ssdpt.training.objective import Batch, Objective
from ssdpt.types import Floats

_SEGMENTS_AT_ONCE = 64  # on a GPU
_ON_A_CORE = 4  # their activations stay near it


class WaveNetSystem(ClassifierSystem[WaveNet]):
    """One network for one machine: the first of `wavenet.members`."""

    name: ClassVar[str] = "wavenet"
    origin: ClassVar[str] = "a member of WaveNet-ensemble"
    explains: ClassVar[bool] = False

    @classmethod
    def front_end_of(cls, config: Config) -> FrontEnd:
        return Waveform(config.audio.sample_rate)

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        return count_parameters(_build(config, sections))

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        sections = tuple(sorted({recording.section for recording in clips.recordings}))
        network = _build(config, len(sections))
        network.set_level(_mean_square(network, clips))
        labels = [sections.index(recording.section) for recording in clips.recordings]
        objective = _Objective(network, clips, labels, config)
        system = cls(config, sections, network)
        on_cpu = choose_device(config.device).type == "cpu"
        with threads_for_shards() if on_cpu else nullcontext():
            train_network(system, objective, config.part(WaveNetConfig).training, clips, context)
        return system

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        return self.score_sections(lambda: frames)(section)

    def score_sections(self, frames: Callable[[], Iterable[Floats]]) -> SectionScore:
        """One pass of the network gives the scores as all sections."""
        settings = self.config.part(WaveNetConfig)
        identity = [array("f") for _ in self.sections]  # numbers, as in ssdpt.systems.ssdpt

        def scores(segments: Tensor) -> list[list[float]]:
            identities: list[list[float]] = self._identities(segments).tolist()
            return identities

        most = _SEGMENTS_AT_ONCE if self.on_gpu else _ON_A_CORE
        batches = whole_segments(frames(), settings.samples, settings.hop, most)
        with torch.inference_mode():
            for identities in map(scores, batches) if self.on_gpu else each(scores, batches):
                for along, fresh in zip(identity, identities, strict=True):
                    along.extend(fresh)
        return partial(self._score_as, np.array(identity, np.float32))

    def score_many(self, clips: Sequence[Floats]) -> list[SectionScore]:
        """On a GPU the segments of all clips together: those of one clip would not fill it."""
        if not self.on_gpu:
            return super().score_many(clips)
        settings = self.config.part(WaveNetConfig)
        segments = [
            segments_of_clip(torch.from_numpy(np.array(frames)), settings.samples, settings.hop)
            for frames in clips
        ]
        with torch.inference_mode():
            batches = torch.split(torch.cat(segments), _SEGMENTS_AT_ONCE)
            identity = torch.cat([self._identities(batch) for batch in batches], dim=1).cpu()
        parts = torch.split(identity, [len(clip) for clip in segments], dim=1)
        return [partial(self._score_as, part.numpy()) for part in parts]

    @property
    def segment_frames(self) -> int:
        return self.config.part(WaveNetConfig).samples

    def description(self) -> dict[str, Any]:
        settings = self.config.part(WaveNetConfig)
        return {
            "parameters": count_parameters(self.network),
            "receptive_field": layer_table(settings.members[0])[-1].receptive_field,
        }

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        network = _build(config, len(sections))
        load_weights(network, arrays)
        return cls(config, sections, network)

    def _identities(self, segments: Tensor) -> Tensor:
        """Segments (segments, samples, 1) to log((1 − p)/p) as each section, (sections, segments).

        p is the probability of the section by the cosines without margin.
        """
        logits = self.network.logits(self.network(segments[:, :, 0].to(self.device)))
        is_section = torch.eye(len(self.sections), dtype=torch.bool, device=self.device)
        return torch.stack([log_odds(logits, row) for row in is_section])

    def _score_as(self, identities: Floats, section: str) -> ClipScore:
        """From the identity score as each section, (sections, segments), to a clip's score."""
        settings = self.config.part(WaveNetConfig)
        return aggregate(
            {"identity": identities[self.sections.index(section)]},
            {"identity": 1.0},
            hop_seconds=settings.hop * self.hop_seconds,
            segment_seconds=settings.samples * self.hop_seconds,
        )


class WaveNetEnsemble(EnsembleSystem):
    """The networks of `wavenet.members`."""

    name: ClassVar[str] = "wavenet-ensemble"
    origin: ClassVar[str] = "WaveNet-ensemble"
    explains: ClassVar[bool] = False
    member = WaveNetSystem

    @classmethod
    def member_configs(cls, config: Config) -> list[Config]:
        settings = config.part(WaveNetConfig)
        return [
            config.with_parts(settings.model_copy(update={"members": (member,)}))
            for member in settings.members
        ]


class _Objective(Objective):
    """Cross-entropy of the machine IDs with an additive margin."""

    network: WaveNet

    def __init__(
        self, network: WaveNet, clips: FeatureView, labels: list[int], config: Config
    ) -> None:
        settings, device = config.part(WaveNetConfig), choose_device(config.device)
        self.network = network
        self.samples, self.segments = training_segments(
            clips, settings.samples, settings.training.hop, device, torch.float32
        )
        self.labels = torch.tensor(labels, device=device)[self.segments.clip]  # (segments,)
        self.examples = len(self.segments)

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        segments = self.segments.gather(self.samples, batch["index"])[:, :, 0]  # (batch, samples)
        labels = self.labels[batch["index"]]
        embeddings = self.network(segments)
        loss = functional.cross_entropy(self.network.head(embeddings, labels), labels)
        guessed = self.network.logits(embeddings.detach()).argmax(1)
        return loss, {"accuracy": (guessed == labels).float().mean()}


def _build(config: Config, sections: int) -> WaveNet:
    settings = config.part(WaveNetConfig)
    return seeded(
        lambda: WaveNet(
            sections,
            settings.members[0],
            embedding=settings.embedding,
            margin=settings.margin,
            scale=settings.scale,
        ),
        config.seed,
    )


def _mean_square(network: WaveNet, clips: FeatureView) -> float:
    """Of the preprocessed samples of all clips."""
    total = count = 0.0
    for _, frames in clips.clips():
        samples = torch.from_numpy(np.array(frames[:, 0]))
        total += float(network.preprocessed(samples[None]).double().square().sum())
        count += len(samples)
    return total / count
