"""SSDPT with different configurations, z-scored and averaged.

The paper's ensemble is of "models with different configurations" and names none; the members here
are those of the settings `ssdpt_ensemble.members`, each laid over `ssdpt`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ssdpt.config.tree import Config, parse_config
from ssdpt.systems.parts.ensemble import EnsembleSystem
from ssdpt.systems.ssdpt import SsdptEnsembleConfig
from ssdpt.systems.ssdpt.system import Ssdpt
from ssdpt.types import Floats


class SsdptEnsemble(EnsembleSystem):
    """The dual-path Transformers of `ssdpt_ensemble.members`."""

    name: ClassVar[str] = "ssdpt-ensemble"
    origin: ClassVar[str] = "SSDPT-ensemble"
    member = Ssdpt

    @classmethod
    def member_configs(cls, config: Config) -> list[Config]:
        configs = []
        for number, member in enumerate(config.part(SsdptEnsembleConfig).members, start=1):
            tree = config.model_dump()
            tree["system"] = "ssdpt"
            tree["ssdpt"] |= {"blocks": member.blocks, "frames": member.frames}
            tree["ssdpt"]["mask"]["kind"] = member.mask
            configs.append(parse_config(tree, f"member {number} of ssdpt-ensemble"))
        return configs

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """The mean of the members' maps, each divided by its own mean, so that all count alike."""
        maps = [member.anomaly_map(frames, section) for member in self.members]
        return np.mean([_levelled(one) for one in maps], axis=0, dtype=np.float32)


def _levelled(one: Floats) -> Floats:
    mean = one.mean()
    return one / mean if mean > 0 else one
