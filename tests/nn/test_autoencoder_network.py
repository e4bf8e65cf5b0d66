"""The layers of the baseline's autoencoder."""

from __future__ import annotations

import torch
from torch import nn

from ssdpt.nn.autoencoder import Autoencoder


def test_layers_are_the_baselines():
    network = Autoencoder(640)
    widths = [
        (layer.in_features, layer.out_features)
        for layer in network.layers
        if isinstance(layer, nn.Linear)
    ]
    assert widths == [
        *[(640, 128), (128, 128), (128, 128), (128, 128), (128, 8)],
        *[(8, 128), (128, 128), (128, 128), (128, 128), (128, 640)],
    ]
    kinds = [type(layer).__name__ for layer in network.layers]
    assert kinds == ["Linear", "BatchNorm1d", "ReLU"] * 9 + ["Linear"]


def test_the_output_has_the_shape_of_the_input():
    assert Autoencoder(20, hidden=6, bottleneck=2).eval()(torch.zeros(3, 20)).shape == (3, 20)
