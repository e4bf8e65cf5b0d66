"""Shared CUDA streams: torch has only a few, and reuses them if more are requested."""

from __future__ import annotations

import functools
import threading
from typing import Literal

import torch

# A capture records everything launched on its stream, so only one thread may capture at a time.
CAPTURING = threading.Lock()


@functools.cache
def side_stream(device: torch.device, purpose: Literal["capture", "parallel"]) -> torch.cuda.Stream:
    """The stream for this purpose; one is enough, since one thread captures at a time."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
