"""Power spectra and levels in a graph.

Spectra are written as matrix products: every runtime has these, and fast ones.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

_LONGEST_IN_ONE = 512  # samples; a longer transform is done in two steps


class PowerSpectrum(nn.Module):
    """Windows of samples (windows, n) to their power spectra (windows, n // 2 + 1)."""

    weights: Tensor  # (n,)
    cosine: Tensor  # (first, first): of the first step
    sine: Tensor
    turn_cosine: Tensor  # (first, second): between the steps
    turn_sine: Tensor
    second_cosine: Tensor  # (second, second): of the second step
    second_sine: Tensor

    def __init__(self, weights: np.ndarray, dtype: torch.dtype) -> None:
        """`weights`: (n,), what samples are multiplied by first; n is even."""
        super().__init__()
        self.size = len(weights)
        steps = 1 if self.size <= _LONGEST_IN_ONE else math.gcd(self.size, 64)
        self.first, self.second = self.size // steps, steps
        self._constant("weights", torch.from_numpy(np.asarray(weights, np.float64)), dtype)
        lines = self.first if steps > 1 else self.size // 2 + 1
        self._angles("", _angles(self.first, lines, self.first), dtype)
        if steps > 1:
            self._angles("turn_", _angles(self.first, steps, self.size), dtype)
            self._angles("second_", _angles(steps, steps, steps), dtype)

    def forward(self, windows: Tensor) -> Tensor:
        weighted = windows.to(self.weights.dtype) * self.weights
        if self.second == 1:
            return (weighted @ self.cosine).square() + (weighted @ self.sine).square()
        # Sample second · i + j to place (j, i): lines of every j, turned, then over all j.
        columns = weighted.reshape(-1, self.first, self.second).transpose(1, 2)
        real, imaginary = columns @ self.cosine, -(columns @ self.sine)  # (windows, j, first)
        cosine, sine = self.turn_cosine.T, self.turn_sine.T
        real, imaginary = real * cosine + imaginary * sine, imaginary * cosine - real * sine
        cosine, sine = self.second_cosine, self.second_sine
        power = (cosine @ real + sine @ imaginary).square()
        power = power + (cosine @ imaginary - sine @ real).square()  # (windows, second, first)
        return power.reshape(-1, self.size)[:, : self.size // 2 + 1]

    def _angles(self, name: str, angles: Tensor, dtype: torch.dtype) -> None:
        self._constant(f"{name}cosine", angles.cos(), dtype)
        self._constant(f"{name}sine", angles.sin(), dtype)

    def _constant(self, name: str, value: Tensor, dtype: torch.dtype) -> None:
        self.register_buffer(name, value.to(dtype))


def decibels(power: Tensor, floor: float) -> Tensor:
    """10·log10(max(power, floor)), in the arithmetic of `power`."""
    # As a tensor: the exporter rounds a plain number, and the base of log10, to float32.
    factor = torch.tensor(10 / math.log(10), dtype=power.dtype)
    return power.clamp_min(floor).log() * factor


def _angles(rows: int, columns: int, turn: int) -> Tensor:
    """2π · row · column / turn, (rows, columns), in float64."""
    products = torch.outer(torch.arange(rows), torch.arange(columns)) % turn
    return 2 * torch.pi * products.double() / turn
