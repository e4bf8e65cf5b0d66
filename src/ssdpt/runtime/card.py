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
    return f"""# {manifest.machine}: exported anomalous sound detector

Scores recordings of `{manifest.machine}` without torch. Scores: higher = more anomalous.
Exported by ssdpt {manifest.ssdpt_version} ({manifest.runtime}, {manifest.precision}).

    pip install 'ssdpt[{extra}]'
    ssdpt score FOLDER recording.wav

## The graph
`{graph}` takes `samples`: float32, (n,), one channel at {manifest.audio.sample_rate} Hz, full
scale = 1{_length(manifest)}.
A clip shorter than {manifest.segment_seconds:.2f} s is repeated. It gives

- {", ".join(f"`{name}`" for name in manifest.parts)}: the parts of the score, (segments, sections);
- `score`: {_sum(manifest)}, (segments, sections);
- `clip`: the score of the whole clip, (sections,);
- `embedding`: (segments, E); `frames`: {_frames(manifest)}, (frames, bins) in dB.
{_segments(manifest)} Sections, in order: {", ".join(manifest.sections)}.

`{frame_graph}` is the same from the frames on: it takes `frames`, for sound that comes as a
stream.

## Thresholds
Alert above {alert:.4f}, alarm above {alarm:.4f}, for a false-alarm rate of
{calibration.false_alarm_rate:g}; `calibration.json` holds the table. Change them with
`ssdpt threshold FOLDER --false-alarm-rate 0.01`.

## Verification
{checked.clips} clips ({checked.source}) against torch: largest |Δscore| \
{checked.largest_difference:.2g}, largest |Δscore| / max(1, |score|) \
{checked.largest_relative:.2g} (bound {checked.bound:.2g}), {checked.decisions_differ} decisions \
differ.{_of_samples(manifest)}
{_loss(manifest)}"""


def _length(manifest: Manifest) -> str:
    if manifest.clip_frames is None:
        return ", any length"
    seconds = manifest.audio.clip_seconds
    return f", one clip of {seconds:g} s, up to {1.5 * seconds:g} s; cut a longer recording"


def _sum(manifest: Manifest) -> str:
    """How the score is made from its parts."""
    weights = [manifest.weights_as(section) for section in manifest.sections]
    by_section = [
        " + ".join(f"{weight:.3g} × {name}" for name, weight in parts.items()) for parts in weights
    ]
    if len(set(by_section)) == 1:
        return by_section[0]
    named = zip(manifest.sections, by_section, strict=True)
    return "; ".join(f"section {section}: {text}" for section, text in named)


def _frames(manifest: Manifest) -> str:
    return "the log-mel" if manifest.front_end == "log-mel" else "log-mel, envelopes, fine spectrum"


def _segments(manifest: Manifest) -> str:
    """What the rows of the outputs are."""
    if manifest.clip_frames is None:
        return (
            f"\nA segment is {manifest.segment_seconds:.3f} s, one every "
            f"{manifest.hop_seconds:.3f} s."
        )
    return (
        "\nA segment is about a second, and the score of the clip is the mean over them. "
        "There is one `embedding` of the clip."
    )


def _of_samples(manifest: Manifest) -> str:
    """About the graph of samples, a clip in one run; older manifests do not tell it apart."""
    checked, graph = manifest.verification, GRAPHS[manifest.runtime][0]
    if checked.samples_clips is None:
        return ""
    if checked.of_samples is None:
        return (
            f" `{graph}` in one run was not compared: every clip was too long for it. Export again "
            f"with shorter `--clips` before another program uses it."
        )
    return (
        f" `{graph}`, {checked.samples_clips} of these clips in one run each: largest |Δscore| / "
        f"max(1, |score|) {checked.of_samples:.2g} (bound {checked.samples_bound:.2g}), "
        f"{checked.samples_decisions_differ} decisions differ."
    )


def _loss(manifest: Manifest) -> str:
    loss = manifest.loss
    if loss is None:
        return ""
    return (
        f"\nIn {manifest.precision}: AUC {loss.auc:.4f}, torch {loss.auc_torch:.4f} "
        f"({loss.normal_clips} normal and {loss.faulty_clips} faulty clips, {loss.clips}).\n"
    )
