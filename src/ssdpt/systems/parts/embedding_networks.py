"""Dual-path Transformers that have learned to tell machines apart, to describe clips with.

Some take log-mels as they are (steady), some minus the mean over time of the clip (moving), which
leaves what changes. Their classes are the machine, its section and its attributes, of all machines
being fitted: what one machine sounds like is learned against all others. A clip is
described by the output of the last block: maximum, mean and standard deviation over the frames of a
segment, averaged over its segments.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from ssdpt.common.arrays import Arrays, arrays_under
from ssdpt.common.files import writing
from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureSet, FeatureView
from ssdpt.features.segments import gathered_segments, segments_of_clip
from ssdpt.nn.dpt import DualPathTransformer
from ssdpt.nn.shards import threads_for_shards
from ssdpt.systems.base import FitContext
from ssdpt.systems.multiview import EmbeddingNetworkConfig, MultiViewConfig
from ssdpt.systems.parts.network import load_weights
from ssdpt.systems.ssdpt.objective import SsdptObjective
from ssdpt.systems.ssdpt.system import build_network
from ssdpt.training.log import LOG_FILE
from ssdpt.training.loop import Run, choose_device, train
from ssdpt.types import Floats, Recording

_AT_ONCE = 256  # segments
_FEWEST_CLIPS = 2  # of a class, on average

ClassName = tuple[str, str, str]  # machine, section, attributes


@dataclass(frozen=True, slots=True)
class EmbeddingNetwork:
    """One network and what it is given."""

    name: str  # "steady-1"
    input: str  # "steady" or "moving"
    network: DualPathTransformer

    @torch.inference_mode()
    def embed(self, mels: Floats, hop: int) -> np.ndarray:
        """A clip's log-mel (frames, bins) in dB to the vector that describes it, (3 × bins,)."""
        device = self.network.classifier.weight.device
        frames = torch.from_numpy(np.array(as_input(mels, self.input)))
        segments = segments_of_clip(frames, self.network.frames, hop)
        parts = [
            self._pooled(part.to(device)).sum(0, dtype=torch.float64)
            for part in torch.split(segments, _AT_ONCE)
        ]
        total: Tensor = torch.stack(parts).sum(0) / len(segments)
        return total.cpu().numpy()

    def _pooled(self, segments: Tensor) -> Tensor:
        return _pooled(self.network, segments)


class EmbeddingGraph(nn.Module):
    """`EmbeddingNetwork.embed` of clips of one length, whatever it is, for export."""

    def __init__(self, embedding: EmbeddingNetwork, hop: int, bins: int) -> None:
        super().__init__()
        self.network, self.input = embedding.network, embedding.input
        self.hop, self.bins = hop, bins

    def forward(self, clips: Tensor) -> Tensor:
        """(clips, frames, values), of which the first are log-mels, to (clips, 3 × bins)."""
        mels = clips[:, :, : self.bins]
        if self.input == "moving":
            mels = mels - mels.mean(1, keepdim=True)
        segments = gathered_segments(mels.transpose(0, 1), self.network.frames, self.hop)
        segments = segments.permute(2, 0, 1, 3)  # (clips, segments, P, bins)
        pooled = _pooled(self.network, segments.flatten(0, 1)).double()
        return pooled.reshape(clips.shape[0], -1, 3 * self.bins).mean(1)


def _pooled(network: DualPathTransformer, segments: Tensor) -> Tensor:
    """(segments, P, bins) to (segments, 3 × bins)."""
    last = network(segments).reconstruction
    return torch.cat([last.amax(1), last.mean(1), last.std(1)], dim=1)


class EmbeddingNetworks:
    """All networks, trained on the same clips."""

    def __init__(
        self, config: Config, networks: Sequence[EmbeddingNetwork], classes: int, log: str = ""
    ) -> None:
        self.config = config
        self.networks = tuple(networks)
        self.classes = classes  # that they were trained to tell apart
        self.log = log  # of their training, as JSON lines; empty where they were trained before

    @classmethod
    def train(cls, machines: Sequence[FeatureView], config: Config, context: FitContext) -> Self:
        """Learn from the normal clips of several machines, log-mels first in every frame."""
        recordings = [recording for clips in machines for recording in clips.recordings]
        settings = config.part(MultiViewConfig)
        names = [class_name(recording, settings.network) for recording in recordings]
        if len(names) < _FEWEST_CLIPS * len(set(names)):
            # Attributes such as the time of day tell clips apart, not ways to run.
            context.reporter.warn("attributes differ from clip to clip: trained without them")
            names = [(machine, section, "") for machine, section, _ in names]
        classes = sorted(set(names))
        labels = [classes.index(name) for name in names]
        device = choose_device(config.device)
        on_cpu = device.type == "cpu"
        networks: list[EmbeddingNetwork] = []
        total = len(settings.inputs) * settings.networks
        for kind in settings.inputs:
            with _log_mels(machines, config, kind, context.work) as clips:
                for number in range(1, settings.networks + 1):
                    name = f"{kind}-{number}"
                    network_config = _of_network(config, len(networks))
                    network = build_network(network_config, len(classes))
                    objective = SsdptObjective(network, clips, labels, network_config)
                    run = Run(
                        seed=network_config.seed,
                        device=device,
                        folder=context.work / name,
                        identity=f"{context.identity}/{name}",
                        resume=context.resume,
                        name=f"network {len(networks) + 1} of {total} ({kind})",
                        models=total,
                    )
                    with threads_for_shards() if on_cpu else nullcontext():
                        train(objective, settings.network.training, run, context.reporter)
                    networks.append(EmbeddingNetwork(name, kind, network))
        return cls(config, networks, len(classes), _log(context.work, networks))

    def embed(self, mels: Floats) -> dict[str, np.ndarray]:
        """A clip's log-mel (frames, bins) in dB as every network describes it, (1, values) each."""
        hop = self.config.part(MultiViewConfig).network.hop
        return {one.name: one.embed(mels, hop)[None] for one in self.networks}

    def graphs(self) -> dict[str, nn.Module]:
        """What embeds clips, by network, for export."""
        hop = self.config.part(MultiViewConfig).network.hop
        return {one.name: EmbeddingGraph(one, hop, self.bins) for one in self.networks}

    @property
    def bins(self) -> int:
        """Mel bins of a frame."""
        return self.config.features.n_mels

    @property
    def shares(self) -> dict[str, float]:
        """How much each network counts: those with the same input count as one view."""
        same_input = Counter(one.input for one in self.networks)
        return {one.name: 1 / same_input[one.input] for one in self.networks}

    def to(self, device: torch.device) -> None:
        """Describe clips on this device from now on."""
        for one in self.networks:
            one.network.to(device)

    @property
    def on_gpu(self) -> bool:
        return any(value.is_cuda for one in self.networks for value in one.network.parameters())

    @property
    def parameters(self) -> int:
        return sum(value.numel() for one in self.networks for value in one.network.parameters())

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights of all networks."""
        return {
            f"{one.name}/{name}": value.cpu().numpy()
            for one in self.networks
            for name, value in one.network.state_dict().items()
        }

    @classmethod
    def restore(cls, config: Config, arrays: Arrays, classes: int) -> Self:
        """The reverse of `arrays`; KeyError or ValueError if they do not fit."""
        inputs = config.part(MultiViewConfig).inputs
        # In the order of training; a file gives them by name.
        names = sorted(
            {name.partition("/")[0] for name in arrays},
            key=lambda name: (inputs.index(name.partition("-")[0]), name),
        )
        networks: list[EmbeddingNetwork] = []
        for name in names:
            network = build_network(_of_network(config, len(networks)), classes)
            load_weights(network, arrays_under(arrays, f"{name}/"))
            networks.append(EmbeddingNetwork(name, name.partition("-")[0], network))
        return cls(config, networks, classes)


def class_name(recording: Recording, settings: EmbeddingNetworkConfig) -> ClassName:
    """The class that a recording belongs to."""
    with_attributes = settings.classes == "section+attributes"
    attributes = recording.attribute_text if with_attributes else ""
    return recording.machine, recording.section, attributes


def _log(work: Path, networks: Sequence[EmbeddingNetwork]) -> str:
    """One log of all networks: their lines, with the network's name."""
    lines = [
        json.dumps({"network": one.name, **json.loads(line)})
        for one in networks
        for line in (work / one.name / LOG_FILE).read_text("utf-8").splitlines()
    ]
    return "".join(f"{line}\n" for line in lines)


def as_input(mels: Floats, kind: str) -> Floats:
    """A clip's log-mel (frames, bins) as it is, or less its mean over time."""
    return mels if kind == "steady" else mels - mels.mean(0)


def _of_network(config: Config, number: int) -> Config:
    """The settings of one network; each starts from its own seed."""
    seed = (config.seed * 1009 + number) % 2**32
    network = config.part(MultiViewConfig).network
    return config.with_parts(network).model_copy(update={"seed": seed})


@contextmanager
def _log_mels(
    machines: Sequence[FeatureView], config: Config, kind: str, work: Path
) -> Iterator[FeatureView]:
    """The log-mels of all clips as one kind of network takes them, in a file while it trains."""
    path, bins, lengths = work / f"{kind}.frames", config.features.n_mels, []
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for clips in machines:
                for _, frames in clips.clips():
                    mels = as_input(frames[:, :bins], kind)
                    file.write(np.ascontiguousarray(mels, "<f2").tobytes())
                    lengths.append(len(frames))
    stored: Any = np.memmap(path, "<f2", "c", shape=(sum(lengths), bins))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    recordings = [item for clips in machines for item in clips.recordings]
    try:
        yield FeatureSet(tuple(recordings), stored, offsets).all()
    finally:
        path.unlink(missing_ok=True)
