"""The head of an exported model: everything that scoring needs except the graph.

manifest.json          what it is, how it was verified, file digests
model.onnx             the graph from samples to scores (ONNX), or
model.xml, model.bin   the same (OpenVINO)
frames.onnx            the graph from frames to scores, for live sound, or
frames.xml, frames.bin the same (OpenVINO)
references.safetensors what the score is computed from besides the graph (system gmm)
calibration.json       thresholds and p-values, as in a model folder
data.json              which recordings the model was made from, as in a model folder
README.md              the model card
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ssdpt.config.settings import AudioConfig, FeatureConfig
from ssdpt.detection.storage import (
    CALIBRATION,
    CARD,
    DATA,
    check_digests,
    check_format,
    check_oldest_format,
    check_replaceable,
    read_json,
)
from ssdpt.errors import SsdptError

FORMAT = 4  # 3: without models that cut recordings into clips
_OLDEST_FORMAT = 3  # that can be read; 2: without a graph of frames; 1: Gaussians of plain means
MANIFEST, REFERENCES = "manifest.json", "references.safetensors"
GRAPHS = {"onnx": ("model.onnx",), "openvino": ("model.xml", "model.bin")}
FRAME_GRAPHS = {"onnx": ("frames.onnx",), "openvino": ("frames.xml", "frames.bin")}

Runtime = Literal["onnx", "openvino"]
Precision = Literal["float32", "float16", "int8"]


class _Part(BaseModel):
    """Frozen; what a later version adds without a new format number is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Segment(_Part):
    """How a clip is cut."""

    frames: int = Field(ge=1)  # of one segment
    hop: int = Field(ge=1)  # frames from one segment to the next
    at_once: int = Field(ge=1)  # segments in one run of the graph


class AccuracyLoss(_Part):
    """What a smaller variant costs: the AUC of torch and of the variant on the same clips."""

    auc: float
    auc_torch: float
    normal_clips: int
    faulty_clips: int
    clips: str  # where they come from


class Verification(_Part):
    """How far the exported scores are from torch's.

    What has no other word is of `ssdpt score` and of the graph of frames; `samples` is of the graph
    of samples where a clip goes through it in one run, as in other programs.
    """

    clips: int
    largest_difference: float  # |Δscore|
    largest_relative: float  # |Δscore| / max(1, |score|)
    bound: float  # on the relative one; for a lossy variant the one it was measured to keep
    decisions_differ: int
    source: str  # where the clips come from
    of_samples: float | None = None  # the largest relative one; None: compared on no clip
    samples_clips: int | None = None  # compared so; the others were too long. None: not recorded
    samples_bound: float = 0.0  # wider where levels are computed in float32 and then rounded
    samples_decisions_differ: int = 0


class Manifest(_Part):
    """The content of manifest.json."""

    format: int = FORMAT
    ssdpt_version: str
    machine: str
    sections: tuple[str, ...] = Field(min_length=1)
    system: str
    preset: str
    model_version: str  # of the ssdpt that fitted the model
    audio: AudioConfig
    features: FeatureConfig
    front_end: Literal["log-mel", "texture"] = "log-mel"
    segment: Segment
    clip_frames: int | None = Field(None, ge=1)  # of a model that cuts recordings into clips
    averages_segments: bool  # whether a clip's score is the mean over its segments
    # Weight of every part in the score: one number, or one for each section.
    parts: dict[str, float | tuple[float, ...]] = Field(min_length=1)
    outputs: tuple[str, ...]  # of the graph, in order
    runtime: Runtime
    precision: Precision
    opset: int
    owners: tuple[str, ...] = ()  # the section of every Gaussian in references.safetensors
    verification: Verification
    loss: AccuracyLoss | None = None
    notes: tuple[str, ...] = ()  # of the fit
    digests: dict[str, str]

    @model_validator(mode="after")
    def _sections_fit(self) -> Self:
        count = len(self.sections)
        if any(isinstance(it, tuple) and len(it) != count for it in self.parts.values()):
            raise ValueError("parts must have a weight for each section")
        if not set(self.owners) <= set(self.sections):
            raise ValueError("owners must be sections")
        return self

    @property
    def frame_seconds(self) -> float:
        """From one frame to the next."""
        return self.features.hop_length / self.audio.sample_rate

    @property
    def hop_seconds(self) -> float:
        """From one segment to the next."""
        return self.segment.hop * self.frame_seconds

    @property
    def segment_seconds(self) -> float:
        return self.segment.frames * self.frame_seconds

    def weights_as(self, section: str) -> dict[str, float]:
        """The weight of every part in the score as one of the sections."""
        number = self.sections.index(section)
        return {
            name: weight if isinstance(weight, float) else weight[number]
            for name, weight in self.parts.items()
        }


def is_export(folder: Path) -> bool:
    """Whether `folder` is an exported model (it may still be damaged)."""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """Read and check the head, and that the files it names are those that were written."""
    head = read_json(folder / MANIFEST)
    check_format(folder, head, MANIFEST, FORMAT)
    if head["format"] < _OLDEST_FORMAT:
        raise SsdptError(f"{folder}: exported by an older ssdpt; export the model again")
    try:
        manifest = Manifest.model_validate(head)
    except ValidationError as error:
        name = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise SsdptError(
            f"{folder / MANIFEST}: damaged: '{name}' is missing or of the wrong kind; "
            "copy or export the model again"
        ) from error
    needed = {*graph_files(manifest.runtime), *([REFERENCES] if manifest.owners else [])}
    if missing := sorted(needed - set(manifest.digests)):
        raise SsdptError(
            f"{folder / MANIFEST}: damaged: no digest of {missing[0]}; "
            "copy or export the model again"
        )
    check_oldest_format(folder, manifest.format, manifest.system)
    check_digests(folder, manifest.digests)
    return manifest


def graph_files(runtime: Runtime) -> tuple[str, ...]:
    """The files of both graphs."""
    return (*GRAPHS[runtime], *FRAME_GRAPHS[runtime])


def check_export_folder(folder: Path) -> None:
    """Refuse to export over anything that is not an exported model."""
    graphs = (*graph_files("onnx"), *graph_files("openvino"))
    files = frozenset({MANIFEST, REFERENCES, CALIBRATION, DATA, CARD, *graphs})
    check_replaceable(folder, MANIFEST, files, FORMAT)
