"""The network is the paper's: order of the paths, normalisation, pooling, sizes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from ssdpt.features.segments import segments_of_clip
from ssdpt.nn.dpt import DptBlock, DualPathTransformer, Encoder

BATCH, FRAMES, BINS = 3, 16, 24


@pytest.fixture
def network():
    torch.manual_seed(0)
    return DualPathTransformer(4, blocks=2, frames=FRAMES, bins=BINS, heads=8, feed_forward=8)


@pytest.fixture
def segments():
    return 10 * torch.randn(BATCH, FRAMES, BINS, generator=torch.Generator().manual_seed(1)) - 40


def inputs_of(module, run):
    """The inputs of `module` during `run`."""
    seen = []
    handle = module.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    run()
    handle.remove()
    return seen


@pytest.mark.parametrize(
    ("blocks", "frames", "paper_count", "every"),
    [
        (1, 64, 13955, 96643),
        (2, 64, 27267, 192643),
        (3, 64, 40579, 288643),
        (3, 128, 53827, 450115),
        (3, 256, 80323, 1067971),
    ],
)
def test_parameter_counts_of_table_ii(blocks, frames, paper_count, every):
    network = DualPathTransformer(3, blocks=blocks, frames=frames)
    assert network.parameter_counts() == (every, paper_count)
    assert every == sum(parameter.numel() for parameter in network.parameters())


def test_shapes(network, segments):
    output = network(segments)
    assert output.logits.shape == (BATCH, 4)
    assert output.reconstruction.shape == output.normalised.shape == segments.shape


def test_frames_attend_first_then_bins(network, segments):
    block = network.blocks[0]
    order = []
    for name in ("time_encoder", "frequency_encoder"):
        getattr(block, name).register_forward_pre_hook(
            lambda _, arguments, name=name: order.append((name, tuple(arguments[0].shape)))
        )
    network(segments)
    assert order == [
        ("time_encoder", (BATCH, FRAMES, BINS)),  # sequence = frames, embedding = bins
        ("frequency_encoder", (BATCH, BINS, FRAMES)),
    ]


def test_no_positional_encoding():
    """The order of a sequence carries no information: permuted in, permuted out."""
    torch.manual_seed(0)
    block = DptBlock(FRAMES, BINS, 8, 8)
    x = torch.randn(2, FRAMES, BINS)
    order = torch.randperm(FRAMES)
    straight = block.time_encoder(x)
    torch.testing.assert_close(block.time_encoder(x[:, order]), straight[:, order])
    y = torch.randn(2, BINS, FRAMES)
    order = torch.randperm(BINS)
    straight = block.frequency_encoder(y)
    torch.testing.assert_close(block.frequency_encoder(y[:, order]), straight[:, order])
    assert not torch.allclose(block.time_encoder(x[:, :, torch.randperm(BINS)]), straight.mT)


def test_an_encoder_is_torchs_post_norm_relu_layer_without_dropout():
    torch.manual_seed(0)
    ours = Encoder(BINS, 8, 32).train()
    for parameter in ours.parameters():
        nn.init.normal_(parameter, std=0.3)
    reference = nn.TransformerEncoderLayer(
        BINS, 8, 32, dropout=0.0, activation="relu", batch_first=True, norm_first=False
    ).train()
    pairs = {
        "self_attn.in_proj_weight": ours.attention.query_key_value.weight,
        "self_attn.in_proj_bias": ours.attention.query_key_value.bias,
        "self_attn.out_proj.weight": ours.attention.output.weight,
        "self_attn.out_proj.bias": ours.attention.output.bias,
        "linear1.weight": ours.expand.weight,
        "linear1.bias": ours.expand.bias,
        "linear2.weight": ours.contract.weight,
        "linear2.bias": ours.contract.bias,
        "norm1.weight": ours.middle_norm.weight,
        "norm1.bias": ours.middle_norm.bias,
        "norm2.weight": ours.output_norm.weight,
        "norm2.bias": ours.output_norm.bias,
    }
    reference.load_state_dict(pairs)
    x = torch.randn(2, 10, BINS)
    torch.testing.assert_close(ours(x), reference(x), atol=1e-5, rtol=1e-5)


def test_batch_norm_over_bins_comes_first(network, segments):
    (seen,) = inputs_of(network.blocks[0], lambda: network.train()(segments))
    torch.testing.assert_close(seen.mean((0, 1)), torch.zeros(BINS), atol=1e-5, rtol=0)
    torch.testing.assert_close(seen.var((0, 1), correction=0), torch.ones(BINS), atol=1e-3, rtol=0)
    assert network.input_norm.running_mean.abs().min() > 1  # it learns the usual level


def test_testing_uses_the_training_statistics(network, segments):
    network.eval()
    alone = network(segments[:1]).logits
    torch.testing.assert_close(network(segments).logits[:1], alone, atol=1e-5, rtol=1e-5)


def test_the_maximum_over_frames_is_classified(network, segments):
    output = network.eval()(segments)
    pooled = output.reconstruction.max(dim=1).values
    torch.testing.assert_close(output.logits, network.classifier(pooled))


def test_masks_act_after_the_normalisation(network, segments):
    mask = torch.ones_like(segments)
    mask[:, 2:5, 3:7] = 0
    network.eval()
    unmasked = network(segments)
    results = []
    (seen,) = inputs_of(network.blocks[0], lambda: results.append(network(segments, mask)))
    assert (seen[:, 2:5, 3:7] == 0).all()
    torch.testing.assert_close(seen, unmasked.normalised * mask)
    torch.testing.assert_close(results[0].normalised, unmasked.normalised)
    assert not torch.allclose(results[0].logits, unmasked.logits)


@pytest.mark.parametrize("hop", [1, 3, 8, 64, 80])
@pytest.mark.parametrize("frames", [200, 197, 64, 20])  # 20: shorter than a segment
@pytest.mark.parametrize("native", ["0", "1"])
def test_work_shared_between_segments_changes_nothing(frames, hop, native, monkeypatch):
    monkeypatch.setenv("SSDPT_NATIVE", native)
    torch.manual_seed(0)
    network = DualPathTransformer(4, blocks=2, frames=64, bins=64).eval()
    network.input_norm.running_mean.fill_(-40)
    network.input_norm.running_var.uniform_(50, 100)
    clip = 10 * torch.randn(frames, 64, generator=torch.Generator().manual_seed(1)) - 40
    with torch.inference_mode():
        plain = network(segments_of_clip(clip, 64, hop))
        shared = network.over_frames(clip, hop)
    assert len(shared.logits) == max(frames - 64, 0) // hop + 1
    for one, other in zip(shared, plain, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_segments_that_overlap_share_one_projection(network):
    clip = torch.randn(FRAMES + 9, BINS)
    projection = network.blocks[0].time_encoder.attention.query_key_value
    (seen,) = inputs_of(projection, lambda: network.eval().over_frames(clip, 1))
    assert seen.shape == clip.shape
