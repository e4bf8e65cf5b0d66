"""The reference of the benchmarks is the same network."""

from __future__ import annotations

import torch

from ssdpt.bench.published import PublishedLoop, PublishedNetwork
from ssdpt.nn.dpt import DualPathTransformer


def test_both_networks_give_the_same_output():
    torch.manual_seed(0)
    ours = DualPathTransformer(3, blocks=2, frames=32, bins=64).eval()
    reference = PublishedNetwork(3, 2, 32, 64).eval()
    reference.norm.load_state_dict(ours.input_norm.state_dict())
    reference.classifier.load_state_dict(ours.classifier.state_dict())
    for block, time, frequency in zip(
        ours.blocks, reference.time, reference.frequency, strict=True
    ):
        for encoder, layer in ((block.time_encoder, time), (block.frequency_encoder, frequency)):
            weights = encoder.state_dict()
            layer.load_state_dict(
                {
                    "self_attn.in_proj_weight": weights["attention.query_key_value.weight"],
                    "self_attn.in_proj_bias": weights["attention.query_key_value.bias"],
                    "self_attn.out_proj.weight": weights["attention.output.weight"],
                    "self_attn.out_proj.bias": weights["attention.output.bias"],
                    "linear1.weight": weights["expand.weight"],
                    "linear1.bias": weights["expand.bias"],
                    "linear2.weight": weights["contract.weight"],
                    "linear2.bias": weights["contract.bias"],
                    "norm1.weight": weights["middle_norm.weight"],
                    "norm1.bias": weights["middle_norm.bias"],
                    "norm2.weight": weights["output_norm.weight"],
                    "norm2.bias": weights["output_norm.bias"],
                }
            )
    segments = torch.randn(3, 32, 64)
    with torch.no_grad():
        logits, out = reference(segments)
        output = ours(segments)
    torch.testing.assert_close(logits, output.logits, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(out, output.reconstruction, rtol=1e-4, atol=1e-4)


def test_its_loop_learns():
    torch.manual_seed(0)
    labels = torch.arange(64) % 2
    # Each class has its own half of the bins.
    segments = torch.randn(64, 32, 64)
    segments[labels == 0, :, :32] += 4.0
    segments[labels == 1, :, 32:] += 4.0
    network = PublishedNetwork(2, 1, 32, 64)
    loop = PublishedLoop(segments, labels, network)
    for _ in range(100):
        loop.update()
    logits, _ = network.eval()(segments)
    assert (logits.argmax(1) == labels).float().mean() > 0.9
