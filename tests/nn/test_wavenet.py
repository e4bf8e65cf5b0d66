"""The WaveNet is causal, has the receptive field of its table, and handles silence."""

from __future__ import annotations

import pytest
import torch

import ssdpt.nn.wavenet
from ssdpt.nn.margins import AdditiveMargin
from ssdpt.nn.settings import WaveNetMember
from ssdpt.nn.wavenet import STRIDE, FrameNetwork, PooledNetwork, WaveNet, layer_table

SMALL = {"channels": 4, "stacks": 2, "layers": 3}


def build(classes=3, **member):
    torch.manual_seed(0)
    settings = WaveNetMember(**{**SMALL, **member})
    return WaveNet(classes, settings, embedding=8, margin=0.2, scale=30.0)


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_the_table_in_the_file_is_that_of_the_default():
    table = layer_table(WaveNetMember())
    written = [line.split() for line in ssdpt.nn.wavenet.__doc__.splitlines()]
    for layer in table:
        numbers = map(str, (layer.kernel, layer.dilation, layer.receptive_field))
        expected = [*layer.name.split(), *numbers]
        assert expected in [columns[: len(expected)] for columns in written]
    assert sum(columns[:1] in (["input"], ["stack"], ["frame"]) for columns in written) == len(
        table
    )
    assert table[-1].receptive_field == 8192


@pytest.mark.parametrize(
    "member",
    [
        {"stacks": 1, "layers": 1},
        {"stacks": 1, "layers": 4},
        {"stacks": 2, "layers": 3},
        {"stacks": 3, "layers": 3, "preprocessing": "pre-emphasis"},
    ],
)
@pytest.mark.parametrize("place", [0, 15, 16, 500, 703])
def test_one_sample_changes_exactly_the_outputs_that_the_table_says(member, place):
    """The output of step t depends on the samples up to (t + 1) · stride, a field's length back."""
    network = build(**member).double().eval()
    samples = noise(1, 1200).double()
    changed = samples.clone()
    changed[0, place] += 1

    def outputs(x):
        with torch.no_grad():
            return network.pooled.frames(network.preprocessed(x))[0]  # (steps, outputs)

    before, after = outputs(samples), outputs(changed)
    assert len(before) == 1200 // STRIDE
    result = (before != after).any(1).nonzero().flatten().tolist()
    field = layer_table(WaveNetMember(**{**SMALL, **member}))[-1].receptive_field
    last = min((place + field - STRIDE) // STRIDE, 1200 // STRIDE - 1)
    assert result == list(range(place // STRIDE, last + 1))


def test_every_layer_is_gated_residual_and_skipped():
    torch.manual_seed(0)
    frames = FrameNetwork(4, 1, 2)
    first, last = frames.layers
    x = noise(2, 50, 4)
    before = torch.cat([torch.zeros(2, 1, 4), x[:, :-1]], 1)
    a, b = first.gates(torch.cat([before, x], 2)).chunk(2, 2)
    z = torch.tanh(a) * torch.sigmoid(b)
    following, skip = first(x)
    torch.testing.assert_close(following, x + first.residual(z))
    torch.testing.assert_close(skip, first.skip(z))
    assert last.dilation == 2
    assert last.residual is None  # nothing comes after it


def test_every_parameter_learns():
    network = build()
    labels = torch.tensor([0, 1, 2, 0])
    network.head(network(noise(4, 600)), labels).log_softmax(1)[:, 0].sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_pooling_is_mean_and_standard_deviation_over_time():
    torch.manual_seed(0)
    pooled = PooledNetwork(FrameNetwork(4, 1, 2))
    samples = noise(3, 400)
    values = pooled.frames(samples).clamp_min(0)
    expected = torch.cat([values.mean(1), values.std(1, correction=0)], 1)
    result = pooled(samples)
    alive = expected > 2e-3  # below, the deviation has a floor
    assert alive.sum() > 20
    torch.testing.assert_close(result[alive], expected[alive])


@pytest.mark.parametrize("preprocessing", ["raw", "pre-emphasis", "levelled"])
def test_silence_gives_numbers_and_gradients(preprocessing):
    network = build(preprocessing=preprocessing)
    network.set_level(0.0)
    loss = network.head(network(torch.zeros(4, 320)), torch.tensor([0, 1, 2, 0])).square().sum()
    loss.backward()
    assert torch.isfinite(loss)
    assert all(torch.isfinite(parameter.grad).all() for parameter in network.parameters())
    assert torch.isfinite(network.eval()(torch.zeros(1, 320))).all()


def test_pre_emphasis():
    network = build(preprocessing="pre-emphasis")
    samples = noise(2, 50)
    result = network.preprocessed(samples)
    torch.testing.assert_close(result[:, 0], samples[:, 0])
    torch.testing.assert_close(result[:, 1:], samples[:, 1:] - 0.97 * samples[:, :-1])


def test_levelled_segments_have_one_level():
    network = build(preprocessing="levelled").eval()
    samples = noise(3, 320)
    loud = network(samples)
    torch.testing.assert_close(network(0.01 * samples), loud, atol=1e-4, rtol=1e-4)
    level = network.preprocessed(0.01 * samples).square().mean(1)
    torch.testing.assert_close(level, torch.ones(3))


def test_quiet_recordings_come_in_at_level_one():
    network, quiet = build().eval(), build().eval()
    samples = noise(3, 320)
    network.set_level(1.0)
    quiet.set_level(1e-4)  # the mean square at −40 dBFS
    torch.testing.assert_close(quiet(0.01 * samples), network(samples), atol=1e-5, rtol=1e-4)


def test_the_segments_of_a_batch_are_independent_in_evaluation():
    network = build().eval()
    segments = noise(20, 640)  # more than a shard
    together = network(segments)
    alone = torch.cat([network(segment[None]) for segment in segments])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-4)


def test_a_segment_shorter_than_a_dilation_has_an_effect():
    network = build(stacks=1, layers=8).eval()
    assert network(noise(1, 40)).shape == (1, 8)


def test_the_margin_is_subtracted_from_the_cosine_of_the_true_class():
    torch.manual_seed(0)
    head = AdditiveMargin(8, 3, margin=0.2, scale=30.0)
    embeddings = noise(4, 8)
    labels = torch.tensor([0, 1, 2, 1])
    cosines = torch.cosine_similarity(embeddings[:, None], head.directions[None], dim=2)
    expected = 30 * cosines
    for row, label in enumerate(labels):
        expected[row, label] -= 30 * 0.2
    torch.testing.assert_close(head(embeddings, labels), expected, atol=1e-4, rtol=1e-5)


def test_scores_do_not_use_the_margin():
    network = build().eval()
    embeddings = network(noise(4, 320))
    without = AdditiveMargin(8, 3, margin=0.0, scale=30.0)
    without.load_state_dict(network.head.state_dict())
    labels = torch.tensor([0, 1, 2, 0])
    torch.testing.assert_close(network.logits(embeddings), without(embeddings, labels))
