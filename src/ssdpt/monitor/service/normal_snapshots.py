"""What is normal for a machine that is measured at intervals: learned, compared with, kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ssdpt.alarms.change_finder import MOST_FINDINGS, find_changes
from ssdpt.alarms.findings import Finding
from ssdpt.alarms.line_names import name_lines
from ssdpt.alarms.snapshot_judge import SnapshotJudge, SnapshotVerdict
from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.diagnosis.lines import DiagnosisLine
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.learning.snapshot_sounds import Sounds
from ssdpt.monitor.sources.snapshot import Snapshot
from ssdpt.types import Floats

_BASELINE, _SOUNDS = "snapshot_baseline", "snapshot_sounds"  # keys of what is kept


class NormalSnapshots:
    """The baseline of a machine, and what a changed axis is compared with to name the change."""

    def __init__(self, settings: MachineSettings) -> None:
        self._settings = settings
        self.judge: SnapshotJudge | None = None  # None until a baseline is learned
        self.sample: Floats | None = None  # (axes, samples); None after a restart
        self.other_scale = False  # whether there is a baseline of another unit or full scale
        self._sounds: Sounds = {}

    def adopt(self, judge: SnapshotJudge, sounds: Sounds, sample: Floats) -> None:
        """Be compared with a newly learned baseline from now on; `sample` (axes, samples)."""
        self.judge, self._sounds, self.sample = judge, sounds, sample
        self.other_scale = False

    def changes(
        self, verdict: SnapshotVerdict, last: Sequence[Snapshot], lines: Sequence[DiagnosisLine]
    ) -> tuple[Finding, ...]:
        """What the last snapshots of the axis show; then what the verdict knows beyond that.

        `lines` of the machine at its speed then; what lies on one is named.
        """
        reference = self._sounds.get(verdict.axis)
        if reference is None:
            return verdict.findings
        row = last[-1].axes.index(verdict.axis)
        pieces = [one.samples[row] for one in last]
        found = name_lines(find_changes(reference, pieces, alerted=True), lines, reference, pieces)
        codes = {finding.code for finding in found}
        further = tuple(one for one in verdict.findings if one.code not in codes)
        return (*found, *further)[:MOST_FINDINGS]

    def values(self) -> dict[str, Any]:
        """What was learned and must outlive a restart, by key."""
        if self.judge is None:
            return {}
        return {
            _BASELINE: self._scale() | self.judge.to_json(),
            _SOUNDS: {axis: sound.to_json() for axis, sound in self._sounds.items()},
        }

    def restore(self, get: Callable[[str], Any]) -> None:
        """The reverse of `values`.

        What was learned with another unit or full scale does not count.
        """
        kept = get(_BASELINE)
        if not kept:
            return
        if any(kept.get(name) != value for name, value in self._scale().items()):
            self.other_scale = True
            return
        self.judge = SnapshotJudge.from_json(kept, self._settings.alarm)
        sounds: dict[str, Any] = get(_SOUNDS) or {}
        self._sounds = {axis: SoundReference.from_json(one) for axis, one in sounds.items()}

    def _scale(self) -> dict[str, Any]:
        sensor = self._settings.sensor
        return {"unit": sensor.unit, "full_scale": sensor.scale}
