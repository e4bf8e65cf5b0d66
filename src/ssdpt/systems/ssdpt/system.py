"""SSDPT: the self-supervised dual-path Transformer.

Trained to tell the machine IDs of normal clips apart and to reconstruct masked segments; a clip is
scored by how unlikely its own ID looks (A_c) plus β times its reconstruction error (A_r).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from ssdpt.common.arrays import Arrays
from ssdpt.config.tree import Config
from ssdpt.errors import SsdptError, warn
from ssdpt.features.cache import FeatureView
from ssdpt.features.segments import gathered_segments, segment_runs, segments_of_clip
from ssdpt.nn.dpt import DptOutput, DualPathTransformer
from ssdpt.nn.losses import dcase_score, log_odds, squared_error
from ssdpt.nn.shards import SHARD, each, threads_for_shards
from ssdpt.scoring.aggregate import ClipScore, aggregate
from ssdpt.scoring.explain import covering_starts, overlap_mean, smooth
from ssdpt.scoring.section_score import SectionScore
from ssdpt.systems.base import FitContext
from ssdpt.systems.parts.graph import GraphOutput, SystemGraph
from ssdpt.systems.parts.network import (
    ClassifierSystem,
    count_parameters,
    load_weights,
    seeded,
    train_network,
)
from ssdpt.systems.ssdpt import SsdptConfig
from ssdpt.systems.ssdpt.objective import SsdptObjective, can_fuse, reconstruction_target
from ssdpt.training.loop import choose_device
from ssdpt.types import Floats, Recording

if TYPE_CHECKING:
    from ssdpt.nn.gpu.scorer import FusedScorer

_SEGMENTS_AT_ONCE = 4096  # a GPU wants to be filled; a CPU takes as many as fit into its cache
_MAPS_AT_ONCE = 64
_MAP_HOP = 8  # frames between the segments whose maps are averaged

ClassName = tuple[str, str]  # section, and attributes where they are part of the class


class Ssdpt(ClassifierSystem[DualPathTransformer]):
    """One network for one machine; its classes are the sections (or sections × attributes)."""

    name: ClassVar[str] = "ssdpt"
    origin: ClassVar[str] = "SSDPT"
    exports: ClassVar[bool] = True
    averages_segments: ClassVar[bool] = True
    objective: ClassVar[type[SsdptObjective]] = SsdptObjective  # the loss that it is trained with

    def __init__(
        self, config: Config, classes: tuple[ClassName, ...], network: DualPathTransformer
    ) -> None:
        super().__init__(config, tuple(sorted({section for section, _ in classes})), network)
        self.classes = classes
        self._fused: FusedScorer | None = None  # a copy of the network for scoring on a GPU

    def to(self, device: torch.device) -> None:
        super().to(device)
        self._fused = None

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        return count_parameters(build_network(config, sections))

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        settings = config.part(SsdptConfig)
        names = [class_name(recording, settings) for recording in clips.recordings]
        classes = tuple(sorted(set(names)))
        network = build_network(config, len(classes))
        objective = cls.objective(network, clips, [classes.index(name) for name in names], config)
        system = cls(config, classes, network)
        on_cpu = choose_device(config.device).type == "cpu"
        with threads_for_shards() if on_cpu else nullcontext():
            train_network(system, objective, settings.training, clips, context)
        return system

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        return self.score_sections(lambda: frames)(section)

    def score_sections(self, frames: Callable[[], Iterable[Floats]]) -> SectionScore:
        """One pass of the network gives the scores as all sections."""
        settings = self.config.part(SsdptConfig)
        # Plain numbers, not tensors: small tensors kept between the large ones of every batch
        # would leave holes in memory, which then grows with the length of the recording.
        identity = [array("f") for _ in self.sections]
        reconstruction = array("f")

        def scores(run: Tensor) -> tuple[list[list[float]], list[float]]:
            parts = self._segment_scores(run.to(self.device))
            return parts[0].tolist(), parts[1].tolist()

        on_cpu = self.device.type == "cpu"
        most = SHARD if on_cpu else _SEGMENTS_AT_ONCE
        runs = segment_runs(frames(), settings.frames, settings.hop, most)
        with torch.inference_mode():
            for identities, errors in each(scores, runs) if on_cpu else map(scores, runs):
                for along, fresh in zip(identity, identities, strict=True):
                    along.extend(fresh)
                reconstruction.extend(errors)

        return partial(
            self._score_as, np.array(identity, np.float32), np.array(reconstruction, np.float32)
        )

    def score_many(self, clips: Sequence[Floats]) -> list[SectionScore]:
        """On a GPU all segments of all clips at once: one clip alone would not fill it."""
        settings = self.config.part(SsdptConfig)
        if not self.on_gpu or any(len(frames) < settings.frames for frames in clips):
            return super().score_many(clips)
        first = np.cumsum([0, *(len(frames) for frames in clips)])
        starts = [
            torch.arange(place, place + len(frames) - settings.frames + 1, settings.hop)
            for place, frames in zip(first.tolist(), clips, strict=False)
        ]
        counts = [len(start) for start in starts]
        together = torch.from_numpy(np.concatenate(clips))
        with torch.inference_mode(), suppress(torch.OutOfMemoryError):
            frames, places = together.to(self.device), torch.cat(starts).to(self.device)
            identity, reconstruction = (part.cpu() for part in self._scores_at(frames, places))
            parts = torch.split(identity, counts, dim=1), torch.split(reconstruction, counts)
            return [
                partial(self._score_as, identities.numpy(), errors.numpy())
                for identities, errors in zip(*parts, strict=True)
            ]
        return super().score_many(clips)

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """Gradient of the score times the distance from the mean normal sound, at every point.

        To first order this is how much the score would fall if that point sounded normal.
        """
        features = torch.from_numpy(np.array(frames)).to(self.device)
        length = self.config.part(SsdptConfig).frames
        starts = covering_starts(len(features), length, _MAP_HOP)
        position = (starts[:, None] + torch.arange(length)) % len(features)
        is_class = self._classes_of(section)
        usual = self.network.input_norm.running_mean  # (bins,) mean log-mel of the training clips
        assert usual is not None  # BatchNorm keeps it by default
        maps = []
        for places in torch.split(position, _MAPS_AT_ONCE):
            segments = features[places].requires_grad_()  # (segments, P, bins)
            output = self.network(segments)
            score = self._identity_score(output.logits, is_class) + (
                self.config.part(SsdptConfig).beta * self._reconstruction_score(segments, output)
            )
            (gradient,) = torch.autograd.grad(score.sum(), segments)
            maps.append(gradient * (segments.detach() - usual))
        return smooth(overlap_mean(torch.cat(maps).cpu(), starts, len(features)))

    @property
    def segment_frames(self) -> int:
        return self.config.part(SsdptConfig).frames

    def graph(self) -> SystemGraph:
        return _Graph(self)

    def description(self) -> dict[str, Any]:
        total, paper_count = self.network.parameter_counts()
        return {
            "classes": [list(name) for name in self.classes],
            "parameters": total,
            "parameters_paper_count": paper_count,
        }

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        classes = tuple((str(section), str(tail)) for section, tail in description["classes"])
        network = build_network(config, len(classes))
        load_weights(network, arrays)
        return cls(config, classes, network)

    def _segment_scores(self, run: Tensor) -> tuple[Tensor, Tensor]:
        """A_c as each section, (sections, segments), and A_r, (segments,), of a run of frames.

        Where the GPU's memory is too small for all of them at once, it goes half by half.
        """
        with suppress(torch.OutOfMemoryError):
            return self._at_once(run)
        # Not while the error is being handled: it holds on to what was in memory when it came.
        length, hop = self.config.part(SsdptConfig).frames, self.config.part(SsdptConfig).hop
        half = ((len(run) - length) // hop + 1) // 2
        if half < 1:
            raise SsdptError(
                f"too little memory on {self.device} to score even one segment; free some of it "
                "or use --device cpu"
            )
        warn(f"too little memory on {self.device}: scoring fewer segments at once")
        parts = run[: length + (half - 1) * hop], run[half * hop :]
        (first, more), (second, others) = (self._segment_scores(part) for part in parts)
        return torch.cat([first, second], dim=1), torch.cat([more, others])

    def _at_once(self, run: Tensor) -> tuple[Tensor, Tensor]:
        settings = self.config.part(SsdptConfig)
        if self.on_gpu and len(run) >= settings.frames:
            last = len(run) - settings.frames
            return self._scores_at(run, torch.arange(0, last + 1, settings.hop, device=run.device))
        output = self.network.over_frames(run, settings.hop)
        segments = segments_of_clip(run, settings.frames, settings.hop)
        return self._identities(output.logits), self._reconstruction_score(segments, output)

    def _scores_at(self, frames: Tensor, starts: Tensor) -> tuple[Tensor, Tensor]:
        """On a GPU: the same for the segments of `frames` that begin at `starts` (segments,)."""
        settings = self.config.part(SsdptConfig)
        fused = self._fused_scorer()
        if fused is None:
            within = torch.arange(settings.frames, device=frames.device)
            segments = frames[starts[:, None] + within]
            output: DptOutput = self.network(segments)
            return self._identities(output.logits), self._reconstruction_score(segments, output)
        logits, errors = fused(frames, starts, standardised=settings.target == "standardised")
        return self._identities(logits), self._scaled(errors)

    def _identities(self, logits: Tensor) -> Tensor:
        """A_c as each section, (sections, segments)."""
        sections = map(self._classes_of, self.sections)
        return torch.stack([self._identity_score(logits, is_class) for is_class in sections])

    def _fused_scorer(self) -> FusedScorer | None:
        """The network on fused kernels, where the GPU runs them."""
        if self._fused is None and can_fuse(self.network, self.device):
            from ssdpt.nn.gpu.scorer import FusedScorer

            self._fused = FusedScorer(self.network)
        return self._fused

    def _scaled(self, errors: Tensor) -> Tensor:
        """A_r from the sum of squares of every segment."""
        settings = self.config.part(SsdptConfig)
        size = settings.frames * self.config.features.n_mels
        return errors / size if settings.error == "mean" else errors

    def _score_as(self, identities: Floats, reconstruction: Floats, section: str) -> ClipScore:
        """From A_c as each section (sections, segments) and A_r (segments,) to a clip's score."""
        settings = self.config.part(SsdptConfig)
        identity = identities[self.sections.index(section)]
        return aggregate(
            {"identity": identity, "reconstruction": reconstruction},
            {"identity": 1.0, "reconstruction": settings.beta},
            hop_seconds=settings.hop * self.hop_seconds,
            segment_seconds=settings.frames * self.hop_seconds,
        )

    def _classes_of(self, section: str) -> Tensor:
        """(classes,) True for the classes of this section."""
        is_class = [name == section for name, _ in self.classes]
        return torch.tensor(is_class, device=self.device)

    def _identity_score(self, logits: Tensor, is_class: Tensor) -> Tensor:
        """A_c of every segment, (segments,)."""
        form = log_odds if self.config.part(SsdptConfig).score == "log-odds" else dcase_score
        return form(logits, is_class)

    def _reconstruction_score(self, segments: Tensor, output: DptOutput) -> Tensor:
        """A_r of every segment, (segments,)."""
        target = reconstruction_target(self.config.part(SsdptConfig), segments, output)
        return squared_error(target, output.reconstruction, self.config.part(SsdptConfig).error)


class _Graph(SystemGraph):
    """Both parts of every segment, A_c as each of the sections."""

    def __init__(self, system: Ssdpt) -> None:
        settings = system.config.part(SsdptConfig)
        weights = {"identity": 1.0, "reconstruction": settings.beta}
        super().__init__(weights, settings.hop, _MAPS_AT_ONCE)
        self.network = system.network
        self.system = system
        self.section_classes = [system._classes_of(section) for section in system.sections]

    def forward(self, frames: Tensor) -> GraphOutput:
        segments = gathered_segments(frames, self.system.segment_frames, self.segment_hop)
        output = self.network(segments)
        identity = [
            self.system._identity_score(output.logits, is_class)
            for is_class in self.section_classes
        ]
        reconstruction = self.system._reconstruction_score(segments, output)
        parts = (
            torch.stack(identity, dim=1),  # (segments, sections)
            reconstruction[:, None].repeat(1, len(identity)),
        )
        return GraphOutput(parts, output.reconstruction.amax(dim=1))


def class_name(recording: Recording, settings: SsdptConfig) -> ClassName:
    """The class a recording belongs to."""
    with_attributes = settings.classes == "section+attributes"
    return recording.section, recording.attribute_text if with_attributes else ""


def build_network(config: Config, classes: int) -> DualPathTransformer:
    settings = config.part(SsdptConfig)
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
