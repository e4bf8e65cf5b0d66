"""`ssdpt evaluate`: score labelled clips that no training saw, and write down how good it was."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ssdpt.errors import SsdptError
from ssdpt.evaluation.clips import LeftOut, ScoredClip, choose_clips, count, score_clips
from ssdpt.evaluation.dcase import Line, write_files
from ssdpt.evaluation.examples import Example, make_example, most_anomalous
from ssdpt.evaluation.outcome import Evaluation, Limits
from ssdpt.evaluation.report import render
from ssdpt.evaluation.tables import result_tables
from ssdpt.files import write_json, write_text, writing
from ssdpt.progress import SILENT, Reporter
from ssdpt.types import Recording

if TYPE_CHECKING:
    from ssdpt.data.layouts import Dataset
    from ssdpt.fleet import Fleet

Reference = Callable[[Recording], float]

SCORE_COLUMNS = (
    *("path", "machine", "section", "domain", "label"),
    *("value", "threshold", "level", "p_value", "parts", "notes"),
)


def evaluate(
    fleet: Fleet,
    dataset: Dataset,
    out: Path,
    *,
    seed: int = 0,
    reporter: Reporter = SILENT,
    examples: int = 3,
    references: Mapping[str, Reference] | None = None,
    command: str = "",
) -> Evaluation:
    """Judge `fleet` on the labelled clips of `dataset` it has not heard; write all files to `out`.

    `examples` clips a machine are shown in the report with picture and sound. `references` are
    simple scores (higher = more anomalous) measured on the same clips. `command` is quoted in the
    report as the way to make it again.
    """
    _require_writable(out)
    recordings, left_out = choose_clips(dataset, [fleet], reporter=reporter)
    if not recordings:
        raise SsdptError(_nothing_left(dataset, left_out))
    clips, failed = score_clips(fleet, recordings, reporter=reporter)
    left_out += failed
    if not clips:
        raise SsdptError(f"No clip could be scored; the first of them: {failed[0].reason}")
    for left in left_out:
        reporter.say(str(left))

    results = result_tables([clip.row for clip in clips], seed=seed)
    reference_scores = _reference_scores(clips, references or {}, reporter)
    notes = [*dataset.notes, *(note for machine in results.machines for note in machine.notes)]
    if not results.rates.anomalies:
        notes.append("No faulty clips: AUC and pAUC are not defined, only false alarms are told")
    for note in notes:
        reporter.warn(note)
    machines = {clip.recording.machine: fleet[clip.recording.machine] for clip in clips}
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
        limits={
            key: Limits(*machines[key[0]].calibration.thresholds(key[1]))
            for key in sorted({(c.recording.machine, c.recording.section) for c in clips})
        },
        systems={name: detector.system_name for name, detector in machines.items()},
        false_alarm_rates={name: machines[name].false_alarm_rate for name in machines},
        layout=dataset.layout,
        seed=seed,
        notes=tuple(notes),
        report=out / "report.html",
    )
    shown = _examples(evaluation, fleet, examples, reporter)
    _write(evaluation, shown, out, command)
    return evaluation


def _require_writable(out: Path) -> None:
    """Say at once that nothing can be written there, not after minutes of scoring."""
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()


def _nothing_left(dataset: Dataset, left_out: Sequence[LeftOut]) -> str:
    if not dataset.recordings:
        return "Nothing to evaluate: the data set holds no recordings"
    reasons = "; ".join(f"{len(left.names):,} {left.reason}" for left in left_out)
    return (
        f"Nothing to evaluate: none of {count(len(dataset.recordings), 'recording')} can be used "
        f"({reasons}); give labelled clips that the model was not trained on"
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


def _examples(
    evaluation: Evaluation, fleet: Fleet, number: int, reporter: Reporter
) -> dict[str, list[Example]]:
    by_machine: dict[str, list[ScoredClip]] = {}
    for clip in evaluation.clips:
        by_machine.setdefault(clip.recording.machine, []).append(clip)
    shown: dict[str, list[Example]] = {}
    with reporter.task("Drawing the report", total=number * len(by_machine)) as task:
        for machine, clips in by_machine.items():
            shown[machine] = []
            for clip in most_anomalous(clips, number):
                shown[machine].append(make_example(clip, fleet[machine]))
                task.advance(note=machine)
    return shown


def _write(
    evaluation: Evaluation, shown: Mapping[str, Sequence[Example]], out: Path, command: str
) -> None:
    lines = [
        Line(
            name=clip.recording.path.name,
            machine=clip.recording.machine,
            section=clip.recording.section,
            domain=clip.recording.domain,
            anomalous=clip.is_faulty,
            value=clip.score.value,
            decision=clip.score.is_anomalous,
        )
        for clip in evaluation.clips
    ]
    write_files(out, lines, evaluation.results, evaluation.layout)
    write_text(out / "scores.csv", _scores_text(evaluation))
    write_json(out / "metrics.json", evaluation.as_json())
    write_text(evaluation.report, render(evaluation, shown, command=command))


def _scores_text(evaluation: Evaluation) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*SCORE_COLUMNS, *evaluation.reference_scores])
    for index, clip in enumerate(evaluation.clips):
        known, score = clip.recording, clip.score
        writer.writerow(
            [
                *(known.path, known.machine, known.section, known.domain, known.label),
                *(score.value, score.threshold, score.level, score.p_value),
                json.dumps(dict(score.parts)),
                "; ".join(score.notes),
                *(values[index] for values in evaluation.reference_scores.values()),
            ]
        )
    return buffer.getvalue()
