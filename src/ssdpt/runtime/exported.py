"""An exported model scores clips with numpy and a runtime, without torch and scipy.

detector = ssdpt.load("exported/pump-17")
score = detector.score("today.wav")
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from ssdpt.config.settings import AudioConfig
from ssdpt.data.audio import AudioReader
from ssdpt.detection.scorer import PathLike, Scorer
from ssdpt.detection.storage import read_calibration, read_recordings_seen, write_calibration
from ssdpt.errors import SsdptError
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.logmel import LogMel
from ssdpt.features.texture import TextureFrames
from ssdpt.runtime.card import export_card
from ssdpt.runtime.chunks import chunks
from ssdpt.runtime.frame_scorer import ExportedFrameScorer
from ssdpt.runtime.manifest import FRAME_GRAPHS, GRAPHS, REFERENCES, Manifest, read_manifest
from ssdpt.runtime.segment_outputs import SegmentOutputs
from ssdpt.runtime.session import Session, open_session
from ssdpt.runtime.whole_clips import longest_samples
from ssdpt.scoring.calibrate import Calibration
from ssdpt.scoring.gaussian import Gaussians
from ssdpt.scoring.section_score import SectionScore
from ssdpt.types import Sound

_FRAMES = "frames"  # an output of the graph of samples, the input of the graph of frames


class ExportedDetector(Scorer):
    """An exported model of one machine. Scores: higher = more anomalous."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        session: Session,
        calibration: Calibration,
        recordings_seen: frozenset[str],
        gaussians: Gaussians | None = None,
    ) -> None:
        self.manifest = manifest
        self._folder = folder
        self._session = session
        self._calibration = calibration
        self._recordings_seen = recordings_seen
        self._gaussians = gaussians

    @classmethod
    def load(cls, folder: PathLike) -> Self:
        """Read an exported model."""
        path = Path(folder)
        manifest = read_manifest(path)
        return cls(
            path,
            manifest,
            open_session(path, GRAPHS[manifest.runtime][0], manifest, manifest.outputs),
            read_calibration(path),
            frozenset(read_recordings_seen(path)),
            _read_gaussians(path, manifest) if manifest.owners else None,
        )

    def outputs(self, sound: Sound) -> dict[str, np.ndarray]:
        """All outputs of the graph for a whole recording, by name; memory grows with its length.

        The parts and `score` are (segments, sections), `clip` (sections,), `embedding`
        (segments, E), `frames` what the front end gives (frames, bins) in dB.
        """
        samples = self.audio(sound)
        if self.manifest.clip_frames is not None and len(samples) > longest_samples(self.manifest):
            raise SsdptError(
                f"{len(samples) / self.sample_rate:.0f} s are too long for one run of the graph, "
                f"which scores clips of about {self.manifest.audio.clip_seconds:g} s as a whole; "
                "use score(), which cuts a recording into such clips"
            )
        return self._session.run(samples, self.manifest.outputs)

    @property
    def machine(self) -> str:
        return self.manifest.machine

    @property
    def sections(self) -> tuple[str, ...]:
        """The machine IDs it knows."""
        return self.manifest.sections

    @property
    def calibration(self) -> Calibration:
        return self._calibration

    @property
    def system_name(self) -> str:
        return self.manifest.system

    @property
    def fingerprint(self) -> frozenset[str]:
        """Content digests of every recording that training or thresholds were made from."""
        return self._recordings_seen

    @property
    def digest(self) -> str:
        """Which model it is: by its graphs, what it was made from, and how it scores."""
        parts = [
            *(f"{name} {value}" for name, value in sorted(self.manifest.digests.items())),
            repr(self._calibration.pooled),
        ]
        return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()

    @property
    def audio_settings(self) -> AudioConfig:
        return self.manifest.audio

    @cached_property
    def front_end(self) -> FrontEnd:
        """What turns samples into frames, as the graph does."""
        kind = TextureFrames if self.manifest.front_end == TextureFrames.name else LogMel
        return kind(self.manifest.features, self.audio_settings.sample_rate)

    @cached_property
    def frame_scorer(self) -> ExportedFrameScorer:
        """What scores frames, for sound that comes as a stream; loads a graph of its own."""
        outputs = [name for name in self.manifest.outputs if name != _FRAMES]
        name = FRAME_GRAPHS[self.manifest.runtime][0]
        session = open_session(self._folder, name, self.manifest, outputs)
        return ExportedFrameScorer(self.manifest, self.front_end, session, self._gaussians)

    @property
    def segment_seconds(self) -> float:
        return self.manifest.segment_seconds

    @property
    def model_bytes(self) -> int:
        return sum(file.stat().st_size for file in self._folder.iterdir() if file.is_file())

    @property
    def explains(self) -> bool:
        return False  # the graph has no gradients

    def card(self) -> str:
        """The model card, in Markdown."""
        return export_card(self.manifest, self._calibration)

    def facts(self) -> dict[str, Any]:
        """What it is, as plain JSON values."""
        return {
            "version": self.manifest.ssdpt_version,
            "sections": list(self.sections),
            "system": {"name": self.system_name},
            "recordings": len(self._recordings_seen),
            "notes": list(self.manifest.notes),
            "export": self.manifest.model_dump(
                include={"runtime", "precision", "opset", "verification", "loss", "model_version"}
            ),
        }

    def save_calibration(self, folder: PathLike) -> None:
        """Write the thresholds into the folder the model was loaded from."""
        write_calibration(Path(folder), self._calibration, self.card())

    def _set_calibration(self, calibration: Calibration) -> None:
        self._calibration = calibration

    def _section_score(self, reader: AudioReader, strict: bool) -> SectionScore:
        """One pass over the recording gives the scores as all sections."""
        samples = self._sample_blocks(reader, strict)
        if self.manifest.clip_frames is not None:
            return self.frame_scorer.score_clips(self.front_end.stream(samples))
        outputs = SegmentOutputs(self.manifest, self._gaussians)
        for piece in chunks(samples, self.manifest.features, self.manifest.segment):
            outputs.add(self._session.run(piece.samples, outputs.names), piece.segments)
        return outputs.score_as


def _read_gaussians(folder: Path, manifest: Manifest) -> Gaussians:
    try:
        arrays = load_file(folder / REFERENCES)
        return Gaussians(
            arrays["means"], arrays["precisions"], arrays["log_weights"], manifest.owners
        )
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise SsdptError(
            f"{folder / REFERENCES}: damaged; copy or export the model again"
        ) from error
