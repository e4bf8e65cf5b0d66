"""MobileNetV2 has the published parameter counts and shapes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from ssdpt.nn.mobilenet import (
    AngularMobileNet,
    InvertedResidual,
    MobileNetTrunk,
    MobileNetV2,
    for_scoring,
)


def count(network):
    return sum(value.numel() for value in network.parameters())


@pytest.mark.parametrize(
    ("width", "classes", "parameters"),
    [(1.0, 1000, 3_504_872), (0.5, 1000, 1_968_680), (0.5, 3, 691_523)],
)
def test_the_published_counts(width, classes, parameters):
    assert count(MobileNetV2(classes, width=width)) == parameters


def test_a_wide_network_has_a_wide_last_layer_and_a_narrow_one_keeps_it():
    assert MobileNetTrunk(1.5, 3).outputs == 1920
    assert MobileNetTrunk(0.1, 3).outputs == 1280


def test_channels_are_multiples_of_eight_and_at_least_ninety_percent():
    for width in (0.1, 0.35, 0.5, 0.75, 1.3):
        narrow = [m.layers[-1].num_features for m in blocks(MobileNetTrunk(width, 1))]
        wide = [m.layers[-1].num_features for m in blocks(MobileNetTrunk(1.0, 1))]
        for ours, full in zip(narrow, wide, strict=True):
            assert ours % 8 == 0
            assert ours >= 0.9 * width * full


def blocks(network):
    return [module for module in network.modules() if isinstance(module, InvertedResidual)]


def test_seventeen_blocks_of_which_ten_add_their_input():
    every = blocks(MobileNetTrunk(1.0, 3))
    assert len(every) == 17
    assert sum(block.residual for block in every) == 10


def test_the_image_is_reduced_by_a_factor_of_thirty_two():
    trunk, sizes = MobileNetTrunk(0.1, 3).eval(), []
    trunk.layers[-1].register_forward_hook(lambda _, inputs, output: sizes.append(output.shape))
    trunk(torch.randn(2, 64, 128))
    assert sizes == [(2, 1280, 2, 4)]


def test_every_channel_is_the_segment():
    trunk, seen = MobileNetTrunk(0.1, 3).eval(), []
    trunk.layers[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    segments = torch.randn(2, 16, 32)
    trunk(segments)
    for channel in range(3):
        torch.testing.assert_close(seen[0][:, channel], segments)


def test_a_residual_block_adds_its_input():
    block = InvertedResidual(8, 8, stride=1, expansion=6).eval()
    with torch.no_grad():
        block.layers[-1].weight.zero_()  # the layers contribute nothing
    x = torch.randn(2, 8, 4, 4)
    torch.testing.assert_close(block(x), x)


@pytest.mark.parametrize("kind", ["classifier", "directions"])
def test_the_copy_for_scoring_gives_the_same_output_without_batchnorms(kind):
    torch.manual_seed(0)
    network = (
        MobileNetV2(3, width=0.1)
        if kind == "classifier"
        else AngularMobileNet(3, bins=32, width=0.1, embedding=8, margin=0.5, scale=30.0)
    )
    for _ in range(5):  # statistics that are not 0 and 1
        network(torch.randn(8, 16, 32) * 10 - 40)
    network.eval()
    copy = for_scoring(network)
    segments = torch.randn(4, 16, 32) * 10 - 40
    torch.testing.assert_close(copy(segments), network(segments), rtol=1e-4, atol=1e-5)
    assert not any(isinstance(module, nn.BatchNorm2d) for module in copy.modules())
    assert any(isinstance(module, nn.BatchNorm2d) for module in network.modules())


def test_embeddings_have_length_one_and_ignore_the_scale_of_a_frequency():
    torch.manual_seed(0)
    network = AngularMobileNet(3, bins=32, width=0.1, embedding=8, margin=0.5, scale=30.0)
    segments = torch.randn(16, 16, 32)
    levels = torch.linspace(-150, 50, 32)  # dB
    embeddings = network(segments)
    torch.testing.assert_close(embeddings.norm(dim=1), torch.ones(16))
    torch.testing.assert_close(network(20 * segments + levels), embeddings, rtol=1e-2, atol=1e-2)
