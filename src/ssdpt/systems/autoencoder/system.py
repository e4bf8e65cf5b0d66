"""The DCASE baseline autoencoder: a clip is as anomalous as it is badly reconstructed."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from ssdpt.common.arrays import Arrays
from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureView
from ssdpt.features.segments import gathered_segments, whole_segments
from ssdpt.nn.autoencoder import Autoencoder
from ssdpt.scoring.aggregate import ClipScore, aggregate
from ssdpt.scoring.explain import covering_starts, overlap_mean, smooth
from ssdpt.systems.autoencoder import AutoencoderConfig
from ssdpt.systems.base import FitContext
from ssdpt.systems.parts.graph import GraphOutput, SystemGraph
from ssdpt.systems.parts.network import (
    NetworkSystem,
    count_parameters,
    load_weights,
    seeded,
    train_network,
    training_segments,
)
from ssdpt.training.loop import choose_device
from ssdpt.training.objective import Batch, Objective
from ssdpt.types import Floats

_VECTORS_AT_ONCE = 4096


class AutoencoderSystem(NetworkSystem[Autoencoder]):
    """One autoencoder for all sections of a machine, as the baseline trains it."""

    name: ClassVar[str] = "ae"
    origin: ClassVar[str] = "Baseline-AE"
    exports: ClassVar[bool] = True

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        return count_parameters(_build(config))

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        network = _build(config)
        sections = tuple(sorted({recording.section for recording in clips.recordings}))
        system = cls(config, sections, network)
        objective = _Objective(network, clips, config)
        train_network(system, objective, config.part(AutoencoderConfig).training, clips, context)
        return system

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        length = self.segment_frames
        errors = array("f")  # numbers, not tensors, as in ssdpt.systems.ssdpt
        with torch.inference_mode():
            for vectors in whole_segments(frames, length, 1, _VECTORS_AT_ONCE):
                errors.extend(self._squares(vectors).mean((1, 2)).tolist())
        return aggregate(
            {"reconstruction": np.array(errors, np.float32)},
            {"reconstruction": 1.0},
            hop_seconds=self.hop_seconds,
            segment_seconds=length * self.hop_seconds,
        )

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """The squared reconstruction error at every point."""
        features = torch.from_numpy(np.array(frames))
        length = self.segment_frames
        starts = covering_starts(len(features), length, 1)
        position = (starts[:, None] + torch.arange(length)) % len(features)
        with torch.inference_mode():
            squares = self._squares(features[position])
        return smooth(overlap_mean(squares.cpu(), starts, len(features)))

    @property
    def segment_frames(self) -> int:
        return self.config.part(AutoencoderConfig).frames

    def graph(self) -> SystemGraph:
        return _Graph(self)

    def description(self) -> dict[str, Any]:
        return {"parameters": count_parameters(self.network)}

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        network = _build(config)
        load_weights(network, arrays)
        return cls(config, sections, network)

    def _squares(self, vectors: Tensor) -> Tensor:
        """Squared error of (vectors, frames, bins), same shape."""
        flat = vectors.flatten(1).to(self.device)
        return (flat - self.network(flat)).square().view(vectors.shape)


class _Graph(SystemGraph):
    """The reconstruction error of every vector; it is the same for all sections."""

    def __init__(self, system: AutoencoderSystem) -> None:
        super().__init__({"reconstruction": 1.0}, 1, _VECTORS_AT_ONCE)
        self.network = system.network
        self.frames, self.sections = system.segment_frames, len(system.sections)

    def forward(self, frames: Tensor) -> GraphOutput:
        vectors = gathered_segments(frames, self.frames, self.segment_hop).flatten(1)
        code = self.network.encode(vectors)
        error = (vectors - self.network.decode(code)).square().mean(1, keepdim=True)
        return GraphOutput((error.repeat(1, self.sections),), code)


def _build(config: Config) -> Autoencoder:
    settings = config.part(AutoencoderConfig)
    inputs = settings.frames * config.features.n_mels
    return seeded(lambda: Autoencoder(inputs, settings.hidden, settings.bottleneck), config.seed)


class _Objective(Objective):
    """L_AE = ‖X − X̂‖², as a mean."""

    def __init__(self, network: Autoencoder, clips: FeatureView, config: Config) -> None:
        settings = config.part(AutoencoderConfig)
        self.network = network
        self.features, self.segments = training_segments(
            clips, settings.frames, settings.training.hop, choose_device(config.device)
        )
        self.examples = len(self.segments)

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        segments = self.segments.gather(self.features, batch["index"]).float()
        vectors = segments.flatten(1)  # (batch, frames × bins)
        return (vectors - self.network(vectors)).square().mean(), {}
