"""What systems with a network share: building it from a seed, training it, saving its weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from ssdpt.common.arrays import Arrays
from ssdpt.common.threads import BUILDING
from ssdpt.config.settings import TrainingConfig
from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureView
from ssdpt.features.segments import Segments
from ssdpt.systems.base import FitContext, System
from ssdpt.training.loop import Run, choose_device, train
from ssdpt.training.objective import Objective
from ssdpt.types import Recording

_COPIED = 1 << 18  # frames that go to the device at once

Network = TypeVar("Network", bound=nn.Module)

TWO_SECTIONS = "two machine IDs (sections)"
FALLBACK = "gmm"  # for a machine with one section, where classifiers have nothing to tell apart


def nothing_to_classify(recordings: Sequence[Recording]) -> str | None:
    """Why a classifier of sections cannot learn from these recordings; None where it can."""
    if len({recording.section for recording in recordings}) >= 2:
        return None
    return "classification needs at least two machine IDs (sections) and there is one only"


class NetworkSystem(System, Generic[Network]):
    """A system whose learned part is one network, and what follows from it."""

    has_network: ClassVar[bool] = True

    def __init__(self, config: Config, sections: tuple[str, ...], network: Network) -> None:
        super().__init__(config, sections)
        self.network = network

    def settle(self, clips: FeatureView) -> None:
        """Work out what follows from the trained network, e.g. where normal clips lie in it."""
        return

    def to(self, device: torch.device) -> None:
        self.network.to(device)

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: value.cpu().numpy() for name, value in self.network.state_dict().items()}

    @property
    def on_gpu(self) -> bool:
        return self.device.type != "cpu"

    @property
    def device(self) -> torch.device:
        """Where the network lives."""
        return next(self.network.parameters()).device


class ClassifierSystem(NetworkSystem[Network], Generic[Network]):
    """A network that is trained to tell sections apart: it needs two of them."""

    needs: ClassVar[tuple[str, ...]] = (TWO_SECTIONS,)
    fallback: ClassVar[str | None] = FALLBACK

    @classmethod
    def refusal(cls, recordings: Sequence[Recording], config: Config) -> str | None:
        return nothing_to_classify(recordings)


def seeded(build: Callable[[], Network], seed: int) -> Network:
    """Build a network whose initial weights depend on `seed` alone."""
    with BUILDING, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # of the CPU alone
        return build()


def count_parameters(network: nn.Module) -> int:
    """All numbers that training changes."""
    return sum(value.numel() for value in network.parameters())


def training_segments(
    clips: FeatureView,
    length: int,
    hop: int,
    device: torch.device,
    kind: torch.dtype = torch.float16,
) -> tuple[Tensor, Segments]:
    """All frames on the device, (all frames, bins), and where the segments of `clips` lie in it.

    On a CPU they stay in the memory-mapped file; on a GPU they are of type `kind`: float16 is good
    to 0.03 dB, and to 0.06 dB in silence.
    """
    features = torch.from_numpy(clips.source.frames)
    if device.type != "cpu":
        copy = torch.empty(features.shape, dtype=kind, device=device)
        blocks = torch.split(features, _COPIED), torch.split(copy, _COPIED)
        for block, place in zip(*blocks, strict=True):
            place.copy_(block.to(kind))
        features = copy
    first, frames = clips.spans()
    return features, Segments.of_clips(first, frames, length, hop).to(device)


def train_network(
    system: NetworkSystem[Network],
    objective: Objective,
    training: TrainingConfig,
    clips: FeatureView,
    context: FitContext,
) -> None:
    """Run the loop for the system's network, which ends up in evaluation mode on the device."""
    config = system.config

    def after_epoch(epoch: int) -> None:
        assert context.after_epoch is not None
        system.to(run.device)  # drops what was made from the weights of an earlier epoch
        system.settle(clips)
        context.after_epoch(system, epoch)

    run = Run(
        seed=config.seed,
        device=choose_device(config.device),
        folder=context.work,
        identity=context.identity,
        resume=context.resume,
        name=context.name,
        models=context.models,
        after_epoch=after_epoch if context.after_epoch else None,
    )
    train(objective, training, run, context.reporter)
    system.to(run.device)
    system.settle(clips)


def load_weights(network: nn.Module, arrays: Arrays) -> None:
    """Put arrays back; ValueError where they are not this network's."""
    state = {name: torch.from_numpy(np.array(value)) for name, value in arrays.items()}
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        raise ValueError("the weights are of another network") from error
    network.eval()
