"""What is said of an unusual sound: how it differs from the normal one."""

from __future__ import annotations

from collections.abc import Sequence

from ssdpt.alarms.change_finder import find_changes
from ssdpt.alarms.findings import Finding
from ssdpt.alarms.judge import MachineJudge
from ssdpt.alarms.line_names import name_lines
from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.diagnosis.lines import DiagnosisLine
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.capture.gaps import without_gaps
from ssdpt.monitor.events import descriptions
from ssdpt.types import Floats

_COMPARED_SECONDS = 10.0  # of sound that is compared with the normal one when an event begins
_LEVEL_SECONDS = 5  # whose median level is compared with the usual one


def changes_of(
    reference: SoundReference | None,
    samples: Floats,
    rate: int,
    lines: Sequence[DiagnosisLine] = (),
) -> tuple[Finding, ...]:
    """How a sound (samples,) at `rate` Hz differs from the normal one; () where that is unknown.

    `lines` of the machine at its speed then; what lies on one is named.
    """
    pieces = without_gaps(samples, rate)
    if reference is None or reference.sample_rate != rate or not pieces:
        return ()
    findings = find_changes(reference, pieces, alerted=True)
    return name_lines(findings, lines, reference, pieces)


def last_sound(capture: AudioCapture, now: float) -> Floats:
    """The last seconds (samples,) without what lies before a gap."""
    return capture.samples.between(max(now - _COMPARED_SECONDS, capture.begun), now)[0]


def message_of(
    judge: MachineJudge,
    capture: AudioCapture,
    usual_dbfs: float | None,
    findings: tuple[Finding, ...],
) -> str:
    """One sentence on what is unusual now; `usual_dbfs` where no operating point is known."""
    points, number = judge.baseline.points, judge.operating_point
    if points is not None and number:
        usual_dbfs = points.points[number - 1].level_dbfs
    title = "" if points is None or number is None else points.title(number)
    recent = [loudness.dbfs for _, loudness in list(capture.levels)[-_LEVEL_SECONDS:]]
    return descriptions.anomaly(title, descriptions.level_difference(recent, usual_dbfs), findings)
