"""The README.md of a model folder: what the model is, in text and figures."""

from __future__ import annotations

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
    system_part = f"\n{part}\n" if part else ""
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
{model.config.audio.sample_rate} Hz, channel {model.config.audio.channel}, \
{front_end}, {model.description.get("parameters", "?")} parameters. \
All settings are in `config.json`.
{system_part}
## Thresholds
From {calibration.pooled.clips} normal clips ({basis}), for a false-alarm rate of \
{calibration.false_alarm_rate:g} (alert) and \
{calibration.false_alarm_rate * calibration.alarm_ratio:g} (alarm). Change them with \
`ssdpt threshold FOLDER --false-alarm-rate 0.01`.

| section | clips | method | goodness of fit | alert above | alarm above |
| --- | --- | --- | --- | --- | --- |
{chr(10).join(rows)}

## Notes of the fit
{notes}

## Where it holds
It knows this machine in the conditions it was recorded in. Another microphone position, room,
speed or load can look like a fault: record it as normal and give it to the model
(`ssdpt adapt`, where the system can), or fit again.
"""


def _row(name: str, tail: Tail, model: StoredModel) -> str:
    rate = model.calibration.false_alarm_rate
    alarm_rate = rate * model.calibration.alarm_ratio
    note = " (extrapolated)" if alarm_rate < tail.smallest_observed_rate else ""
    return (
        f"| {name} | {tail.clips} | {tail.method} | p = {tail.fit_p_value:.2f} | "
        f"{tail.threshold(rate):.4f} | {tail.threshold(alarm_rate):.4f}{note} |"
    )
