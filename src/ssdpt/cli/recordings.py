"""The recordings that a command is given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ssdpt.cli.console import REPORTER

if TYPE_CHECKING:
    from ssdpt.fleet.fleet import Fleet
    from ssdpt.types import Recording


def recordings_at(
    paths: Sequence[Path], section: str | None, machine: str | None
) -> Iterator[Recording]:
    """The recordings at these paths; `section` and `machine` override file and folder names."""
    from ssdpt.data.layouts import UNLABELLED, read_layout

    for path in paths:
        dataset = read_layout(path)
        for note in dataset.notes:
            if not note.endswith(UNLABELLED):  # nobody who scores needs labels
                REPORTER.warn(note)
        for recording in dataset.recordings:
            yield replace(
                recording,
                section=recording.section if section is None else section,
                machine=recording.machine if machine is None else machine,
            )


def by_machine(fleet: Fleet, recordings: Iterable[Recording]) -> dict[str, list[Recording]]:
    """The recordings of each of the fleet's machines."""
    machines: dict[str, list[Recording]] = {}
    for recording in recordings:
        machines.setdefault(fleet.detector_for(recording).machine, []).append(recording)
    return machines
