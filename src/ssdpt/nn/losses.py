"""Training losses and segment scores by the formulas of the paper."""

from __future__ import annotations

import sys
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

_SMALLEST_PROBABILITY = sys.float_info.epsilon  # lower bound of probabilities in the DCASE baseline


def mixed_cross_entropy(logits: Tensor, labels: Tensor, share: Tensor, partner: Tensor) -> Tensor:
    """L_c: cross-entropy against the mixed ID λ·l_i + (1 − λ)·l_j, mean over the batch."""
    first = functional.cross_entropy(logits, labels)
    second = functional.cross_entropy(logits, labels[partner])
    return share * first + (1 - share) * second


def squared_error(target: Tensor, output: Tensor, error: Literal["mean", "sum"]) -> Tensor:
    """‖target − output‖² of every segment, (batch,): the mean over frames and bins, or the sum."""
    squares = (target - output).square().flatten(1)  # (batch, P × F)
    return squares.mean(1) if error == "mean" else squares.sum(1)


def log_odds(logits: Tensor, classes: Tensor) -> Tensor:
    """log((1 − p) / p) of every segment, p = the probability of the clip's machine ID, (batch,).

    `classes` (classes,) is True if a class belongs to the ID. Computed from the logits it is
    finite even if p rounds to 1: log Σ_others exp(z) − log Σ_own exp(z).
    """
    others = logits.masked_fill(classes, -torch.inf).logsumexp(dim=1)
    return others - logits.masked_fill(~classes, -torch.inf).logsumexp(dim=1)


def dcase_score(logits: Tensor, classes: Tensor) -> Tensor:
    """log((1 − p) − log p): the published code's form, with a misplaced parenthesis, (batch,)."""
    odds = log_odds(logits, classes)
    # 1 − p and −log p from the odds, which keep their precision if p rounds to 1.
    argument = odds.sigmoid().clamp_min(_SMALLEST_PROBABILITY) + functional.softplus(odds)
    return torch.log(argument.clamp_min(_SMALLEST_PROBABILITY))
