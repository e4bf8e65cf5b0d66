"""The compiled encoder: values, gradients, and when torch is used instead."""

from __future__ import annotations

import copy
import ctypes
import shutil

import pytest
import torch
from torch import nn

from ssdpt.nn import native
from ssdpt.nn.dpt import DualPathTransformer, Encoder

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

HEADS, HIDDEN = 8, 32
TOLERANCE = 2e-6  # of the largest value, against float64: about ten roundings of float32
# The two encoders of the paper's network; sequences that fill no vector; a single frame.
SIZES = [(64, 128), (128, 64), (5, 64), (37, 128), (1, 64)]


def encoder_of(embedding, seed=0):
    torch.manual_seed(seed)
    encoder = Encoder(embedding, HEADS, HIDDEN)
    for parameter in encoder.parameters():
        nn.init.normal_(parameter, std=0.3)
    return encoder


def dice(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def run_native(encoder, x, projected=None):
    output = native.native_encoder(x, encoder._weights(), HEADS, 1e-5, projected)
    assert output is not None
    return output


def assert_near(result, expected, tolerance=TOLERANCE):
    assert result.shape == expected.shape
    limit = tolerance * expected.abs().max().item()
    torch.testing.assert_close(result.double(), expected.double(), rtol=0, atol=limit)


def values_and_gradients(encoder, x, above):
    number = next(encoder.parameters()).dtype
    given = x.to(number).requires_grad_()
    output = encoder(given)
    wanted = [given, *encoder.parameters()]
    return [output, *torch.autograd.grad(output, wanted, above.to(number))]


@pytest.mark.parametrize(("length", "embedding"), SIZES)
def test_values_and_gradients_are_as_near_to_float64_as_torchs(length, embedding, monkeypatch):
    encoder = encoder_of(embedding)
    task = dice(3, length, embedding), dice(3, length, embedding, seed=2)
    ours = values_and_gradients(encoder, *task)
    monkeypatch.setenv("SSDPT_NATIVE", "0")
    by_torch = values_and_gradients(encoder, *task)
    exact = values_and_gradients(copy.deepcopy(encoder).double(), *task)
    # Rounded differently, or the compiled code did not run.
    assert not torch.equal(ours[0], by_torch[0])
    for result, other, right in zip(ours, by_torch, exact, strict=True):
        size, usual = right.abs().max(), (other - right).abs().max()
        assert (result - right).abs().max() <= 3 * usual + 1e-6 * size
    assert_near(ours[0], exact[0])


def test_without_gradients_the_values_are_the_same():
    encoder, x = encoder_of(128), dice(3, 64, 128)
    with torch.no_grad():
        scored = run_native(encoder, x)
    assert torch.equal(scored, run_native(encoder, x))


@pytest.mark.parametrize("size", [20.0, 1e-3])
def test_sharp_and_flat_attention(size):
    encoder, x = encoder_of(64), size * dice(2, 16, 64)
    with torch.no_grad():
        assert_near(run_native(encoder, x), encoder.double()(x.double()), 1e-5)


def test_a_segment_gives_the_same_result_in_any_batch():
    encoder, x = encoder_of(128), dice(5, 64, 128)
    with torch.no_grad():
        together = run_native(encoder, x)
        for n in range(5):
            assert torch.equal(run_native(encoder, x[n : n + 1])[0], together[n])


@pytest.mark.parametrize("hop", [1, 3])
def test_overlapping_segments_are_views_of_frames(hop):
    encoder, frames = encoder_of(128), dice(20, 128)
    with torch.no_grad():
        projected = encoder.attention.query_key_value(frames)
        x = frames.unfold(0, 16, hop).transpose(1, 2)
        shared = run_native(encoder, x, projected.unfold(0, 16, hop).transpose(1, 2))
        assert_near(shared, run_native(encoder, x.contiguous()))


def test_the_other_layout_in_memory():
    encoder, x = encoder_of(64), dice(2, 64, 30).transpose(1, 2)
    with torch.no_grad():
        assert torch.equal(run_native(encoder, x), run_native(encoder, x.contiguous()))


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_nan_and_infinity_stay_in_their_segment(value, monkeypatch):
    encoder, x = encoder_of(64), dice(3, 20, 64)
    x[1, 4, 7] = value
    with torch.no_grad():
        result = run_native(encoder, x)
        monkeypatch.setenv("SSDPT_NATIVE", "0")
        expected = encoder(x)
    assert result[1].isnan().all()
    assert torch.equal(result.isnan(), expected.isnan())


def test_a_gradient_of_nan_stays_nan():
    encoder, x = encoder_of(64), dice(1, 20, 64).requires_grad_()
    above = dice(1, 20, 64)
    above[0, 3, 3] = torch.nan
    (gradient,) = torch.autograd.grad(run_native(encoder, x), x, above)
    assert gradient.isnan().all()


@pytest.mark.parametrize(
    ("change", "x"),
    [
        ({}, dice(2, 8, 64).double()),
        ({}, dice(2, 8, 64).bfloat16()),
        ({}, torch.empty(2, 8, 64, device="meta")),
        ({"embedding": 24}, dice(2, 8, 24)),
        ({"embedding": 256}, dice(2, 8, 256)),
        ({"heads": 2}, dice(2, 8, 64)),
        ({"hidden": 8}, dice(2, 8, 64)),
    ],
)
def test_other_numbers_devices_and_sizes_are_left_to_torch(change, x):
    settings = {"embedding": 64, "heads": HEADS, "hidden": HIDDEN, **change}
    encoder = Encoder(settings["embedding"], settings["heads"], settings["hidden"])
    encoder.to(x.device, x.dtype)
    weights = encoder._weights()
    assert native.native_encoder(x, weights, settings["heads"], 1e-5) is None
    assert encoder(x).shape == x.shape


def test_it_can_be_switched_off(monkeypatch):
    encoder, x = encoder_of(64), dice(2, 8, 64)
    monkeypatch.setenv("SSDPT_NATIVE", "0")
    assert native.native_encoder(x, encoder._weights(), HEADS, 1e-5) is None


def test_lower_precision_on_request_is_torchs(monkeypatch):
    encoder, x = encoder_of(64), dice(2, 8, 64)
    with torch.autocast("cpu", torch.bfloat16):
        assert native.native_encoder(x, encoder._weights(), HEADS, 1e-5) is None


@pytest.fixture
def loaded_anew():
    native._loaded.cache_clear()
    yield
    native._loaded.cache_clear()


def test_without_a_compiler_torch_does_the_same(monkeypatch, loaded_anew):
    encoder, x = encoder_of(64), dice(2, 8, 64)
    expected = run_native(encoder, x)
    native._loaded.cache_clear()
    monkeypatch.setenv("CC", "no-such-compiler")
    assert native.native_encoder(x, encoder._weights(), HEADS, 1e-5) is None
    assert_near(encoder(x), expected, 1e-5)


def test_code_that_computes_something_else_is_not_used(monkeypatch, loaded_anew):
    class Idle:
        encoder_forward = encoder_backward = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 1)

    monkeypatch.setattr(native, "compiled", lambda *_: Idle())
    assert native._library() is None


def test_the_check_does_not_change_the_random_state(loaded_anew):
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    with torch.inference_mode():
        assert native._library() is not None
    assert torch.rand(1) == expected


def test_an_exported_network_is_made_of_torchs_operations():
    torch.manual_seed(0)
    network = DualPathTransformer(2, blocks=1, frames=64, bins=64).eval()
    x = dice(12, 64, 64)
    program = torch.export.export(network, (x,))
    assert any("scaled_dot_product" in str(node.target) for node in program.graph.nodes)
    with torch.no_grad():
        assert_near(program.module()(x).logits, network(x).logits, 1e-5)
