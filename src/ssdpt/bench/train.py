"""Speed of training, compared with the published loop in the same run."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ssdpt.bench.machine import describe, matrix_peak, wait
from ssdpt.bench.published import BATCH, PublishedLoop, PublishedNetwork
from ssdpt.bench.synthetic import BINS, SECTIONS, synthetic_clips
from ssdpt.config.tree import Config, load_config
from ssdpt.features.cache import FeatureSet
from ssdpt.nn.dpt import DualPathTransformer
from ssdpt.systems.ssdpt import SsdptConfig
from ssdpt.systems.ssdpt.objective import SsdptObjective
from ssdpt.training.loop import Run, Trainer, choose_device
from ssdpt.training.objective import Batch

EPOCH_SEGMENTS = 96_288  # one machine type of DCASE 2021: 3,009 clips, a segment every 8 frames
_CLIPS = {"cuda": 3009, "cpu": 120}
_ROUNDS = 5  # the loops take turns, since other load on the machine varies


def bench_train(
    device_name: str, batch: int, blocks: int, frames: int, seconds: float, compiled: bool
) -> dict[str, Any]:
    """Segments per second of the published loop and of ours; `seconds` are spent on each."""
    device = choose_device(device_name)
    config = load_config(
        "paper",
        {
            "device": device_name,
            "ssdpt.blocks": blocks,
            "ssdpt.frames": frames,
            "ssdpt.training.batch_size": batch,
        },
    )
    clips = synthetic_clips(_CLIPS[device.type])
    with tempfile.TemporaryDirectory(prefix="ssdpt-") as folder:
        ours, flops = _ours(clips, config, device, Path(folder), SsdptObjective)
        loops = {"reference": (_reference(clips, config, device), BATCH), "ours": (ours, batch)}
        if compiled:
            loop, _ = _ours(clips, config, device, Path(folder), CompiledObjective)
            loops["compiled"] = (loop, batch)
        peak = matrix_peak(device)
        rates = _rates(loops, device, seconds)
    return {
        "machine": describe(device),
        "device": device.type,
        "blocks": blocks,
        "frames": frames,
        "peak_tflops": peak / 1e12,
        **{
            name: {
                "batch": loops[name][1],
                "segments_per_second": rate,
                "epoch_seconds": EPOCH_SEGMENTS / rate,
                "tflops": rate * 3 * flops / 1e12,  # backward: 2 × forward
                "share_of_peak": rate * 3 * flops / peak,
                "ratio": rate / rates["reference"],
            }
            for name, rate in rates.items()
        },
        "ratio": rates["ours"] / rates["reference"],
    }


class CompiledObjective(SsdptObjective):
    """The network compiled by torch in bfloat16, without our kernels."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._loss = torch.compile(super().loss, dynamic=False)

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        with torch.autocast(self.device.type, torch.bfloat16):
            return self._loss(batch)

    def _can_fuse(self) -> bool:
        return False


def _ours(
    clips: FeatureSet,
    config: Config,
    device: torch.device,
    folder: Path,
    kind: type[SsdptObjective],
) -> tuple[Callable[[], int], int]:
    """A function that makes a few updates and returns their number, and the FLOPs per segment."""
    settings = config.part(SsdptConfig)
    network = DualPathTransformer(SECTIONS, blocks=settings.blocks, frames=settings.frames)
    labels = [number % SECTIONS for number in range(len(clips))]
    objective = kind(network.to(device).train(), clips.all(), labels, config)
    run = Run(config.seed, device, folder, "bench")
    trainer = Trainer(objective, settings.training, run, settings.training.batch_size)
    plan = trainer.plans(0)[0]
    trainer.updates.rehearse(plan)

    def updates() -> int:
        trainer.updates.begin(plan, 0)
        count = min(len(plan), 256 if device.type == "cuda" else 4)
        for _ in range(count):
            trainer.updates.update()
        return count

    return updates, network.flops()


def _reference(clips: FeatureSet, config: Config, device: torch.device) -> Callable[[], int]:
    settings = config.part(SsdptConfig)
    frames = torch.from_numpy(clips.frames).to(device).view(len(clips), -1, BINS)
    cut = frames.unfold(1, settings.frames, settings.training.hop).transpose(2, 3)
    segments = cut.flatten(0, 1).contiguous()  # every segment is a copy, as published
    labels = torch.arange(len(segments), device=device) // cut.shape[1] % SECTIONS
    network = PublishedNetwork(SECTIONS, settings.blocks, settings.frames, BINS)
    loop = PublishedLoop(segments, labels, network.to(device).train())

    def updates() -> int:
        count = 32 if device.type == "cuda" else 4
        for _ in range(count):
            loop.update()
        return count

    return updates


def _rates(
    loops: dict[str, tuple[Callable[[], int], int]], device: torch.device, seconds: float
) -> dict[str, float]:
    """Segments per second of every loop: the median of several rounds."""
    measured: dict[str, list[float]] = {name: [] for name in loops}
    for updates, _ in loops.values():
        updates()
    for _ in range(_ROUNDS):
        for name, (updates, batch) in loops.items():
            wait(device)
            begun, segments = time.perf_counter(), 0
            while (spent := time.perf_counter() - begun) < seconds / _ROUNDS or not segments:
                segments += updates() * batch
                wait(device)
            spent = time.perf_counter() - begun
            measured[name].append(segments / spent)
    return {name: statistics.median(rates) for name, rates in measured.items()}
