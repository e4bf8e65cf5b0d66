"""What is known of other machines before one machine is fitted.

Networks that can tell machines apart, and how clips of one and the same machine differ, in every
view. Both come from the machines being fitted. If there are too few, they come with the package:
from the simulated plant.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from safetensors.numpy import load

from ssdpt.common.arrays import Arrays, arrays_under
from ssdpt.config.tree import Config
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureView
from ssdpt.features.encoded_texture import texture_frames
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import UNTRAINED, views_of
from ssdpt.scoring.section_model import ClipViews
from ssdpt.scoring.whitening import shrunk_covariance
from ssdpt.systems import system_class
from ssdpt.systems.base import FitContext
from ssdpt.systems.texture import TextureConfig
from ssdpt.types import Domain, Floats, Recording

if TYPE_CHECKING:
    from ssdpt.systems.parts.embedding_networks import EmbeddingNetworks

_ASSET = "shared_reference.safetensors"
_FEWEST_CLIPS = 100  # of all machines being fitted; fewer show less than the simulated plant
_MOST_KEPT = 20_000  # clips whose views wait for the fit of their machine: some 300 MB

Group = tuple[str, str, Domain]  # machine, section, domain


class ComputedViews:
    """Views of clips that were computed already, until the fit of their machine takes them."""

    def __init__(self) -> None:
        self._views: dict[bytes, ClipViews] = {}

    def keep(self, frames: Floats, views: ClipViews) -> None:
        """Keep the views of a clip (frames, values); there may be too many to keep them all."""
        if len(self._views) < _MOST_KEPT:
            self._views[_digest(frames)] = views

    def __len__(self) -> int:
        return len(self._views)

    def take(self, frames: Floats) -> ClipViews | None:
        """The views of a clip, which are not kept any longer; None where they were not kept."""
        return self._views.pop(_digest(frames), None) if self._views else None


@dataclass(frozen=True, slots=True)
class SharedReference:
    """Spread (d, d) within machines by view, and networks where there are any."""

    spread: dict[str, np.ndarray]
    networks: EmbeddingNetworks | None
    origin: str  # where it comes from, shown in the model card
    sample_rate: int  # Hz, of the recordings behind it
    vibration: bool  # whether a sensor on the machine measured them, not a microphone
    # Number of rows behind the spread of a view, if clips of the machines being fitted are among
    # them; empty if the spread comes with the package or with a model.
    rows: Mapping[str, int] = field(default_factory=dict)
    shrinkage: Mapping[str, float] = field(default_factory=dict)  # of these covariances
    computed: ComputedViews = field(default_factory=ComputedViews, compare=False, repr=False)

    @classmethod
    def learn(
        cls,
        machines: Sequence[FeatureView],
        config: Config,
        context: FitContext,
        others: Sequence[FeatureView] = (),
    ) -> Self:
        """From the normal clips of the machines to be fitted, and of others.

        Networks are trained where there are two machine IDs to tell apart; where clips are few,
        the spread of untrained views is the simulated plant's.
        """
        all_machines = [*machines, *others]
        recordings = [item for clips in all_machines for item in clips.recordings]
        networks = None
        if system_class(config.system).trains_networks and can_train_networks(recordings):
            from ssdpt.systems.parts.embedding_networks import EmbeddingNetworks

            networks = EmbeddingNetworks.train(all_machines, config, context)
        front_end = texture_frames(config)
        computed = ComputedViews()
        if networks is None and not _enough(recordings):
            return cls.of_clips([(item, {}) for item in recordings], None, config, computed)
        described: list[tuple[Recording, ClipViews]] = []
        with context.reporter.task("shared reference", total=len(recordings)) as task:
            for number, clips in enumerate(all_machines):
                for recording, frames in clips.clips():
                    views = all_views(frames, front_end, networks, config)
                    described.append((recording, views))
                    if number < len(machines):
                        computed.keep(frames, views)
                    task.advance()
        return cls.of_clips(described, networks, config, computed)

    @classmethod
    def of_clips(
        cls,
        clips: Sequence[tuple[Recording, ClipViews]],
        networks: EmbeddingNetworks | None,
        config: Config,
        computed: ComputedViews | None = None,
    ) -> Self:
        """From the views of the normal clips of all machines."""
        groups: defaultdict[str, defaultdict[Group, list[np.ndarray]]]
        groups = defaultdict(lambda: defaultdict(list))
        enough = _enough([recording for recording, _ in clips])
        for recording, views in clips:
            group = recording.machine, recording.section, recording.domain
            for view, rows in views.items():
                if enough or view not in UNTRAINED:
                    groups[view][group].append(rows)
        spread, shrinkage, counts = {}, {}, {}
        for view, by_group in groups.items():
            rows_of_view = [np.concatenate(rows) for rows in by_group.values()]
            spread[view], shrinkage[view] = shrunk_covariance(rows_of_view)
            counts[view] = sum(map(len, rows_of_view))
        origin = f"{len(clips)} clips of the machines being fitted"
        if not enough:
            shipped = cls.shipped(config)
            spread |= {view: shipped.spread[view] for view in shipped.spread if view in UNTRAINED}
            origin = shipped.origin
        kept = ComputedViews() if computed is None else computed
        audio = config.audio
        return cls(
            spread, networks, origin, audio.sample_rate, audio.vibration, counts, shrinkage, kept
        )

    def agrees_with(self, config: Config) -> bool:
        """Whether sample rate and kind of sensor are those of a machine with these settings."""
        audio = config.audio
        return (self.sample_rate, self.vibration) == (audio.sample_rate, audio.vibration)

    def without(self, removed: Mapping[str, tuple[np.ndarray, int]]) -> dict[str, np.ndarray]:
        """The spread by view as it would be without some of its rows.

        `removed`, by view: their part (d, d) of the scatter around the means of machine IDs and
        domains, and how many they are.
        """
        spread = dict(self.spread)
        for view, (scatter, rows) in removed.items():
            if rows < self.rows[view]:
                # What was left of it when the covariance was drawn towards its mean variance.
                share = self.shrinkage[view]
                even = np.trace(scatter) / len(scatter) * np.eye(len(scatter))
                total = self.rows[view] * np.asarray(spread[view], np.float64)
                total -= (1 - share) * scatter + share * even
                spread[view] = total / (self.rows[view] - rows)
        return spread

    @classmethod
    def shipped(cls, config: Config, *, frozen: bool = False) -> Self:
        """The simulated plant's; with `frozen`, the networks that come with the package too.

        It is sound at 16 kHz: for a vibration sensor or settings of another front end it is empty.
        """
        arrays, description = _asset()
        origin, audio = "the simulated plant", config.audio
        same_front_end = (
            config.features.model_dump() == description["features"]
            and audio.sample_rate == description["sample_rate"]
            and not audio.vibration
        )
        spread = arrays_under(arrays, "spread/") if same_front_end else {}
        if not frozen:
            if not spread:
                kind = "vibration sensor" if audio.vibration else "microphone"
                origin = (
                    f"this machine's recordings alone: no reference is for a {kind} at "
                    f"{audio.sample_rate} Hz with these features"
                )
            untrained = {view: spread[view] for view in UNTRAINED if spread}
            return cls(untrained, None, origin, audio.sample_rate, audio.vibration)
        try:
            if not spread:
                raise ValueError("another front end")
            networks = _networks(config, arrays, description["classes"])
        except (KeyError, ValueError) as error:
            raise SsdptError(
                "the networks that come with ssdpt were trained with other features, sample rate, "
                "sensor or network settings; leave --frozen out, or the settings that differ"
            ) from error
        origin = f"{origin}, its networks frozen"
        return cls(spread, networks, origin, audio.sample_rate, audio.vibration)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, for the model file."""
        arrays = {f"spread/{view}": value.astype(np.float32) for view, value in self.spread.items()}
        if self.networks is not None:
            arrays |= {f"networks/{name}": value for name, value in self.networks.arrays().items()}
        return arrays

    def description(self) -> dict[str, Any]:
        """What `restore` needs besides the arrays."""
        return {"origin": self.origin, "classes": self.networks.classes if self.networks else 0}

    @classmethod
    def restore(cls, config: Config, arrays: Arrays, description: dict[str, Any]) -> Self:
        """The reverse of `arrays` and `description`; KeyError or ValueError if they do not fit."""
        classes = int(description["classes"])
        networks = _networks(config, arrays, classes) if classes else None
        spread, audio = arrays_under(arrays, "spread/"), config.audio
        origin = str(description["origin"])
        return cls(spread, networks, origin, audio.sample_rate, audio.vibration)


def all_views(
    frames: Floats,
    front_end: TextureFrames,
    networks: EmbeddingNetworks | None,
    config: Config,
) -> dict[str, np.ndarray]:
    """A clip (frames, values) in the untrained views and in those of the networks."""
    views = views_of(frames, front_end, config.part(TextureConfig).seconds)
    return views if networks is None else views | networks.embed(front_end.log_mels(frames))


def can_train_networks(recordings: Sequence[Recording]) -> bool:
    """Whether there are two machine IDs, of whatever machines, for networks to tell apart.

    Attributes alone are not enough: from one machine a network learns how that runs, not what
    distinguishes its sound.
    """
    return len({(recording.machine, recording.section) for recording in recordings}) > 1


def _networks(config: Config, arrays: Arrays, classes: int) -> EmbeddingNetworks:
    # Imported only here: the hand-made views need no torch.
    from ssdpt.systems.parts.embedding_networks import EmbeddingNetworks

    return EmbeddingNetworks.restore(config, arrays_under(arrays, "networks/"), classes)


def _enough(recordings: Sequence[Recording]) -> bool:
    """Whether these recordings give a better spread of untrained views than simulated ones."""
    others = len({(item.machine, item.section) for item in recordings}) > 1
    return others and len(recordings) >= _FEWEST_CLIPS


def _digest(frames: Floats) -> bytes:
    """By content: two fits read the same clip from different places of the feature cache."""
    return hashlib.blake2b(np.ascontiguousarray(frames).tobytes(), digest_size=16).digest()


@cache
def _asset() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """What comes with the package: arrays, and what they were made with."""
    folder = resources.files("ssdpt.systems") / "assets"
    arrays = load((folder / _ASSET).read_bytes())
    description = json.loads((folder / "shared_reference.json").read_text("utf-8"))
    return {name: value.astype(np.float32) for name, value in arrays.items()}, description
