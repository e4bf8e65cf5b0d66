"""Whether the fused kernels run on a device: they need a compiler and enough on-chip memory."""

from __future__ import annotations

import torch

from ssdpt.errors import warn
from ssdpt.nn.dpt import DualPathTransformer
from ssdpt.nn.gpu.backward import BackwardPass
from ssdpt.nn.gpu.blocks import PackedBlocks
from ssdpt.nn.gpu.packing import EncoderLayout, fusable, layouts
from ssdpt.nn.streams import CAPTURING

_results: dict[tuple[torch.device, tuple[EncoderLayout, ...]], bool] = {}


def kernels_run(network: DualPathTransformer, device: torch.device) -> bool:
    """Try the kernels once on two segments of zeros; if they fail, warn and use torch instead.

    The C compiler that Triton needs may be missing, or the GPU may not be supported.
    """
    if not fusable(network):
        return False
    target = torch.device("cuda", torch.cuda.current_device()) if device.type == "cuda" else device
    if device.index is not None:
        target = device
    key = (target, tuple(layouts(network)))
    with CAPTURING:
        if key not in _results:
            _results[key] = _try(network, device)
        return _results[key]


def _try(network: DualPathTransformer, device: torch.device) -> bool:
    try:
        values = torch.zeros(layouts(network)[-1].end, device=device)
        blocks = PackedBlocks(network, values, torch.float16)
        trace = blocks.allocate(2)
        trace.input.zero_()
        blocks.forward(trace)
        BackwardPass(blocks, torch.zeros_like(values))(trace, trace.out, 1.0).sum().item()
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # any error of compiler or driver
        reason = " ".join(str(error).split())[:200]
        warn(f"fused kernels do not run on {device}; using torch's operations instead ({reason})")
        return False
    return True
