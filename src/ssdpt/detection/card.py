"""The README.md of a model folder: what the model is, in text and figures."""

from __future__ import annotations

from ssdpt.config.encoder import EncoderConfig
from ssdpt.config.settings import AudioConfig
from ssdpt.detection.storage import StoredModel
from ssdpt.scoring.calibrate import Tail
from ssdpt.systems import system_class


def model_card(model: StoredModel) -> str:
    """The model card in Markdown, readable without any other knowledge of the folder."""
    calibration = model.calibration
    rows = [_row("all", calibration.pooled, model)]
    rows += [_row(name, tail, model) for name, tail in calibration.sections.items()]
    basis = (
        "every clip scored by a model that was not trained on it"
        if calibration.cross_fitted
        else "clips kept from training"
    )
    notes = "\n".join(f"- {note}" for note in model.notes) or "- none"
    name = str(model.description.get("name", model.config.system))
    front_end = model.description.get("front_end", f"{model.config.features.n_mels} mel bins")
    part = system_class(model.config.system).card_part(model.description)
    encoder = _encoder(model.config.part(EncoderConfig))
    system_part = "".join(f"\n{text}\n" for text in (part, encoder) if text)
    return f"""# {model.machine}: anomalous sound detector

Scores recordings of `{model.machine}` by how far they are from its normal sound.
Scores: higher = more anomalous. Made by ssdpt {model.version}.

    ssdpt score FOLDER recording.wav

## Data
{len(model.recordings_seen)} normal recordings ({model.description.get("clips", "?")} clips), \
sections {", ".join(model.sections)}. \
`data.json` lists their content digests, so that none of them is used to test the model.

## Settings
System `{name}`, preset `{model.config.preset}`, seed {model.config.seed}, \
{_sensor(model.config.audio)}, \
{front_end}, {model.description.get("parameters", "?")} parameters. \
All settings are in `config.json`.
{system_part}
## Thresholds
From {calibration.pooled.clips} normal clips ({basis}), for a false-alarm rate of \
{calibration.false_alarm_rate:g} (alert) and \
{calibration.false_alarm_rate * calibration.alarm_ratio:g} (alarm). Change them with \
`ssdpt threshold FOLDER --false-alarm-rate 0.01`.
{_confirmed(model)}
| section | clips | recordings | method | goodness of fit | alert above | alarm above |
| --- | --- | --- | --- | --- | --- | --- |
{chr(10).join(rows)}

## Notes of the fit
{notes}

## Where it holds
It knows this machine in the conditions it was recorded in. Another microphone position, room,
speed or load can look like a fault: record it as normal and give it to the model
(`ssdpt adapt`, where the system can), or fit again.
"""


def _encoder(encoder: EncoderConfig) -> str:
    """What the encoder in the folder is, and under which licence it may be passed on."""
    sidecar = encoder.sidecar
    if not encoder.file or sidecar is None:
        return ""
    return "\n".join(
        [
            "## Encoder",
            f"`encoder.onnx` (digest {encoder.digest}) is the work of others, copied from the file "
            f"that the fit was given. It turns samples at {sidecar.sample_rate} Hz into "
            f"{encoder.dimensions} values. Whoever passes this folder on passes it on too.",
            "",
            f"- Licence: {sidecar.licence or 'not named'}",
            f"- Source: {sidecar.source or 'not named'}",
        ]
    )


def _sensor(audio: AudioConfig) -> str:
    kind = "axis" if isinstance(audio.channel, str) else "channel"
    unit = f", {audio.unit} (full scale {audio.full_scale:g})" if audio.unit else ""
    return f"{audio.sample_rate} Hz, {kind} {audio.channel}{unit}"


def _confirmed(model: StoredModel) -> str:
    """Sentences on the days that thresholds rest on, each on a line of its own."""
    tails = {section: model.calibration.tail(section) for section in model.sections}
    lines = [
        f"Section {section}: commissioned on {done.date} with {done.clips} clips; before that, "
        f"alert above {done.alert_before:.4f} and alarm above {done.alarm_before:.4f}."
        for section, tail in tails.items()
        if (done := tail.commissioned) is not None
    ]
    if provisional := [section for section, tail in tails.items() if tail.provisional]:
        one = model.calibration.pooled.recordings == 1
        lines.append(
            f"Provisional for {', '.join(provisional)}: "
            + ("made of a single recording, and " if one else "")
            + "no other day has confirmed them. Commission the model with about ten normal clips: "
            "`ssdpt score FOLDER CLIPS --commission`."
        )
    return "".join(f"{line}\n" for line in lines)


def _row(name: str, tail: Tail, model: StoredModel) -> str:
    rate = model.calibration.false_alarm_rate
    alarm_rate = rate * model.calibration.alarm_ratio
    recordings = "unknown" if tail.recordings is None else tail.recordings
    note = " (extrapolated)" if alarm_rate < tail.smallest_observed_rate else ""
    return (
        f"| {name} | {tail.clips} | {recordings} | {tail.method} | p = {tail.fit_p_value:.2f} | "
        f"{tail.threshold(rate):.4f} | {tail.threshold(alarm_rate):.4f}{note} |"
    )
