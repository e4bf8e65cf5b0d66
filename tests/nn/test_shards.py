"""Shards on threads change the speed of a batch, not its result."""

from __future__ import annotations

import threading

import pytest
import torch

from ssdpt.nn import shards
from ssdpt.nn.dpt import DualPathTransformer
from ssdpt.nn.shards import SHARD, each, sharded, threads_for_shards

FRAMES, BINS = 64, 64


@pytest.fixture(params=[1, 3])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["compiled", "torch"])
def network(request, monkeypatch):
    if request.param == "torch":
        monkeypatch.setenv("SSDPT_NATIVE", "0")
    torch.manual_seed(0)
    return DualPathTransformer(3, blocks=2, frames=FRAMES, bins=BINS)


def batch_of(count, seed=1):
    return torch.randn(count, FRAMES, BINS, generator=torch.Generator().manual_seed(seed))


def step(network, segments, mask=None):
    """Outputs and all gradients of one training step."""
    network.train().zero_grad()
    segments = segments.clone().requires_grad_()
    output = network(segments, mask)
    loss = output.logits.square().sum() + (output.reconstruction - output.normalised).square().sum()
    loss.backward()
    gradients = {name: parameter.grad for name, parameter in network.named_parameters()}
    assert all(gradient is not None for gradient in gradients.values())
    return {"logits": output.logits, "segments": segments.grad, **gradients}


def test_outputs_and_gradients_are_those_of_the_whole(network, threads, monkeypatch):
    segments = batch_of(2 * SHARD + 3)  # the last shard is not full
    mask = (batch_of(2 * SHARD + 3, seed=2) > -1).float()
    result = step(network, segments, mask)
    monkeypatch.setattr(shards, "SHARD", 10**6)
    expected = step(network, segments, mask)
    for name, value in expected.items():
        limit = 1e-5 * value.abs().max().item()
        torch.testing.assert_close(result[name], value, rtol=0, atol=limit, msg=name)


def test_scores_are_those_of_the_whole(network, threads, monkeypatch):
    segments = batch_of(2 * SHARD + 3)
    with torch.inference_mode():
        result = network.eval()(segments)
        monkeypatch.setattr(shards, "SHARD", 10**6)
        expected = network(segments)
    for actual, other in zip(result, expected, strict=True):
        torch.testing.assert_close(actual, other, rtol=1e-5, atol=1e-5)


def test_every_number_of_threads_gives_the_same_bits(network):
    x = batch_of(2 * SHARD + 3).requires_grad_()
    results = []
    before = torch.get_num_threads()
    for threads in (1, 2, 3, 2):
        torch.set_num_threads(threads)
        output = sharded(network.blocks, x)
        wanted = [x, *network.blocks.parameters()]
        results.append([output, *torch.autograd.grad(output, wanted, torch.ones_like(output))])
    torch.set_num_threads(before)
    for result in results[1:]:
        for one, other in zip(results[0], result, strict=True):
            assert torch.equal(one, other)


def test_frozen_parameters_get_no_gradients(network, two_threads):
    network.blocks[0].requires_grad_(False)
    output = sharded(network.blocks, batch_of(2 * SHARD))
    output.sum().backward()
    assert all(parameter.grad is None for parameter in network.blocks[0].parameters())
    assert all(parameter.grad is not None for parameter in network.blocks[1].parameters())


def test_a_frozen_network_still_gives_the_gradient_of_its_input(network, two_threads):
    network.blocks.requires_grad_(False)
    x = batch_of(2 * SHARD).requires_grad_()
    sharded(network.blocks, x).square().sum().backward()
    assert x.grad is not None
    assert x.grad.abs().max() > 0


@pytest.mark.parametrize(("count", "calls"), [(SHARD, [SHARD]), (SHARD + 1, [SHARD, 1])])
def test_a_small_batch_stays_whole(two_threads, count, calls):
    seen = []

    class Watched(torch.nn.Module):
        def forward(self, x):
            seen.append(len(x))
            return x

    with torch.no_grad():
        assert len(sharded(Watched(), torch.zeros(count, 1, 1))) == count
    assert sorted(seen, reverse=True) == calls


def test_results_come_in_order_and_in_the_callers_mode(two_threads):
    def look(number):
        return number, torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    assert [number for number, _, _ in each(look, range(20))] == list(range(20))
    assert set(each(look, [0])) == {(0, False, True)}
    with torch.no_grad():
        assert set(each(look, [0])) == {(0, False, False)}
    with torch.inference_mode():
        assert set(each(look, [0])) == {(0, True, False)}


def test_only_a_few_items_are_in_progress(two_threads):
    waiting = iter(range(100))
    results = each(lambda number: number, waiting)
    assert [next(results) for _ in range(10)] == list(range(10))
    results.close()
    assert next(waiting) < 20


def test_an_error_reaches_the_caller(two_threads):
    def fail(number):
        if number == 3:
            raise ValueError("the third")

    with pytest.raises(ValueError, match="the third"):
        list(each(fail, range(10)))


def test_workers_use_one_thread_and_everyone_else_as_many_as_before(two_threads):
    assert set(each(lambda _: torch.get_num_threads(), range(8))) == {1}
    assert torch.get_num_threads() == 2
    later = []
    thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    assert later == [2]


def test_all_threads_can_be_left_to_the_shards(two_threads):
    def at_work(_):
        everyone.wait(timeout=60)
        return threading.get_ident()

    with threads_for_shards():
        assert torch.get_num_threads() == 1
        with threads_for_shards():
            everyone = threading.Barrier(2)  # passes only if two threads run in parallel
            assert len(set(each(at_work, range(2)))) == 2
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
