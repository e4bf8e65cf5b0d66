"""A fitted model to an exported one: built, compared with torch clip by clip, then written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx
from safetensors.numpy import save

from ssdpt.common.files import digest, write_json, write_text
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.audio import content_digest
from ssdpt.detection.detector import Detector
from ssdpt.detection.storage import CALIBRATION, CARD, DATA
from ssdpt.errors import SsdptError
from ssdpt.runtime.card import export_card
from ssdpt.runtime.exported import ExportedDetector
from ssdpt.runtime.graph import OPSET, Arithmetic, onnx_model, without_front_end
from ssdpt.runtime.manifest import (
    FRAME_GRAPHS,
    GRAPHS,
    MANIFEST,
    REFERENCES,
    Manifest,
    Precision,
    Runtime,
    Segment,
    Verification,
    graph_files,
)
from ssdpt.runtime.openvino_core import openvino_core
from ssdpt.runtime.sounds import Spectra, synthesise
from ssdpt.runtime.variants import half_weights, int8_weights
from ssdpt.runtime.verify import BOUND, measure_loss, verify
from ssdpt.systems.parts.graph import SystemGraph
from ssdpt.types import Recording
from ssdpt.version import __version__

CLIPS = 20  # compared with torch
# Of synthesised clips; shorter than a segment, hardly longer, uneven, enough for several pieces.
_SECONDS, _ODD_SECONDS = 4.0, (0.05, 0.5, 2.345, 21.0)
_NOT_YET = Verification(
    clips=0, largest_difference=0, largest_relative=0, bound=BOUND, decisions_differ=0, source=""
)


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """What to export, and what to compare it on."""

    runtime: Runtime = "onnx"
    precision: Precision = "float32"
    allow_loss: bool = False
    clips: tuple[Recording, ...] = ()  # to compare; synthesised ones fill them up to 20
    labelled: tuple[Recording, ...] = ()  # for the AUC of a lossy variant; otherwise synthesised

    @property
    def lossy(self) -> bool:
        return self.precision != "float32"


def export_model(
    detector: Detector, folder: Path, settings: ExportSettings, reporter: Reporter = SILENT
) -> Manifest:
    """Write an exported model into the empty `folder`; raise where it is not the same model.

    `detector` must be on the CPU: its scores there are what the exported ones are compared with.
    """
    _check_settings(detector, settings)
    # OpenVINO computes float64 in float32 anyway.
    arithmetic: Arithmetic = "float64" if settings.runtime == "onnx" else "float32"
    model, graph = onnx_model(detector.system, arithmetic)
    if settings.precision == "float16":
        model = half_weights(model)
    elif settings.precision == "int8":
        model = int8_weights(model)
    of_frames = without_front_end(model, detector.config.features.hop_length)
    _write_graph(folder / GRAPHS[settings.runtime][0], model, settings.runtime)
    _write_graph(folder / FRAME_GRAPHS[settings.runtime][0], of_frames, settings.runtime)
    manifest = _write_rest(detector, folder, graph, model, settings)
    exported = ExportedDetector.load(folder)
    given = _given(detector, settings.clips, whole_clips=graph.clip_frames is not None)
    clips = (given + _to_compare(detector))[:CLIPS]
    source = f"{len(given)} given, {len(clips) - len(given)} synthesised"
    verification = verify(
        detector, exported, clips, source, lossy=settings.lossy, reporter=reporter
    )
    update: dict[str, object] = {"verification": verification}
    if settings.lossy:
        source = "given" if settings.labelled else "synthesised"
        labelled = settings.labelled or _labelled(detector)
        update["loss"] = measure_loss(detector, exported, labelled, source, reporter)
    manifest = manifest.model_copy(update=update)
    if settings.lossy and not settings.allow_loss:
        raise SsdptError(f"{summary(manifest)}; pass --allow-loss to accept this")
    write_json(folder / MANIFEST, manifest.model_dump(mode="json"))
    write_text(folder / CARD, export_card(manifest, detector.calibration))
    return manifest


def summary(manifest: Manifest) -> str:
    """One line: how the export compares with torch."""
    checked, loss = manifest.verification, manifest.loss
    text = (
        f"{manifest.machine}: {manifest.runtime} {manifest.precision}: on {checked.clips} clips "
        f"({checked.source}) |Δscore| / max(1, |score|) ≤ {checked.bound:.2g} "
        f"(largest {checked.largest_relative:.2g}), {_verdicts(checked.decisions_differ)}; "
    )
    if checked.of_samples is None:
        text += "graph of samples not compared: every clip is too long for one run of it"
    else:
        text += (
            f"graph of samples in one run, {checked.samples_clips} clips: "
            f"≤ {checked.samples_bound:.2g} (largest {checked.of_samples:.2g}), "
            f"{_verdicts(checked.samples_decisions_differ)}"
        )
    if loss is not None:
        text += f"; AUC {loss.auc:.4f} against {loss.auc_torch:.4f} ({loss.clips} clips)"
    return text


def _verdicts(differ: int) -> str:
    return f"{differ or 'no'} verdict{'s' if differ > 1 else ''} differ{'' if differ > 1 else 's'}"


def _check_settings(detector: Detector, settings: ExportSettings) -> None:
    if settings.lossy and not detector.system.has_network:
        raise SsdptError(
            f"{detector.machine}: system {detector.system_name} has no network whose weights "
            "could be smaller; export it in float32"
        )
    if settings.runtime == "openvino":
        import openvino  # noqa: F401  raises at once where it is not installed


def _write_graph(path: Path, model: onnx.ModelProto, runtime: Runtime) -> None:
    content = model.SerializeToString()
    if runtime == "onnx":
        path.write_bytes(content)
        return
    import openvino

    try:
        converted = openvino_core().read_model(content)
    except Exception as error:  # its errors have no base class of their own
        raise SsdptError(
            f"OpenVINO {openvino.__version__} cannot convert this graph: upgrade it, or export "
            f"with --format onnx ({' '.join(str(error).split())[:200]})"
        ) from error
    # What may be stored in float16 already is: the log-mel's constants must not be.
    openvino.save_model(converted, path, compress_to_fp16=False)


def _write_rest(
    detector: Detector,
    folder: Path,
    graph: SystemGraph,
    model: onnx.ModelProto,
    settings: ExportSettings,
) -> Manifest:
    """Everything except the graph; the manifest is not verified yet."""
    stored, references = detector.stored, graph.references
    files = [*graph_files(settings.runtime), DATA]
    if references is not None:
        (folder / REFERENCES).write_bytes(save(detector.system.arrays()))
        files.append(REFERENCES)
    write_json(folder / CALIBRATION, detector.calibration.to_json())
    write_json(folder / DATA, {"recordings": dict(stored.recordings_seen)})
    manifest = Manifest(
        ssdpt_version=__version__,
        machine=detector.machine,
        sections=detector.sections,
        system=detector.system_name,
        preset=detector.config.preset,
        model_version=stored.version,
        audio=detector.config.audio,
        features=detector.config.features,
        front_end=detector.front_end.name,
        clip_frames=graph.clip_frames,
        segment=Segment(
            frames=detector.system.segment_frames, hop=graph.segment_hop, at_once=graph.at_once
        ),
        averages_segments=detector.system.averages_segments,
        parts=graph.weights,
        outputs=tuple(item.name for item in model.graph.output),
        runtime=settings.runtime,
        precision=settings.precision,
        opset=OPSET,
        owners=references.owners if references is not None else (),
        verification=_NOT_YET,
        notes=stored.notes,
        digests={name: digest(folder / name) for name in files},
    )
    write_json(folder / MANIFEST, manifest.model_dump(mode="json"))
    return manifest


def _given(detector: Detector, clips: Sequence[Recording], *, whole_clips: bool) -> list[Recording]:
    """Some of the clips that were given, spread over all of them.

    A model of whole clips is not compared on those that it was made from: at no distance from
    itself, a clip's score is all rounding.
    """
    if whole_clips:
        clips = [clip for clip in clips if content_digest(clip) not in detector.fingerprint]
    step = max(1, len(clips) // CLIPS)
    return list(clips[::step][:CLIPS])


def _to_compare(detector: Detector) -> list[Recording]:
    """Clips of all lengths, some of them of an unknown ID."""
    seconds = [*_ODD_SECONDS, *[_SECONDS] * CLIPS][: CLIPS // 2]
    return synthesise(detector.config, _spectra(detector), (*detector.sections, ""), seconds)


def _labelled(detector: Detector) -> list[Recording]:
    """Normal and faulty clips of known sections."""
    seconds = [_SECONDS] * CLIPS
    return synthesise(detector.config, _spectra(detector), detector.sections, seconds)


def _spectra(detector: Detector) -> Spectra:
    spectra: Spectra = detector.stored.description.get("mean_spectra", {})
    return spectra
