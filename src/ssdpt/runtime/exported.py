"""An exported model judges clips: numpy and a runtime, neither torch nor scipy.

detector = ssdpt.load("exported/pump-17")
score = detector.score("today.wav")
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from ssdpt.config.settings import AudioConfig
from ssdpt.data import audio
from ssdpt.detection.scorer import Scorer, Source
from ssdpt.detection.storage import read_calibration, read_heard, write_calibration
from ssdpt.errors import SsdptError
from ssdpt.runtime.card import export_card
from ssdpt.runtime.chunks import chunks
from ssdpt.runtime.manifest import REFERENCES, Manifest, read_manifest
from ssdpt.runtime.session import Session, open_session
from ssdpt.scoring.aggregate import ClipScore, aggregate
from ssdpt.scoring.calibrate import Calibration
from ssdpt.scoring.gaussian import Gaussians
from ssdpt.scoring.section_score import SectionScore
from ssdpt.types import Floats

_EMBEDDING = "embedding"


class ExportedDetector(Scorer):
    """An exported model of one machine. Scores: higher = more anomalous."""

    def __init__(
        self,
        manifest: Manifest,
        session: Session,
        calibration: Calibration,
        heard: frozenset[str],
        gaussians: Gaussians | None = None,
    ) -> None:
        self.manifest = manifest
        self._session = session
        self._calibration = calibration
        self._heard = heard
        self._gaussians = gaussians

    @classmethod
    def load(cls, folder: Source) -> Self:
        """Read an exported model."""
        place = Path(folder)
        manifest = read_manifest(place)
        return cls(
            manifest,
            open_session(place, manifest),
            read_calibration(place),
            frozenset(read_heard(place)),
            _read_gaussians(place, manifest) if manifest.owners else None,
        )

    def outputs(self, path: Source) -> dict[str, np.ndarray]:
        """Everything the graph says of a whole recording, by name; memory grows with its length.

        The parts and `score` are (segments, sections), `clip` (sections,), `embedding`
        (segments, E), `frames` the log-mel (frames, bins) in dB.
        """
        samples = np.concatenate(list(self._sample_blocks(Path(path))))
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
        """Content digests of every recording that training or thresholds have heard."""
        return self._heard

    @property
    def audio_settings(self) -> AudioConfig:
        return self.manifest.audio

    @property
    def segment_seconds(self) -> float:
        return self.manifest.segment_seconds

    @property
    def explains(self) -> bool:
        return False  # the graph has no gradients

    def card(self) -> str:
        """What it is, in Markdown for people."""
        return export_card(self.manifest, self._calibration)

    def facts(self) -> dict[str, Any]:
        """What it is, as plain JSON values."""
        return {
            "version": self.manifest.ssdpt_version,
            "sections": list(self.sections),
            "system": {"name": self.system_name},
            "recordings": len(self._heard),
            "notes": list(self.manifest.notes),
            "export": self.manifest.model_dump(
                include={"runtime", "precision", "opset", "verification", "loss", "model_version"}
            ),
        }

    def save_calibration(self, folder: Source) -> None:
        """Write the thresholds into the folder the model was loaded from."""
        write_calibration(Path(folder), self._calibration, self.card())

    def _set_calibration(self, calibration: Calibration) -> None:
        self._calibration = calibration

    def _sample_blocks(self, path: Path, strict: bool = False) -> Iterator[Floats]:
        settings = self.audio_settings
        return audio.stream(path, settings.sample_rate, settings.channel, strict=strict)

    def _scorer(self, path: Path, strict: bool) -> SectionScore:
        """One pass over the recording gives the scores as all sections."""
        names = list(self.manifest.parts)
        wanted = [*names, *([_EMBEDDING] if self._gaussians else [])]
        along = {name: [array("f") for _ in self.sections] for name in names}
        total, count = np.zeros(self.manifest.features.n_mels), 0
        pieces = chunks(
            self._sample_blocks(path, strict), self.manifest.features, self.manifest.segment
        )
        for piece in pieces:
            found = self._session.run(piece.samples, wanted)
            for name in names:
                part = found[name][piece.segments]  # (segments, sections)
                for place, values in enumerate(along[name]):
                    values.extend(part[:, place].tolist())
            if self._gaussians:
                spectra = found[_EMBEDDING][piece.segments]
                total = total + spectra.sum(0, dtype=np.float64)
                count += len(spectra)

        def score_as(section: str) -> ClipScore:
            place = self.sections.index(section)
            steps = {
                "hop_seconds": self.manifest.hop_seconds,
                "segment_seconds": self.manifest.segment_seconds,
            }
            own = {name: along[name][place] for name in names}
            if self._gaussians:
                (values,) = own.values()
                return self._gaussians.clip_score(total / count, values, section, **steps)
            parts = {name: np.array(values, np.float32) for name, values in own.items()}
            return aggregate(parts, self.manifest.parts, **steps)

        return score_as


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
