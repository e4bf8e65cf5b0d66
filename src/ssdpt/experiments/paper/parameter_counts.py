"""The parameter column of the paper's Table II, counted on the real networks."""

from __future__ import annotations

from ssdpt.experiments.paper.variants import BLOCKS
from ssdpt.nn.dpt import DualPathTransformer

_SECTIONS = 3  # machine IDs of the DCASE 2021 development set


def parameter_table() -> list[dict[str, int]]:
    """A row per configuration: the paper's count (without attention projections), and all."""
    rows = []
    for blocks, frames in BLOCKS:
        network = DualPathTransformer(_SECTIONS, blocks=blocks, frames=frames)
        total, paper_count = network.parameter_counts()
        rows.append({"blocks": blocks, "frames": frames, "paper_count": paper_count, "all": total})
    return rows
