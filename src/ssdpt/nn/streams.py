"""CUDA streams, made once: torch hands out the same few again when many are asked for."""

from __future__ import annotations

import functools
from typing import Literal

import torch


@functools.cache
def side_stream(device: torch.device, purpose: Literal["capture", "beside"]) -> torch.cuda.Stream:
    """The stream for this purpose; only one thread at a time captures, so one is enough."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
