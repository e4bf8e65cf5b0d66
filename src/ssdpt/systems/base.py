"""The contract of every detector: what implements it is in one place, nothing else knows its name.

A system learns from normal clips of one machine and scores a clip, both given as the frames of its
front end: log-mels for most, linear spectrograms or the samples themselves for some.
Reading sound, thresholds, model folders and everything else around it is in `ssdpt.detection`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ssdpt.common.arrays import Arrays
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import Config
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureView
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.logmel import LogMel
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.scoring.calibrate import Scores
from ssdpt.scoring.section_score import SectionScore
from ssdpt.systems import systems_that
from ssdpt.types import Domain, Floats, Recording

if TYPE_CHECKING:
    import torch

    from ssdpt.systems.parts.graph import SystemGraph
    from ssdpt.systems.parts.shared_reference import SharedReference

AfterEpoch = Callable[["System", int], None]


@dataclass(frozen=True, slots=True)
class FitContext:
    """Where a fit works, and what it may use."""

    work: Path  # checkpoints and logs; may be thrown away after the fit
    identity: str  # of settings and recordings
    resume: bool = False
    reporter: Reporter = SILENT
    name: str = "training"
    models: int = 1  # how many such fits the whole takes (cross-fitting), for time estimates
    # Called with the system as it is after each epoch, from 1 on; never changes what is learned.
    after_epoch: AfterEpoch | None = None
    # What is known of other machines, where it has been learned already.
    shared_reference: SharedReference | None = None


class System(ABC):
    """A detector of one machine's anomalous sounds. Scores: higher = more anomalous."""

    name: ClassVar[str]
    origin: ClassVar[str]  # what the paper calls it, or where it comes from
    needs: ClassVar[tuple[str, ...]] = ()  # what the recordings must have, in words
    fallback: ClassVar[str | None] = None  # the system that is fitted where this one refuses
    explains: ClassVar[bool] = True  # whether `anomaly_map` is there
    adapts: ClassVar[bool] = False  # whether `add_normals` is there
    embeds: ClassVar[bool] = False  # whether `embeddings` is there
    exports: ClassVar[bool] = False  # whether `graph` is there
    has_network: ClassVar[bool] = False  # whose weights an exported model can hold smaller
    uses_shared_reference: ClassVar[bool] = False  # whether it learns from other machines' clips
    trains_networks: ClassVar[bool] = False  # whether that takes networks of all machines
    has_held_out_scores: ClassVar[bool] = False  # whether `held_out_scores` is there
    requires_torch: ClassVar[bool] = True  # to score a clip
    averages_segments: ClassVar[bool] = False  # a clip's score is the mean of its timeline

    shared_reference: SharedReference | None = None  # of a system that uses one

    def __init__(self, config: Config, sections: tuple[str, ...]) -> None:
        self.config = config
        self.sections = sections  # machine IDs seen in training
        self.front_end = self.front_end_of(config)

    @classmethod
    def front_end_of(cls, config: Config) -> FrontEnd:
        """What turns samples into the frames that this system takes."""
        return LogMel(config.features, config.audio.sample_rate)

    @classmethod
    @abstractmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        """How many numbers it learns for a machine with this number of sections."""

    @classmethod
    def refusal(cls, recordings: Sequence[Recording], config: Config) -> str | None:
        """Why this system cannot learn from these recordings; None where it can."""
        return None

    @classmethod
    @abstractmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        """Learn from normal clips."""

    @abstractmethod
    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        """Score one clip, given as consecutive blocks of its frames (frames, bins).

        Blocks let a recording of hours pass in constant memory; cutting it into other blocks
        gives the same score. `section` is one of `self.sections`.
        """

    def score_sections(self, frames: Callable[[], Iterable[Floats]]) -> SectionScore:
        """How a clip scores as any section; `frames` gives its blocks, as often as it is asked."""
        return lambda section: self.score(frames(), section)

    def score_many(self, clips: Sequence[Floats]) -> list[SectionScore]:
        """The same for several clips, each given as all its frames (frames, bins)."""
        return [self.score_sections([frames].copy) for frames in clips]

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """Where in time and frequency a clip (frames, bins) is unusual, ≥ 0.

        Same frames; a column for each of the front end's `frequencies`, where it names any.
        """
        raise SsdptError(
            f"system {self.name} cannot show where in time and frequency a clip is unusual"
        )

    def embeddings(self, frames: Iterable[Floats], section: str) -> dict[str, Floats]:
        """What a clip, blocks of frames, is compared by: for each view, (rows, d).

        Clips are compared by Euclidean distances between their rows.
        """
        raise SsdptError(
            f"system {self.name} does not compare clips by embeddings; {systems_that('embeds')} do"
        )

    def held_out_scores(self) -> Scores:
        """Scores of the clips it was fitted on, by section and domain, as if each was left out.

        With a clip goes the recording that it belongs to (`ssdpt.data.recording_groups`), where
        there are several. Of a system that `has_held_out_scores`; for others, models are fitted
        without these clips.
        """
        raise NotImplementedError

    def known_recording_scores(self) -> Scores:
        """The same as if only the clip itself was left out; of a system that `adapts`."""
        return {}

    def fit_warnings(self) -> list[str]:
        """What a person should know of this fit."""
        return []

    def training_log(self) -> str:
        """JSON lines of training that went on before its own fit, such as that of networks."""
        return ""

    @classmethod
    def card_part(cls, description: dict[str, Any]) -> str:
        """What the model card says of a model with this `description`, as Markdown."""
        return ""

    def add_normals(self, clips: Iterable[Iterable[Floats]], section: str, domain: Domain) -> int:
        """Take further clips, blocks of frames each, as normal; how many clips of 10 s they were.

        Networks are not trained again.
        """
        raise SsdptError(
            f"system {self.name} cannot take up new normal clips without being fitted again; "
            f"{systems_that('adapts')} can"
        )

    def scores_among_normals(
        self, clips: Iterable[Iterable[Floats]], section: str, domain: Domain
    ) -> list[float]:
        """How clips of 10 s of these recordings would score if the others were added as normal.

        Nothing is changed. Of a system that `adapts`.
        """
        raise NotImplementedError

    def graph(self) -> SystemGraph:
        """The same scores as `score`, as a module that can be exported."""
        raise SsdptError(f"system {self.name} cannot be exported; {systems_that('exports')} can")

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything learned, for the model file."""

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """What `restore` needs besides the arrays, as plain JSON values."""

    @classmethod
    @abstractmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        """The reverse of `arrays` and `description`; KeyError or ValueError if they do not fit."""

    def to(self, device: torch.device) -> None:
        """Score on this device from now on; a system without a network stays where it is."""
        return

    @property
    @abstractmethod
    def segment_frames(self) -> int:
        """Frames of the longest segment; a shorter clip is repeated to fill one."""

    @property
    def on_gpu(self) -> bool:
        """Whether it scores on a GPU, which wants several clips at once."""
        return False

    @property
    def hop_seconds(self) -> float:
        """Seconds from one frame to the next."""
        return self.front_end.frame_seconds


def shows_log_mels(system: System) -> bool:
    """Whether its frames are log-mels in dB, or begin with them."""
    return system.front_end.mel_bins > 0
