"""What a machine is told of other machines before it is listened to itself.

Networks that can tell machines apart, and how clips of one and the same machine differ, in every
view. Both come from the machines at hand, or, where there are none, with the package: from the
simulated plant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from safetensors.numpy import load

from ssdpt.config.tree import Config
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureView
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import UNTRAINED, views_of
from ssdpt.scoring.section_model import Vectors
from ssdpt.scoring.whitening import covariance
from ssdpt.systems.base import Arrays, FitContext, arrays_under
from ssdpt.types import Domain, Recording

if TYPE_CHECKING:
    from ssdpt.systems.embedding_networks import EmbeddingNetworks

_ASSET = "shared_reference.safetensors"
_FEWEST_CLIPS = 100  # of all machines at hand; fewer tell less than the simulated plant

Group = tuple[str, str, Domain]  # machine, section, domain


@dataclass(frozen=True, slots=True)
class SharedReference:
    """Spread (d, d) within machines by view, and networks where there are any."""

    spread: dict[str, np.ndarray]
    ears: EmbeddingNetworks | None
    origin: str  # in words
    # How many clips the spread of a view rests on, where those of the machines to fit are among
    # them; of what ships with the package, or comes with a model, they are not.
    clips: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def learn(cls, machines: Sequence[FeatureView], config: Config, context: FitContext) -> Self:
        """From the normal clips of all machines at hand.

        Networks are trained where there are two machine IDs to tell apart; where clips are few,
        the spread of untrained views is the simulated plant's.
        """
        recordings = [item for clips in machines for item in clips.recordings]
        ears = None
        if config.system == "multiview" and teachable(recordings):
            from ssdpt.systems.embedding_networks import EmbeddingNetworks

            ears = EmbeddingNetworks.train(machines, config, context)
        front_end = TextureFrames(config.features, config.audio.sample_rate)
        enough = _enough(recordings)
        heard: list[tuple[Recording, Vectors]] = []
        with context.reporter.task("background", total=len(recordings)) as task:
            for clips in machines:
                for recording, frames in clips.clips():
                    found = views_of(frames, front_end) if enough else {}
                    if ears is not None:
                        found |= ears.embed(front_end.log_mels(frames))
                    heard.append((recording, found))
                    task.advance()
        return cls.of_clips(heard, ears, config)

    @classmethod
    def of_clips(
        cls,
        heard: Sequence[tuple[Recording, Vectors]],
        ears: EmbeddingNetworks | None,
        config: Config,
    ) -> Self:
        """From what the views say of the normal clips of all machines at hand."""
        groups: defaultdict[str, defaultdict[Group, list[np.ndarray]]]
        groups = defaultdict(lambda: defaultdict(list))
        enough = _enough([recording for recording, _ in heard])
        for recording, vectors in heard:
            own = recording.machine, recording.section, recording.domain
            for view, vector in vectors.items():
                if enough or view not in UNTRAINED:
                    groups[view][own].append(vector)
        spread = {
            view: covariance([np.array(group) for group in by_group.values()])
            for view, by_group in groups.items()
        }
        told = f"{len(heard)} clips of the machines at hand"
        if not enough:
            shipped = cls.shipped(config)
            spread |= {view: shipped.spread[view] for view in shipped.spread if view in UNTRAINED}
            told = shipped.origin
        return cls(spread, ears, told, {view: len(heard) for view in groups})

    def without(self, left_out: Vectors) -> dict[str, np.ndarray]:
        """The spread by view as if some of the clips it rests on had not been heard.

        `left_out` (clips, d) are their deviations from the mean of their machine ID and domain.
        """
        spread = dict(self.spread)
        for view, clips in self.clips.items():
            gone = np.asarray(left_out[view], np.float64)
            if len(gone) < clips:
                rest = clips * np.asarray(spread[view], np.float64) - gone.T @ gone
                spread[view] = rest / (clips - len(gone))
        return spread

    @classmethod
    def shipped(cls, config: Config, *, frozen: bool = False) -> Self:
        """The simulated plant's; with `frozen`, the networks that come with the package too.

        With settings of another front end it knows nothing.
        """
        arrays, description = _asset()
        told = "the simulated plant"
        heard_alike = (
            config.features.model_dump() == description["features"]
            and config.audio.sample_rate == description["sample_rate"]
        )
        spread = arrays_under(arrays, "spread/") if heard_alike else {}
        if not frozen:
            told = told if spread else "nothing but the machine itself (another front end)"
            return cls({view: spread[view] for view in UNTRAINED if spread}, None, told)
        try:
            if not spread:
                raise ValueError("another front end")
            ears = _ears(config, arrays, description["classes"])
        except (KeyError, ValueError) as error:
            raise SsdptError(
                "the networks that come with ssdpt are of its own features, sample rate and "
                "network settings; leave --frozen out, or the settings that differ"
            ) from error
        return cls(spread, ears, f"{told}, its networks frozen")

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, for the model file."""
        arrays = {f"spread/{view}": value.astype(np.float32) for view, value in self.spread.items()}
        if self.ears is not None:
            arrays |= {f"ears/{name}": value for name, value in self.ears.arrays().items()}
        return arrays

    def description(self) -> dict[str, Any]:
        """What `restore` needs beside the arrays."""
        return {"origin": self.origin, "classes": self.ears.classes if self.ears else 0}

    @classmethod
    def restore(cls, config: Config, arrays: Arrays, description: dict[str, Any]) -> Self:
        """The reverse of `arrays` and `description`; KeyError or ValueError if they do not fit."""
        classes = int(description["classes"])
        ears = _ears(config, arrays, classes) if classes else None
        return cls(arrays_under(arrays, "spread/"), ears, str(description["origin"]))


def _ears(config: Config, arrays: Arrays, classes: int) -> EmbeddingNetworks:
    from ssdpt.systems.embedding_networks import (
        EmbeddingNetworks,  # only here: the hand-made views need no torch
    )

    return EmbeddingNetworks.restore(config, arrays_under(arrays, "ears/"), classes)


def teachable(recordings: Sequence[Recording]) -> bool:
    """Whether there are two machine IDs, of whatever machines, for networks to tell apart.

    Attributes alone are not enough: a network that has heard one machine only learns how it runs,
    not what it sounds like.
    """
    return len({(recording.machine, recording.section) for recording in recordings}) > 1


def _enough(recordings: Sequence[Recording]) -> bool:
    """Whether clips of these recordings tell more of the untrained views than simulated ones."""
    others = len({(item.machine, item.section) for item in recordings}) > 1
    return others and len(recordings) >= _FEWEST_CLIPS


@cache
def _asset() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """What comes with the package: arrays, and what they were made with."""
    import json

    folder = resources.files("ssdpt.systems") / "assets"
    arrays = load((folder / _ASSET).read_bytes())
    description = json.loads((folder / "shared_reference.json").read_text("utf-8"))
    return {name: value.astype(np.float32) for name, value in arrays.items()}, description
