"""The README.md of an exported model: what it is, how to use it, how it was verified."""

from __future__ import annotations

from ssdpt.runtime.manifest import FRAME_GRAPHS, GRAPHS, Manifest
from ssdpt.scoring.calibrate import Calibration


def export_card(manifest: Manifest, calibration: Calibration) -> str:
    """The model card in Markdown, readable without any other knowledge of the folder."""
    alert, alarm = calibration.thresholds()
    checked = manifest.verification
    graph, frame_graph = (names[manifest.runtime][0] for names in (GRAPHS, FRAME_GRAPHS))
    extra = "edge" if manifest.runtime == "onnx" else "openvino"
    parts = " + ".join(f"{weight:g} × {name}" for name, weight in manifest.parts.items())
    return f"""# {manifest.machine}: exported anomalous sound detector

Scores recordings of `{manifest.machine}` without torch. Scores: higher = more anomalous.
Exported by ssdpt {manifest.ssdpt_version} ({manifest.runtime}, {manifest.precision}).

    pip install 'ssdpt[{extra}]'
    ssdpt score FOLDER recording.wav

## The graph
`{graph}` takes `samples`: float32, (n,), one channel at {manifest.audio.sample_rate} Hz, full
scale = 1, any length. A clip shorter than {manifest.segment_seconds:.2f} s is repeated. It gives

- {", ".join(f"`{name}`" for name in manifest.parts)}: the parts of the score, (segments, sections);
- `score`: {parts}, (segments, sections);
- `clip`: the score of the whole clip, (sections,);
- `embedding`: (segments, E); `frames`: the log-mel, (frames, bins) in dB.

A segment is {manifest.segment_seconds:.3f} s, one every {manifest.hop_seconds:.3f} s. Sections, in
order: {", ".join(manifest.sections)}.

`{frame_graph}` is the same from the log-mel on: it takes `frames`, for sound that comes as a
stream.

## Thresholds
Alert above {alert:.4f}, alarm above {alarm:.4f}, for a false-alarm rate of
{calibration.false_alarm_rate:g}; `calibration.json` holds the table. Change them with
`ssdpt threshold FOLDER --false-alarm-rate 0.01`.

## Verification
{checked.clips} clips ({checked.source}) against torch: largest |Δscore| \
{checked.largest_difference:.2g}, largest |Δscore| / max(1, |score|) \
{checked.largest_relative:.2g} (bound {checked.bound:.2g}), {checked.decisions_differ} decisions \
differ.
{_loss(manifest)}"""


def _loss(manifest: Manifest) -> str:
    loss = manifest.loss
    if loss is None:
        return ""
    return (
        f"\nIn {manifest.precision}: AUC {loss.auc:.4f}, torch {loss.auc_torch:.4f} "
        f"({loss.normal_clips} normal and {loss.faulty_clips} faulty clips, {loss.clips}).\n"
    )
