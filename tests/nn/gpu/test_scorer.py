"""The fused scorer, run by Triton's interpreter, gives the numbers of the network."""

from __future__ import annotations

import os

import pytest
import torch

from ssdpt.errors import SsdptWarning
from ssdpt.nn.dpt import DualPathTransformer

# Read when the kernels are defined, at their first import.
os.environ["TRITON_INTERPRET"] = "1"

FRAMES, BINS = 16, 32


@pytest.fixture
def network():
    torch.manual_seed(0)
    network = DualPathTransformer(
        3, blocks=2, frames=FRAMES, bins=BINS, heads=4, feed_forward=16
    ).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
        network.input_norm.running_mean.fill_(-40.0)
        network.input_norm.running_var.fill_(80.0)
    return network


@pytest.mark.parametrize("standardised", [False, True])
def test_overlapping_segments_anywhere(network, standardised):
    from ssdpt.nn.gpu.scorer import FusedScorer

    frames = torch.randn(40, BINS) * 9 - 40
    starts = torch.tensor([0, 3, 4, 24])
    with torch.no_grad():
        logits, errors = FusedScorer(network, torch.float32)(
            frames, starts, standardised=standardised
        )
        exact = network.double()
        segments = torch.stack([frames[start : start + FRAMES] for start in starts]).double()
        output = exact(segments)
        target = output.normalised if standardised else segments
        expected = (target - output.reconstruction).square().sum((1, 2))
    torch.testing.assert_close(logits.double(), output.logits, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(errors.double(), expected, rtol=1e-5, atol=1e-5)


def test_the_kernels_support_the_papers_shapes_but_not_all():
    from ssdpt.nn.gpu.packing import fusable, layouts, packed

    network = DualPathTransformer(3)
    assert fusable(network)
    assert layouts(network)[-1].end == len(packed(network))
    assert fusable(DualPathTransformer(3, frames=128))
    assert not fusable(DualPathTransformer(3, frames=256))  # too long for the chip
    assert not fusable(DualPathTransformer(3, frames=48, heads=6, bins=96))


def test_the_kernels_are_tried_before_they_are_used(network, monkeypatch):
    from ssdpt.nn.gpu import probe

    cpu = torch.device("cpu")  # Triton's interpreter runs there
    monkeypatch.setattr(probe, "_results", {})
    assert probe.kernels_run(network, cpu)

    def no_compiler(*arguments):
        raise RuntimeError("Failed to find C compiler")

    monkeypatch.setattr(probe, "_results", {})
    monkeypatch.setattr(probe, "PackedBlocks", no_compiler)
    with pytest.warns(SsdptWarning, match=r"do not run on cpu.*find C compiler"):
        assert not probe.kernels_run(network, cpu)
    assert not probe.kernels_run(network, cpu)  # one warning only
