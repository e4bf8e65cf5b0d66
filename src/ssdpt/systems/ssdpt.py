"""SSDPT: the self-supervised dual-path Transformer.

Trained to tell the machine IDs of normal clips apart and to reconstruct masked segments; a clip is
scored by how unlikely its own ID looks (A_c) plus β times its reconstruction error (A_r).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from ssdpt.config import Config, SsdptConfig
from ssdpt.features.cache import FeatureView
from ssdpt.features.segments import whole_segments
from ssdpt.nn.dpt import DptOutput, DualPathTransformer
from ssdpt.nn.losses import dcase_score, log_odds, mixed_cross_entropy, squared_error
from ssdpt.nn.masking import draw_mask, draw_mixup, mix
from ssdpt.scoring.aggregate import ClipScore, aggregate
from ssdpt.scoring.explain import covering_starts, overlap_mean, smooth
from ssdpt.systems.base import Arrays, FitContext
from ssdpt.systems.network import (
    NetworkSystem,
    load_weights,
    seeded,
    train_network,
    training_segments,
)
from ssdpt.training.loop import choose_device
from ssdpt.types import Floats, Recording

# On a CPU the activations of a batch stay within its cache; a GPU wants to be filled.
_SEGMENTS_AT_ONCE = {"cpu": 64, "cuda": 1024}
_MAP_HOP = 8  # frames between the segments whose maps are averaged

ClassName = tuple[str, str]  # section, and attributes where they are part of the class


class Ssdpt(NetworkSystem[DualPathTransformer]):
    """One network for one machine; its classes are the sections (or sections × attributes)."""

    name: ClassVar[str] = "ssdpt"

    def __init__(
        self, config: Config, classes: tuple[ClassName, ...], network: DualPathTransformer
    ) -> None:
        super().__init__(config, tuple(sorted({section for section, _ in classes})), network)
        self.classes = classes

    @classmethod
    def refusal(cls, recordings: Sequence[Recording], config: Config) -> str | None:
        # Sections, not classes: a clip is scored by its section against all others.
        if len({recording.section for recording in recordings}) >= 2:
            return None
        return "classification needs at least two machine IDs (sections) and there is one only"

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        settings = config.ssdpt
        names = [class_name(recording, settings) for recording in clips.recordings]
        classes = tuple(sorted(set(names)))
        network = _build(config, len(classes))
        objective = _Objective(network, clips, [classes.index(name) for name in names], config)
        train_network(objective, settings.training, config, context)
        return cls(config, classes, network)

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        settings = self.config.ssdpt
        # Plain numbers, not tensors: small tensors kept between the large ones of every batch
        # would leave holes in memory, which then grows with the length of the recording.
        identity = array("f")
        reconstruction = array("f")
        own = self._own_classes(section)
        device = self.device
        most = _SEGMENTS_AT_ONCE[device.type]
        with torch.inference_mode():
            for batch in whole_segments(frames, settings.frames, settings.hop, most):
                segments = batch.to(device)
                output = self.network(segments)
                identity.extend(self._identity_score(output, own).tolist())
                reconstruction.extend(self._reconstruction_score(segments, output).tolist())
        return aggregate(
            {
                "identity": np.array(identity, np.float32),
                "reconstruction": np.array(reconstruction, np.float32),
            },
            {"identity": 1.0, "reconstruction": settings.beta},
            hop_seconds=settings.hop * self.hop_seconds,
            segment_seconds=settings.frames * self.hop_seconds,
        )

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """Gradient of the score times the distance from the mean normal sound, at every point.

        To first order this is how much the score would fall if that point sounded normal.
        """
        features = torch.from_numpy(np.array(frames)).to(self.device)
        length = self.config.ssdpt.frames
        starts = covering_starts(len(features), length, _MAP_HOP)
        position = (starts[:, None] + torch.arange(length)) % len(features)
        own = self._own_classes(section)
        usual = self.network.input_norm.running_mean  # (bins,) mean log-mel of the training clips
        assert usual is not None  # BatchNorm keeps it unless told not to
        maps = []
        for places in torch.split(position, _SEGMENTS_AT_ONCE["cpu"]):
            segments = features[places].requires_grad_()  # (segments, P, bins)
            output = self.network(segments)
            score = self._identity_score(output, own) + (
                self.config.ssdpt.beta * self._reconstruction_score(segments, output)
            )
            (gradient,) = torch.autograd.grad(score.sum(), segments)
            maps.append(gradient * (segments.detach() - usual))
        return smooth(overlap_mean(torch.cat(maps).cpu(), starts, len(features)))

    @property
    def segment_frames(self) -> int:
        return self.config.ssdpt.frames

    def description(self) -> dict[str, Any]:
        every, paper_count = self.network.parameter_counts()
        return {
            "classes": [list(name) for name in self.classes],
            "parameters": every,
            "parameters_paper_count": paper_count,
        }

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        classes = tuple((str(section), str(tail)) for section, tail in description["classes"])
        network = _build(config, len(classes))
        load_weights(network, arrays)
        return cls(config, classes, network)

    def _own_classes(self, section: str) -> Tensor:
        """(classes,) True for the classes of this section."""
        own = [name == section for name, _ in self.classes]
        return torch.tensor(own, device=self.device)

    def _identity_score(self, output: DptOutput, own: Tensor) -> Tensor:
        """A_c of every segment, (segments,)."""
        form = log_odds if self.config.ssdpt.score == "log-odds" else dcase_score
        return form(output.logits, own)

    def _reconstruction_score(self, segments: Tensor, output: DptOutput) -> Tensor:
        """A_r of every segment, (segments,)."""
        target = reconstruction_target(self.config.ssdpt, segments, output)
        return squared_error(target, output.reconstruction, self.config.ssdpt.error)


def class_name(recording: Recording, settings: SsdptConfig) -> ClassName:
    """The class a recording belongs to."""
    with_attributes = settings.classes == "section+attributes"
    return recording.section, recording.attribute_text if with_attributes else ""


def reconstruction_target(settings: SsdptConfig, segments: Tensor, output: DptOutput) -> Tensor:
    """What the reconstruction is compared with: the mixed, unmasked feature, (batch, P, F)."""
    return segments if settings.target == "raw" else output.normalised.detach()


def _build(config: Config, classes: int) -> DualPathTransformer:
    settings = config.ssdpt
    return seeded(
        lambda: DualPathTransformer(
            classes,
            blocks=settings.blocks,
            frames=settings.frames,
            bins=config.features.n_mels,
            heads=settings.heads,
            feed_forward=settings.feed_forward,
        ),
        config.seed,
    )


class _Objective:
    """L = L_c + α·L_r over mixed and masked segments."""

    def __init__(
        self, network: DualPathTransformer, clips: FeatureView, labels: list[int], config: Config
    ) -> None:
        self.settings = config.ssdpt
        device = choose_device(config.device)
        self.network = network
        self.features, self.segments = training_segments(
            clips, self.settings.frames, self.settings.training.hop, device
        )
        self.labels = torch.tensor(labels, device=device)[self.segments.clip]  # (segments,)
        self.examples = len(self.segments)

    def loss(self, index: Tensor, generator: torch.Generator) -> tuple[Tensor, dict[str, Tensor]]:
        settings = self.settings
        segments = self.segments.gather(self.features, index)  # (batch, P, F)
        mixup = draw_mixup(settings.mixup, len(segments), generator)
        mixed = mix(segments, mixup)
        mask = draw_mask(settings.mask, mixed.shape, generator)
        output: DptOutput = self.network(mixed, mask)
        labels = self.labels[index]
        classification = mixed_cross_entropy(output.logits, labels, mixup)
        target = reconstruction_target(settings, mixed, output)
        reconstruction = squared_error(target, output.reconstruction, settings.error).mean()
        accuracy = (output.logits.argmax(1) == labels).float().mean()
        return classification + settings.alpha * reconstruction, {
            "classification": classification,
            "reconstruction": reconstruction,
            "accuracy": accuracy,
        }
