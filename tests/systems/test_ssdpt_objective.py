"""What SSDPT learns, as plain torch and as fused kernels (run by Triton's interpreter)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from ssdpt.config.tree import load_config
from ssdpt.features.cache import FeatureSet
from ssdpt.nn.dpt import DualPathTransformer
from ssdpt.systems.ssdpt.objective import SsdptObjective
from ssdpt.training.flat import FlatParameters
from ssdpt.types import Recording

# Read when the kernels are defined, at their first import.
os.environ["TRITON_INTERPRET"] = "1"

CLIPS, FRAMES, BINS = 6, 48, 32


@pytest.fixture
def clips():
    rng = np.random.default_rng(0)
    recordings = tuple(Recording(Path(f"{n}.wav"), "fan", f"0{n % 2}") for n in range(CLIPS))
    frames = rng.normal(-40, 8, (CLIPS * FRAMES, BINS)).astype(np.float32)
    return FeatureSet(recordings, frames, np.arange(CLIPS + 1) * FRAMES).all()


def objective(clips, classes=2, **changes):
    config = load_config("tiny", changes)
    torch.manual_seed(1)
    network = DualPathTransformer(
        classes,
        blocks=config.ssdpt.blocks,
        frames=config.ssdpt.frames,
        bins=BINS,
        heads=config.ssdpt.heads,
        feed_forward=config.ssdpt.feed_forward,
    )
    labels = [n * 149 % classes for n in range(CLIPS)]  # with 600: 0, 149, … 596, 145
    return SsdptObjective(network, clips, labels, config)


def batch_of(task, index, seed=0):
    drawn = task.draw(1, len(index), torch.Generator().manual_seed(seed))
    return {"index": index, **{name: values[0] for name, values in drawn.items()}}


def test_the_loss_is_cross_entropy_plus_alpha_times_the_mean_squared_error(clips):
    plain = {"ssdpt.mixup": 0, "ssdpt.mask.kind": "none", "ssdpt.alpha": 0.25}
    task = objective(clips, **plain)
    index = torch.arange(4)
    loss, parts = task.loss(batch_of(task, index))
    segments = task.segments.gather(task.features, index)
    output = task.network(segments)
    expected_c = functional.cross_entropy(output.logits, task.labels[index])
    expected_r = (segments - output.reconstruction).square().mean()
    torch.testing.assert_close(parts["classification"], expected_c)
    torch.testing.assert_close(parts["reconstruction"], expected_r)
    torch.testing.assert_close(loss, expected_c + 0.25 * expected_r)


def test_the_target_is_the_raw_feature_or_the_standardised_one(clips):
    index = torch.arange(8)
    raw, standardised = (
        task.loss(batch_of(task, index))[0]
        for task in (
            objective(clips, **{"ssdpt.target": target, "ssdpt.alpha": 1.0})
            for target in ("raw", "standardised")
        )
    )
    # A LayerNorm output cannot reach −40 dB: against the raw target the error is about 40².
    assert raw > 1000
    assert standardised < 10


def test_the_error_is_a_mean_or_the_formulas_sum(clips):
    index = torch.arange(4)
    mean, total = (
        task.loss(batch_of(task, index))[1]
        for task in (objective(clips, **{"ssdpt.error": error}) for error in ("mean", "sum"))
    )
    size = 16 * BINS
    torch.testing.assert_close(total["reconstruction"], size * mean["reconstruction"])


@pytest.mark.parametrize(("kind", "masked"), [("none", False), ("patch", True), ("time", True)])
def test_masks_are_on_in_training_where_asked(clips, kind, masked):
    task = objective(clips, **{"ssdpt.mask.kind": kind})
    seen = []
    task.network.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[1]))
    task.loss(batch_of(task, torch.arange(4)))
    assert (seen[0] is not None) == masked


def test_mixup_is_in_decibels_before_the_normalisation(clips):
    task = objective(clips)
    seen = []
    task.network.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    index = torch.arange(6)
    batch = batch_of(task, index)
    task.loss(batch)
    share, partner = batch["share"], batch["partner"]
    segments = task.segments.gather(task.features, index)
    torch.testing.assert_close(seen[0], share * segments + (1 - share) * segments[partner])


# One block of two heads: the interpreter takes seconds for each.
FUSED = {
    **{"ssdpt.frames": 16, "ssdpt.heads": 2, "ssdpt.feed_forward": 16, "ssdpt.blocks": 1},
    "ssdpt.alpha": 0.3,
}


@pytest.mark.parametrize(
    ("classes", "changes"),
    [
        (2, {"ssdpt.target": "standardised", "ssdpt.mask.kind": "specaugment", "ssdpt.blocks": 2}),
        # More than one program holds at once.
        (600, {"ssdpt.target": "raw", "ssdpt.mask.patches": 2, "ssdpt.error": "mean"}),
        (
            2,
            {
                **{"ssdpt.mixup": 0.0, "ssdpt.mask.kind": "none"},
                **{"ssdpt.error": "sum", "ssdpt.alpha": 1e-4},
            },
        ),
    ],
)
def test_the_fused_step_has_the_gradients_of_autograd_in_float64(clips, classes, changes):
    from ssdpt.nn.gpu.packing import packed_parameters
    from ssdpt.nn.gpu.step import FusedStep, LossSettings

    plain, fused = (objective(clips, classes, **{**FUSED, **changes}) for _ in range(2))
    with torch.no_grad():  # biases and gains that are not all 0 and 1
        for parameter, twin in zip(
            plain.network.parameters(), fused.network.parameters(), strict=True
        ):
            parameter += 0.1 * torch.randn_like(parameter)
            twin.copy_(parameter)
    batch = batch_of(plain, torch.tensor([3, 0, 7, 11, 5]), seed=4)

    plain.network.double().train()
    plain.features = plain.features.double()
    batch["share"] = batch["share"].double()
    expected = plain.add_gradients(batch)

    network = fused.network.train()
    last = [*network.input_norm.parameters(), *network.classifier.parameters()]
    ordered = packed_parameters(network) + last
    flat = FlatParameters(network, ordered)
    settings = fused.settings
    step = FusedStep(
        network,
        flat.values,
        flat.gradients,
        torch.float32,
        fused.features,
        fused.segments,
        fused.labels,
        LossSettings(settings.alpha, settings.error, settings.target),
    )
    batch["share"] = batch["share"].float()
    with torch.no_grad():
        figures = step.add_gradients(*(batch[n] for n in ("index", "share", "partner", "boxes")))

    for name, value in expected.items():
        assert figures[name].item() == pytest.approx(value.item(), rel=1e-5), name
    wanted = dict(plain.network.named_parameters())
    for name, parameter in network.named_parameters():
        gradient = wanted[name].grad
        error = (parameter.grad - gradient).norm() / gradient.norm()
        assert error < 2e-5, name
    for name, value in network.named_buffers():
        torch.testing.assert_close(
            value.double(), plain.network.get_buffer(name).double(), rtol=1e-5, atol=1e-5
        )
