"""How often what an alert names is true, on a simulated plant whose faults are known.

A fault counts as detected above the alert threshold of a detector, and as named if the first
finding with a frequency lies within a third of an octave of one of the true frequencies: of a tone
its own, of a band or knocks the centre of their band. No finding counts as wrong. By chance: the
same finding compared with other faults of the same machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssdpt.alarms.change_finder import find_changes
from ssdpt.alarms.findings import Finding
from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import Config
from ssdpt.data.simulator import ClipName, SimulatedClip, clip
from ssdpt.data.simulator.catalogue import MACHINES
from ssdpt.data.simulator.timebase import RATE
from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.types import Clip, Label, Split

_SECTIONS = 3  # specimens of each machine type
_OCTAVES = 1 / 3


@dataclass(frozen=True, slots=True)
class FaultRow:
    """What was named of one detected fault."""

    machine: str
    fault: str
    hit: bool
    by_chance: float  # share of the other faults of the specimen that the name would fit as well
    code: str  # of the finding; empty where nothing was found
    rate_hit: bool | None  # of the repetition rate; None where none is named or none is true


@dataclass(frozen=True, slots=True)
class NormalRow:
    """Whether there were findings on one normal clip."""

    certain: bool  # without an alert
    at_alert: bool  # if there had been a false alert


def bench_findings(
    config: Config,
    machines: Sequence[str],
    *,
    train: int = 40,
    clips: int = 15,
    seeds: int = 3,
    reporter: Reporter = SILENT,
) -> dict[str, Any]:
    """Name the detected faults of simulated machines.

    For every seed, machine type and specimen: a detector of `config` and a reference learned from
    `train` normal clips; `clips` faulty clips, and as many other normal ones. Seeds count from that
    of the configuration.
    """
    unknown = [name for name in machines if name not in MACHINES]
    if unknown:
        raise SsdptError(
            f"no simulated machine is called '{unknown[0]}'; choose one of {', '.join(MACHINES)}"
        )
    chosen = tuple(machines) or tuple(MACHINES)
    numbers = range(config.seed, config.seed + seeds)
    faults: list[FaultRow] = []
    normals: list[NormalRow] = []
    with reporter.task("Naming faults", total=len(chosen) * _SECTIONS * seeds) as task:
        for seed in numbers:
            for machine in chosen:
                for section in range(_SECTIONS):
                    specimen = _Specimen(machine, section, seed)
                    faults += specimen.name_faults(config, train, clips)
                    normals += specimen.check_normals(clips)
                    task.advance(note=machine)
    return {
        "system": config.system,
        "seeds": list(numbers),
        "faulty": len(chosen) * _SECTIONS * seeds * clips,
        **_summary(faults),
        "codes": {
            code: sum(row.code == code for row in faults)
            for code in sorted({row.code for row in faults})
        },
        "normal_clips": len(normals),
        "normal_with_findings": sum(row.certain for row in normals),
        "normal_with_findings_at_alert": sum(row.at_alert for row in normals),
        "machines": {
            machine: {
                **_summary([row for row in faults if row.machine == machine]),
                "faults": {
                    fault: _summary(
                        [row for row in faults if (row.machine, row.fault) == (machine, fault)]
                    )
                    for fault in MACHINES[machine].faults
                },
            }
            for machine in chosen
        },
    }


class _Specimen:
    """One machine, what is normal for it, and its faults."""

    def __init__(self, machine: str, section: int, seed: int) -> None:
        self.machine, self.section, self.seed = machine, section, seed
        self._reference: SoundReference | None = None

    def name_faults(self, config: Config, train: int, clips: int) -> list[FaultRow]:
        """One row for every detected fault."""
        normal = [self._clip("train", "normal", index).samples for index in range(train)]
        self._reference = SoundReference.learn(normal, RATE)
        detector = Detector.fit(
            [self._sound(samples, number) for number, samples in enumerate(normal)],
            config=config,
            machine=self.machine,
        )
        faulty = [self._clip("test", "anomaly", index) for index in range(clips)]
        return [
            self._row(each, [other for other in faulty if other is not each])
            for number, each in enumerate(faulty)
            if detector.score(self._sound(each.samples, number)).is_anomalous
        ]

    def check_normals(self, clips: int) -> list[NormalRow]:
        """Of normal clips that nothing was learned from; call `name_faults` before."""
        normal = [self._clip("test", "normal", index).samples for index in range(clips)]
        return [
            NormalRow(
                bool(self._findings(samples, alerted=False)),
                bool(self._findings(samples, alerted=True)),
            )
            for samples in normal
        ]

    def _row(self, faulty: SimulatedClip, others: Sequence[SimulatedClip]) -> FaultRow:
        assert faulty.fault is not None
        findings = self._findings(faulty.samples, alerted=True)
        named = next((each for each in findings if frequency(each) is not None), None)
        hz = None if named is None else frequency(named)
        rates = [each.per_second for each in findings if each.per_second is not None]
        return FaultRow(
            machine=self.machine,
            fault=faulty.fault.name,
            hit=is_near(hz, faulty.frequencies),
            by_chance=float(np.mean([is_near(hz, other.frequencies) for other in others])),
            code="" if named is None else named.code,
            rate_hit=is_near(rates[0], faulty.rates) if rates and faulty.rates else None,
        )

    def _findings(self, samples: np.ndarray, *, alerted: bool) -> tuple[Finding, ...]:
        assert self._reference is not None
        return find_changes(self._reference, [samples], alerted=alerted)

    def _clip(self, split: Split, label: Label, index: int) -> SimulatedClip:
        name = ClipName(self.machine, self.section, "source", split, label, index)
        return clip(name, seed=self.seed)

    def _sound(self, samples: np.ndarray, number: int) -> Clip:
        return Clip(samples, RATE, section="00", name=f"{number:04d}")


def frequency(finding: Finding) -> float | None:
    """Of a tone, or the centre of a band, in Hz; None for the level."""
    if finding.low_hz is None or finding.high_hz is None:
        return finding.hz
    return float(np.sqrt(finding.low_hz * finding.high_hz))


def is_near(named: float | None, true: Iterable[float]) -> bool:
    """Whether a frequency or rate is within a third of an octave of one of the true ones."""
    return named is not None and any(abs(np.log2(named / each)) <= _OCTAVES for each in true)


def _summary(rows: Sequence[FaultRow]) -> dict[str, Any]:
    """Numbers of detected faults and of names, and shares; None where there is nothing."""
    rates = [row.rate_hit for row in rows if row.rate_hit is not None]
    return {
        "detected": len(rows),
        "named": sum(row.hit for row in rows),
        "share": float(np.mean([row.hit for row in rows])) if rows else None,
        "by_chance": float(np.mean([row.by_chance for row in rows])) if rows else None,
        "rates": len(rates),
        "rates_right": sum(rates),
    }
