"""`ssdpt evaluate`: score labelled clips that were not used in training, and write a report."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ssdpt.common.files import write_json, write_text, writing
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.errors import SsdptError
from ssdpt.evaluation.clips import LeftOut, ScoredClip, choose_clips, count, score_clips
from ssdpt.evaluation.dcase import line_of, write_files
from ssdpt.evaluation.examples import (
    Examples,
    false_alarms,
    make_example,
    most_anomalous,
)
from ssdpt.evaluation.outcome import Evaluation, SectionThresholds, percent
from ssdpt.evaluation.reliability import COLUMNS, reliabilities
from ssdpt.evaluation.report import render
from ssdpt.evaluation.tables import MachineResult, Results, result_tables
from ssdpt.evaluation.verdict import grade, least_rate, misses_most
from ssdpt.types import Recording

if TYPE_CHECKING:
    from ssdpt.data.layouts import Dataset
    from ssdpt.detection.detector import Detector
    from ssdpt.detection.scorer import Scorer
    from ssdpt.fleet.fleet import Fleet

Reference = Callable[[Recording], float]

SCORE_COLUMNS = (
    *("path", "machine", "section", "domain", "label"),
    *("value", "threshold", "level", "p_value", "parts", "notes"),
)


def evaluate(
    fleet: Fleet,
    dataset: Dataset,
    out: str | PathLike[str],
    *,
    seed: int = 0,
    reporter: Reporter = SILENT,
    examples: int = 3,
    references: Mapping[str, Reference] | None = None,
    command: str = "",
) -> Evaluation:
    """Evaluate `fleet` on labelled clips that it was not trained on; write all files to `out`.

    The report shows `examples` clips per machine with spectrogram and sound. `references` are
    simple scores (higher = more anomalous) computed for the same clips. `command` is the command
    line quoted in the report.
    """
    out = Path(out)
    _require_writable(out)
    recordings, left_out = choose_clips(dataset, [fleet], reporter=reporter)
    if not recordings:
        raise SsdptError(_no_clips_message(dataset, left_out))
    clips, failed = score_clips(fleet, recordings, reporter=reporter)
    left_out += failed
    if not clips:
        raise SsdptError(f"No clip could be scored; the first error: {failed[0].reason}")
    for left in left_out:
        reporter.say(str(left))

    results = result_tables([clip.row for clip in clips], seed=seed)
    reference_scores = _reference_scores(clips, references or {}, reporter)
    machines = _detectors(fleet, clips)
    notes = [*dataset.notes, *_remarks(results, machines)]
    for note in notes:
        reporter.warn(note)
    evaluation = Evaluation(
        results=results,
        clips=tuple(clips),
        left_out=tuple(left_out),
        references={
            name: result_tables(
                [clip.row_with(value) for clip, value in zip(clips, values, strict=True)],
                seed=seed,
            )
            for name, values in reference_scores.items()
        },
        reference_scores=reference_scores,
        thresholds={
            key: SectionThresholds(*machines[key[0]].calibration.thresholds(key[1]))
            for key in sorted({(c.recording.machine, c.recording.section) for c in clips})
        },
        reliability=reliabilities(clips),
        systems={name: detector.system_name for name, detector in machines.items()},
        false_alarm_rates={name: machines[name].false_alarm_rate for name in machines},
        layout=dataset.layout,
        seed=seed,
        notes=tuple(notes),
        report=out / "report.html",
    )
    shown = _examples(clips, machines, examples, reporter)
    stale = _write(evaluation, shown, out, command)
    if stale:
        reporter.warn(
            f"{out}: {count(len(stale), 'file')} of an earlier evaluation kept "
            f"({stale[0].name}{', …' if len(stale) > 1 else ''}); delete them if not needed"
        )
    return evaluation


def _require_writable(out: Path) -> None:
    """Fail at once if `out` cannot be written, not after minutes of scoring."""
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()


def _no_clips_message(dataset: Dataset, left_out: Sequence[LeftOut]) -> str:
    if not dataset.recordings:
        return "Nothing to evaluate: the data set has no recordings"
    reasons = "; ".join(f"{len(left.names):,} {left.reason}" for left in left_out)
    return (
        f"Nothing to evaluate: none of {count(len(dataset.recordings), 'recording')} can be used "
        f"({reasons}); provide labelled clips that the model was not trained on"
    )


def _remarks(results: Results, detectors: Mapping[str, Scorer]) -> Iterator[str]:
    for name, detector in detectors.items():
        yield from (f"{name}: {remark}" for remark in detector.remarks)
    if not results.rates.anomalies:
        yield "No faulty clips: AUC and pAUC are not defined, only false alarms are reported"
    for machine in results.machines:
        rates, requested = machine.rates, detectors[machine.machine].false_alarm_rate
        if least_rate(rates) > requested:  # as the badge has it
            yield (
                f"{machine.machine}: {percent(rates.false_alarm_rate)} false alarms, but "
                f"{percent(requested)} were requested: normal sound here differs from what the "
                f"model was calibrated on; {_remedy(machine, detectors[machine.machine])}"
            )
        elif misses_most(rates) and grade(machine.means.auc) in ("excellent", "good"):
            detected = rates.anomalies - rates.misses
            yield (
                f"{machine.machine}: the scores separate well, but only {detected} of "
                f"{rates.anomalies} faulty clips are above the threshold; "
                f"{_lower(detectors[machine.machine])}"
            )
        yield from machine.notes
        for cell in machine.cells:
            if cell.is_rough:
                yield (
                    f"{machine.machine}, {cell.description}: only {cell.rates.normals} normal and "
                    f"{cell.rates.anomalies} faulty clips, so its metrics are uncertain and their "
                    "intervals too narrow"
                )


def _lower(detector: Scorer) -> str:
    """What a person can do about a threshold that is too high."""
    if detector.adapts:
        return (
            "give about ten normal clips of another day to `ssdpt score MODEL CLIPS --commission`, "
            "which sets it anew"
        )
    return "accept more false alarms (`ssdpt threshold MODEL --false-alarm-rate`)"


def _remedy(machine: MachineResult, detector: Scorer) -> str:
    """What a person can do about false alarms."""
    if not detector.adapts:
        return "fit it again with normal recordings made under these conditions"
    of_target = sum(cell.rates.false_alarms for cell in machine.cells if cell.domain == "target")
    if 2 * of_target > machine.rates.false_alarms:
        return (
            "if this is a new operating condition of the healthy machine, teach it to the model "
            "with some normal clips (`ssdpt adapt MODEL CLIPS`)"
        )
    return (
        "if this is the healthy machine on another day, commission the model with about ten normal "
        "clips (`ssdpt score MODEL CLIPS --commission`); for a new operating condition use "
        "`ssdpt adapt`"
    )


def _reference_scores(
    clips: Sequence[ScoredClip], references: Mapping[str, Reference], reporter: Reporter
) -> dict[str, tuple[float, ...]]:
    scores: dict[str, tuple[float, ...]] = {}
    for name, reference in references.items():
        with reporter.task(f"Scoring clips: {name}", total=len(clips)) as task:
            values = []
            for clip in clips:
                values.append(float(reference(clip.recording)))
                task.advance()
        scores[name] = tuple(values)
    return scores


def _detectors(fleet: Fleet, clips: Sequence[ScoredClip]) -> dict[str, Scorer]:
    """The model that scored each machine, by the machine's name in the data."""
    detectors: dict[str, Scorer] = {}
    for clip in clips:
        machine = clip.recording.machine
        if (
            machine not in detectors
            and (detector := fleet.for_recording(clip.recording)) is not None
        ):
            detectors[machine] = detector
    return detectors


def _examples(
    clips: Sequence[ScoredClip],
    detectors: Mapping[str, Scorer],
    number: int,
    reporter: Reporter,
) -> dict[str, Examples]:
    shown: dict[str, Examples] = {}
    with reporter.task("Drawing the report", total=2 * number * len(detectors)) as task:
        for machine, detector in detectors.items():
            if not detector.explains:  # an exported model scores a clip but has no anomaly map
                continue
            machine_clips = [clip for clip in clips if clip.recording.machine == machine]
            first = most_anomalous(machine_clips, number)
            further = [clip for clip in false_alarms(machine_clips) if clip not in first][:number]
            made = []
            for clip in (*first, *further):
                made.append(make_example(clip, cast("Detector", detector)))
                task.advance(note=machine)
            shown[machine] = Examples(tuple(made[: len(first)]), tuple(made[len(first) :]))
    return shown


def _write(
    evaluation: Evaluation, shown: Mapping[str, Examples], out: Path, command: str
) -> list[Path]:
    """Write every file; return the challenge files in `out` that belong to another evaluation."""
    lines = [line_of(clip.recording, clip.score) for clip in evaluation.clips]
    written = write_files(out, lines, evaluation.results, evaluation.layout)
    write_text(out / "scores.csv", _scores_text(evaluation))
    write_text(out / "reliability.csv", _reliability_text(evaluation))
    write_json(out / "metrics.json", evaluation.as_json())
    write_text(evaluation.report, render(evaluation, shown, command=command))
    existing = (out.glob(f"{kind}_*_test.csv") for kind in ("anomaly_score", "decision_result"))
    return sorted(path for paths in existing for path in paths if path not in written)


def _scores_text(evaluation: Evaluation) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*SCORE_COLUMNS, *evaluation.reference_scores])
    for index, clip in enumerate(evaluation.clips):
        recording, score = clip.recording, clip.score
        writer.writerow(
            [
                *(recording.path, recording.machine, recording.section),
                *(recording.domain, recording.label),
                *(score.value, score.threshold, score.level, score.p_value),
                json.dumps(dict(score.parts)),
                "; ".join(score.notes),
                *(values[index] for values in evaluation.reference_scores.values()),
            ]
        )
    return buffer.getvalue()


def _reliability_text(evaluation: Evaluation) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for reliability in evaluation.reliability:
        writer.writerows(reliability.curve_rows())
    return buffer.getvalue()
