"""The DCASE 2021 baseline classifier: a clip is as anomalous as its own machine ID is unlikely.

MobileNetV2 is trained to tell the machine IDs of normal segments apart. `SegmentSystem` is what
every system shares that passes segments through a MobileNet.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, Protocol, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ssdpt.common.arrays import Arrays
from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureView
from ssdpt.features.segments import Segments, gathered_segments, whole_segments
from ssdpt.nn.losses import dcase_score, log_odds
from ssdpt.nn.mobilenet import MobileNetV2, for_scoring
from ssdpt.scoring.aggregate import ClipScore, aggregate
from ssdpt.scoring.saliency import saliency
from ssdpt.scoring.section_score import SectionScore
from ssdpt.systems.base import FitContext
from ssdpt.systems.mobilenet import MobileNetConfig, MobileNetLofConfig
from ssdpt.systems.parts.graph import GraphOutput, SystemGraph
from ssdpt.systems.parts.network import (
    ClassifierSystem,
    Network,
    count_parameters,
    load_weights,
    seeded,
    train_network,
    training_segments,
)
from ssdpt.training.loop import choose_device
from ssdpt.training.objective import Batch, Objective
from ssdpt.types import Floats

_GPU_VALUES = 1 << 23  # of the segments that a GPU takes at once: about 2 GB of activations
_CPU_VALUES = 1 << 18  # larger batches leave a core's cache


class ClipScorer(Protocol):
    """Scores one clip from the outputs of the network, which come some segments at a time."""

    def add(self, outputs: Tensor) -> None:
        """Take the outputs for the next segments, (segments, outputs)."""

    def score_as(self, section: str) -> ClipScore:
        """The clip's score, after its last segment."""


class SegmentSystem(ClassifierSystem[Network], Generic[Network]):
    """A classifier of sections that is given one segment at a time."""

    def __init__(self, config: Config, sections: tuple[str, ...], network: Network) -> None:
        super().__init__(config, sections, network)
        self._scorer: Network | None = None  # a faster copy of the network

    @classmethod
    @abstractmethod
    def settings_of(cls, config: Config) -> MobileNetConfig | MobileNetLofConfig:
        """This system's part of the settings."""

    @classmethod
    @abstractmethod
    def build(cls, config: Config, sections: int) -> Network:
        """The untrained network."""

    @classmethod
    @abstractmethod
    def objective(cls, network: Network, clips: FeatureView, config: Config) -> Objective:
        """What it learns."""

    @abstractmethod
    def clip_scorer(self) -> ClipScorer:
        """For a new clip."""

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        return count_parameters(cls.build(config, sections))

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        sections = section_names(clips)
        system = cls(config, sections, cls.build(config, len(sections)))
        objective = cls.objective(system.network, clips, config)
        train_network(system, objective, cls.settings_of(config).training, clips, context)
        return system

    def to(self, device: torch.device) -> None:
        super().to(device)
        self._scorer = None

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        return self.score_sections(lambda: frames)(section)

    def score_sections(self, frames: Callable[[], Iterable[Floats]]) -> SectionScore:
        """One pass of the network gives the scores as all sections."""
        scorer, settings = self.clip_scorer(), self.settings_of(self.config)
        with torch.inference_mode():
            for segments in whole_segments(frames(), settings.frames, settings.hop, self._at_once):
                scorer.add(self._outputs(segments))
        return scorer.score_as

    def score_many(self, clips: Sequence[Floats]) -> list[SectionScore]:
        """On a GPU the segments of all clips together: one clip alone would not fill it."""
        if not self.on_gpu:
            return super().score_many(clips)
        scores: list[SectionScore] = []
        for outputs in self.outputs_of(clips):
            scorer = self.clip_scorer()
            scorer.add(outputs)
            scores.append(scorer.score_as)
        return scores

    def outputs_of(self, clips: Sequence[Floats]) -> tuple[Tensor, ...]:
        """The outputs for the segments of each clip (frames, bins), on the CPU."""
        settings = self.settings_of(self.config)
        lengths = np.array([len(frames) for frames in clips])
        first = np.cumsum(lengths) - lengths
        segments = Segments.of_clips(first, lengths, settings.frames, settings.hop).to(self.device)
        together = torch.from_numpy(np.concatenate(clips)).to(self.device)
        with torch.inference_mode():
            everything = torch.arange(len(segments), device=self.device)
            outputs = [
                self._outputs(segments.gather(together, index))
                for index in torch.split(everything, self._at_once)
            ]
        counts = torch.bincount(segments.clip, minlength=len(clips)).tolist()
        return torch.split(torch.cat(outputs), counts)

    @property
    def segment_frames(self) -> int:
        return self.settings_of(self.config).frames

    def description(self) -> dict[str, Any]:
        return {"parameters": count_parameters(self.network), "bins": self.front_end.bins}

    def timing(self) -> dict[str, float]:
        """Seconds from one segment to the next, and of a segment."""
        hop = self.settings_of(self.config).hop
        return {
            "hop_seconds": hop * self.hop_seconds,
            "segment_seconds": self.segment_frames * self.hop_seconds,
        }

    @property
    def _at_once(self) -> int:
        """Segments that pass the network together."""
        values = _GPU_VALUES if self.on_gpu else _CPU_VALUES
        return max(1, values // (self.segment_frames * self.front_end.bins))

    def _outputs(self, segments: Tensor) -> Tensor:
        """(segments, frames, bins) to (segments, outputs), on the CPU."""
        if self._scorer is None:
            self._scorer = for_scoring(self.network)
        return self._scorer(segments.to(self.device)).cpu()


class MobileNetSystem(SegmentSystem[MobileNetV2]):
    """One classifier for all sections of a machine, as the baseline trains it."""

    name: ClassVar[str] = "mnv2"
    origin: ClassVar[str] = "Baseline-MNv2"
    exports: ClassVar[bool] = True

    @classmethod
    def settings_of(cls, config: Config) -> MobileNetConfig:
        return config.part(MobileNetConfig)

    @classmethod
    def build(cls, config: Config, sections: int) -> MobileNetV2:
        return seeded(
            lambda: MobileNetV2(sections, width=config.part(MobileNetConfig).width), config.seed
        )

    @classmethod
    def objective(cls, network: MobileNetV2, clips: FeatureView, config: Config) -> Objective:
        return _Objective(
            network, clips, config.part(MobileNetConfig), choose_device(config.device)
        )

    def clip_scorer(self) -> ClipScorer:
        return _ClipScorer(self)

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """Where the clip's own sound, unlike its usual one, moves the score."""
        place, form = self.sections.index(section), self.config.part(MobileNetConfig).score
        return saliency(
            frames,
            lambda segments: self.forms(self.network(segments))[form][:, place],
            self.segment_frames,
            self.device,
            self._at_once,
        )

    def graph(self) -> SystemGraph:
        return _Graph(self)

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        network = cls.build(config, len(sections))
        load_weights(network, arrays)
        system = cls(config, sections, network)
        if description["bins"] != system.front_end.bins:  # the weights fit any number of them
            raise ValueError("the weights are of another front end")
        return system

    @property
    def weights(self) -> dict[str, float]:
        """Of the forms of the score: the chosen one counts, the others are stored too."""
        return {name: float(name == self.config.part(MobileNetConfig).score) for name in _FORMS}

    def forms(self, logits: Tensor) -> dict[str, Tensor]:
        """(segments, sections) logits to each form of the score as each section, same shape."""
        is_section = torch.eye(len(self.sections), dtype=torch.bool, device=logits.device)
        return {
            name: torch.stack([form(logits, row) for row in is_section], dim=1)
            for name, form in _FORMS.items()
        }


class _ClipScorer:
    """Every form of the score of every segment, as each section."""

    def __init__(self, system: MobileNetSystem) -> None:
        self.system = system
        # Numbers, not tensors, as in ssdpt.systems.ssdpt.
        self.scores = {name: [array("f") for _ in system.sections] for name in _FORMS}

    def add(self, outputs: Tensor) -> None:
        for name, scores in self.system.forms(outputs).items():
            for along, fresh in zip(self.scores[name], scores.T.tolist(), strict=True):
                along.extend(fresh)

    def score_as(self, section: str) -> ClipScore:
        place = self.system.sections.index(section)
        parts = {name: np.array(along[place], np.float32) for name, along in self.scores.items()}
        return aggregate(parts, self.system.weights, **self.system.timing())


class _Graph(SystemGraph):
    """The score of every segment as each section; the embedding is what the classifier sees."""

    def __init__(self, system: MobileNetSystem) -> None:
        super().__init__(system.weights, system.config.part(MobileNetConfig).hop, system._at_once)
        self.network = system.network
        self.system = system

    def forward(self, frames: Tensor) -> GraphOutput:
        segments = gathered_segments(frames, self.system.segment_frames, self.segment_hop)
        embedding = self.network.trunk(segments)
        forms = self.system.forms(self.network.classifier(embedding))
        return GraphOutput(tuple(forms.values()), embedding)


class SectionObjective(Objective):
    """Segments of normal clips by number, each with the section of its clip."""

    def __init__(
        self,
        network: torch.nn.Module,
        clips: FeatureView,
        settings: MobileNetConfig | MobileNetLofConfig,
        device: torch.device,
    ) -> None:
        self.network = network
        self.features, self.segments = training_segments(
            clips, settings.frames, settings.training.hop, device
        )
        sections = section_names(clips)
        labels = [sections.index(recording.section) for recording in clips.recordings]
        self.labels = torch.tensor(labels, device=device)[self.segments.clip]  # (segments,)
        self.examples = len(self.segments)

    @abstractmethod
    def logits(self, segments: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """For the loss, and for the accuracy: (batch, sections) each."""

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        index = batch["index"]
        segments = self.segments.gather(self.features, index).float()  # (batch, frames, bins)
        labels = self.labels[index]
        logits, guesses = self.logits(segments, labels)
        accuracy = (guesses.argmax(1) == labels).float().mean()
        return functional.cross_entropy(logits, labels), {"accuracy": accuracy}


class _Objective(SectionObjective):
    """Plain cross-entropy."""

    def logits(self, segments: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        logits = self.network(segments)
        return logits, logits


def section_names(clips: FeatureView) -> tuple[str, ...]:
    """The sections of these clips, in order: the classes."""
    return tuple(sorted({recording.section for recording in clips.recordings}))


def _negative_log(logits: Tensor, classes: Tensor) -> Tensor:
    """−log p of every segment, (batch,), from the odds: their digits survive where p is near 1."""
    return functional.softplus(log_odds(logits, classes))


_FORMS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "negative-log": _negative_log,
    "log-odds": log_odds,
    "dcase": dcase_score,
}
