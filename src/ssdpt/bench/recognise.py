"""How often a fault that was named once is recognised again, on a simulated plant.

Each fault of a machine is one defect that comes several times, and each time at another stage of
its growth. Of every event, all the others of its machine have their names. Right: it is recognised
as what it is. Wrong: as another fault of its machine. New: the same event when its own fault has
never been named, and any name is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.simulator.catalogue import MACHINES
from ssdpt.data.simulator.live import LiveMachine
from ssdpt.data.simulator.timebase import RATE
from ssdpt.errors import SsdptError
from ssdpt.monitor.events.signature import LIMIT, Signature, recognise, signature
from ssdpt.types import Floats

LIMITS = (0.7, 0.75, LIMIT, 0.85, 0.9)
_SPECIMENS = 2  # of each machine type
_NORMAL_CLIPS = 30
_FIRST_SECONDS, _STEP_SECONDS = 10.0, 8.0  # of growth before the recording, one more each time
_RECORDED_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class RecognitionRow:
    """What one event was taken for, at one limit; "" where it was not recognised."""

    machine: str
    fault: str
    limit: float
    name: str
    name_if_new: str


def bench_recognise(
    machines: Sequence[str],
    *,
    times: int = 4,
    seeds: Sequence[int] = (10, 11, 12),
    limits: Sequence[float] = LIMITS,
    reporter: Reporter = SILENT,
) -> dict[str, Any]:
    """Recognise `times` events of every fault of simulated machines."""
    unknown = [name for name in machines if name not in MACHINES]
    if unknown:
        raise SsdptError(
            f"no simulated machine is called '{unknown[0]}'; choose one of {', '.join(MACHINES)}"
        )
    chosen = tuple(machines) or tuple(MACHINES)
    rows: list[RecognitionRow] = []
    with reporter.task("Recognising faults", total=len(chosen) * _SPECIMENS * len(seeds)) as task:
        for seed in seeds:
            for machine in chosen:
                for section in range(_SPECIMENS):
                    events = _events(machine, section, seed, times)
                    rows += [
                        _row(machine, events, number, limit)
                        for number in range(len(events))
                        for limit in limits
                    ]
                    task.advance(note=machine)
    return {
        "seeds": list(seeds),
        "limit": LIMIT,
        "limits": {str(limit): _summary([r for r in rows if r.limit == limit]) for limit in limits},
        "machines": {
            machine: _summary([r for r in rows if (r.machine, r.limit) == (machine, LIMIT)])
            for machine in chosen
        },
    }


def _events(machine: str, section: int, seed: int, times: int) -> list[tuple[str, Signature]]:
    """Names of faults, and the signatures of their events."""
    events: list[tuple[str, Signature]] = []
    reference: SoundReference | None = None
    for fault in MACHINES[machine].faults:
        live = LiveMachine(machine, section, seed, fault=fault)
        if reference is None:
            reference = SoundReference.learn(live.normal_clips(_NORMAL_CLIPS), RATE)
        for number in range(times):
            events.append((fault, signature(reference, _recording(live, number), RATE)))
    return events


def _recording(live: LiveMachine, number: int) -> Floats:
    begin = round((_FIRST_SECONDS + _STEP_SECONDS * number) * RATE)
    end = begin + round(_RECORDED_SECONDS * RATE)
    blocks, length = [], 0
    for block in live.sound(take=10 + number, fault_after=0.0):
        blocks.append(block)
        length += len(block)
        if length >= end:
            break
    return np.concatenate(blocks)[begin:end]


def _row(
    machine: str, events: Sequence[tuple[str, Signature]], number: int, limit: float
) -> RecognitionRow:
    fault, own = events[number]
    others = [each for index, each in enumerate(events) if index != number]
    found = recognise(own, others, limit)
    if_new = recognise(own, [each for each in others if each[0] != fault], limit)
    return RecognitionRow(
        machine,
        fault,
        limit,
        "" if found is None else found.fault,
        "" if if_new is None else if_new.fault,
    )


def _summary(rows: Sequence[RecognitionRow]) -> dict[str, Any]:
    right = sum(row.name == row.fault for row in rows)
    named = sum(bool(row.name) for row in rows)
    return {
        "events": len(rows),
        "right": right / len(rows),
        "wrong": (named - right) / len(rows),
        "new_named": sum(bool(row.name_if_new) for row in rows) / len(rows),
    }
