"""CUDA streams, made once: torch hands out the same few again when many are asked for."""

from __future__ import annotations

import functools
import threading
from typing import Literal

import torch

# Capturing listens to all that is launched on these: two threads take turns.
CAPTURING = threading.Lock()


@functools.cache
def side_stream(device: torch.device, purpose: Literal["capture", "beside"]) -> torch.cuda.Stream:
    """The stream for this purpose; only one thread at a time captures, so one is enough."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
