"""All parameters in one vector, without any effect on the network."""

from __future__ import annotations

import torch
from torch import nn

from ssdpt.training.flat import FlatParameters


def built():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 70), nn.BatchNorm1d(70), nn.Linear(70, 80))


def test_parameters_and_statistics_become_views():
    network, twin = built(), built()
    flat = FlatParameters(network, list(network.parameters()))
    for name, value in twin.state_dict().items():
        assert torch.equal(network.state_dict()[name], value)
    flat.state.zero_()
    assert all(
        not value.any() for name, value in network.state_dict().items() if "tracked" not in name
    )
    padding = 2  # behind each vector of 70, up to 16 bytes
    assert len(flat.values) == sum(item.numel() for item in twin.parameters()) + 3 * padding
    assert len(flat.state) == len(flat.values) + 2 * (70 + padding)


def test_every_parameter_lies_where_a_gpu_reads_16_bytes_at_a_time():
    network = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 7), nn.BatchNorm1d(7))
    FlatParameters(network, list(network.parameters()))
    for member in (*network.parameters(), network[2].running_mean, network[2].running_var):
        assert member.data_ptr() % 16 == 0
        assert member.grad is None or member.grad.data_ptr() % 16 == 0


def test_gradients_arrive_in_the_vector_and_add_up():
    network, twin = built(), built()
    flat = FlatParameters(network, list(network.parameters()))
    x = torch.randn(8, 4)
    for _ in range(2):
        network(x).square().sum().backward()
    twin(x).square().sum().backward()
    arrived = flat.by_name(flat.gradients)
    for name, item in twin.named_parameters():
        expected = 2 * item.grad.flatten()
        torch.testing.assert_close(arrived[name], expected, rtol=1e-4, atol=1e-4)


def test_an_optimiser_on_the_pieces_steps_the_network():
    network, twin = built(), built()
    flat = FlatParameters(network, list(network.parameters()))
    pieces = flat.pieces()
    assert len(pieces) > 1
    x = torch.randn(8, 4)
    for model, parameters in ((network, pieces), (twin, twin.parameters())):
        optimiser = torch.optim.AdamW(parameters, 0.01)
        model(x).square().sum().backward()
        optimiser.step()
    for ours, other in zip(network.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(ours, other)
