"""`ssdpt evaluate`: score labelled clips that no training saw, and write down how good it was."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from scipy import stats

from ssdpt.common.files import write_json, write_text, writing
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.errors import SsdptError
from ssdpt.evaluation.clips import LeftOut, ScoredClip, choose_clips, count, score_clips
from ssdpt.evaluation.dcase import Line, write_files
from ssdpt.evaluation.examples import Example, make_example, most_anomalous
from ssdpt.evaluation.outcome import Evaluation, Limits, percent
from ssdpt.evaluation.reliability import COLUMNS, reliabilities
from ssdpt.evaluation.report import render
from ssdpt.evaluation.tables import Results, result_tables
from ssdpt.types import Recording

if TYPE_CHECKING:
    from ssdpt.data.layouts import Dataset
    from ssdpt.detection.detector import Detector
    from ssdpt.detection.scorer import Scorer
    from ssdpt.fleet.fleet import Fleet

Reference = Callable[[Recording], float]

_SURPRISING = 0.001  # chance of so many false alarms, below which it is told
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
    """Scorer `fleet` on the labelled clips of `dataset` it has not heard; write all files to `out`.

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
        limits={
            key: Limits(*machines[key[0]].calibration.thresholds(key[1]))
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
            f"{out}: {count(len(stale), 'file')} of an earlier evaluation left as found "
            f"({stale[0].name}{', …' if len(stale) > 1 else ''}); remove what you do not need"
        )
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


def _remarks(results: Results, detectors: Mapping[str, Scorer]) -> Iterator[str]:
    for name, detector in detectors.items():
        yield from (f"{name}: {remark}" for remark in detector.remarks)
    if not results.rates.anomalies:
        yield "No faulty clips: AUC and pAUC are not defined, only false alarms are told"
    for machine in results.machines:
        rates, asked = machine.rates, detectors[machine.machine].false_alarm_rate
        if stats.binom.sf(rates.false_alarms - 1, rates.normals, asked) < _SURPRISING:
            yield (
                f"{machine.machine}: {percent(rates.false_alarm_rate)} false alarms where "
                f"{percent(asked)} were set: normal sound here differs from what the model was "
                "calibrated on; fit it again with normal recordings made under these conditions"
            )
        yield from machine.notes
        for cell in machine.cells:
            if cell.is_rough:
                yield (
                    f"{machine.machine}, {cell.place}: only {cell.rates.normals} normal and "
                    f"{cell.rates.anomalies} faulty clips, so its figures are rough and their "
                    "intervals too narrow"
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
    """The model that judged each machine, by the machine's name in the data."""
    found: dict[str, Scorer] = {}
    for clip in clips:
        machine = clip.recording.machine
        if machine not in found and (detector := fleet.for_recording(clip.recording)) is not None:
            found[machine] = detector
    return found


def _examples(
    clips: Sequence[ScoredClip],
    detectors: Mapping[str, Scorer],
    number: int,
    reporter: Reporter,
) -> dict[str, list[Example]]:
    shown: dict[str, list[Example]] = {}
    with reporter.task("Drawing the report", total=number * len(detectors)) as task:
        for machine, detector in detectors.items():
            own = [clip for clip in clips if clip.recording.machine == machine]
            shown[machine] = []
            # An exported model scores but cannot show where a clip is odd.
            for clip in most_anomalous(own, number if detector.explains else 0):
                shown[machine].append(make_example(clip, cast("Detector", detector)))
                task.advance(note=machine)
    return shown


def _write(
    evaluation: Evaluation, shown: Mapping[str, Sequence[Example]], out: Path, command: str
) -> list[Path]:
    """Write every file; give the challenge's files in `out` that are of another evaluation."""
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
    written = write_files(out, lines, evaluation.results, evaluation.layout)
    write_text(out / "scores.csv", _scores_text(evaluation))
    write_text(out / "reliability.csv", _reliability_text(evaluation))
    write_json(out / "metrics.json", evaluation.as_json())
    write_text(evaluation.report, render(evaluation, shown, command=command))
    named = (out.glob(f"{kind}_*_test.csv") for kind in ("anomaly_score", "decision_result"))
    return sorted(path for paths in named for path in paths if path not in written)


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


def _reliability_text(evaluation: Evaluation) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for found in evaluation.reliability:
        writer.writerows(found.curve_rows())
    return buffer.getvalue()
