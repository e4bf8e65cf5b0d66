"""Whether the fused kernels run on a device: a compiler for them, enough memory on the chip."""

from __future__ import annotations

import torch

from ssdpt.errors import warn
from ssdpt.nn.dpt import DualPathTransformer
from ssdpt.nn.gpu.backward import BackwardPass
from ssdpt.nn.gpu.blocks import PackedBlocks
from ssdpt.nn.gpu.packing import EncoderLayout, fusable, layouts
from ssdpt.nn.streams import CAPTURING

_known: dict[tuple[torch.device, tuple[EncoderLayout, ...]], bool] = {}


def kernels_run(network: DualPathTransformer, device: torch.device) -> bool:
    """Try them once on two segments of zeros; where they fail torch does the work, and it is told.

    A machine may lack the C compiler that Triton wants, or be of a kind it does not know.
    """
    if not fusable(network):
        return False
    place = torch.device("cuda", torch.cuda.current_device()) if device.type == "cuda" else device
    if device.index is not None:
        place = device
    key = (place, tuple(layouts(network)))
    with CAPTURING:
        if key not in _known:
            _known[key] = _try(network, device)
        return _known[key]


def _try(network: DualPathTransformer, device: torch.device) -> bool:
    try:
        values = torch.zeros(layouts(network)[-1].end, device=device)
        blocks = PackedBlocks(network, values, torch.float16)
        trace = blocks.room(2)
        trace.input.zero_()
        blocks.forward(trace)
        BackwardPass(blocks, torch.zeros_like(values))(trace, trace.out, 1.0).sum().item()
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # whatever compiler or driver raise
        reason = " ".join(str(error).split())[:200]
        warn(f"fused kernels do not run on {device}, going on with torch's own ({reason})")
        return False
    return True
