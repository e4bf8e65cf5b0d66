"""What commissioning does to false alarms and detections, on labelled clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdpt.types import Domain, Recording

if TYPE_CHECKING:
    from ssdpt.detection.detector import Detector


@dataclass(frozen=True, slots=True)
class Counts:
    """Clips above the alert threshold."""

    normals: int
    anomalies: int


@dataclass(frozen=True, slots=True)
class CommissionedResult:
    """One section at one requested false-alarm rate."""

    section: str
    rate: float
    normals: int  # clips that are judged
    anomalies: int
    before: Counts
    after: Counts


def measure_commissioning(
    detector: Detector,
    recordings: Sequence[Recording],
    rates: Sequence[float],
    *,
    clips: int = 10,
    faulty: int = 0,
    draw: int | None = None,
    domain: Domain = "source",
) -> tuple[list[CommissionedResult], list[str]]:
    """Commission with the first normal test clips of every section, and judge the others.

    A person vouches for the first `clips` clips, in the order of their names: this is the only
    label that is used for anything but counting. With `draw`, the seed of a random order, they are
    others; `faulty` of them are faults that the person did not notice. Gives the results, and the
    questions that a person would have been asked. `detector` is changed.
    """
    test = sorted(
        (item for item in recordings if item.split == "test" and item.domain == domain),
        key=lambda item: item.path.name,
    )
    first: list[Recording] = []
    judged: dict[str, list[Recording]] = {}
    for section in detector.sections:
        of_section = [item for item in test if item.section == section]
        normal, anomalies = (
            [item for item in of_section if item.label == label] for label in ("normal", "anomaly")
        )
        if draw is not None:
            np.random.default_rng(draw).shuffle(normal)
        first += normal[: clips - faulty]
        first += [replace(item, label="") for item in anomalies[:faulty]]
        judged[section] = normal[clips:] + anomalies[faulty:]
    before = _counts(detector, judged, rates)
    questions: list[str] = []

    def vouched_for(question: str) -> bool:
        questions.append(question)
        return True

    detector.commission(first, domain=domain, confirm=vouched_for)
    after = _counts(detector, judged, rates)
    results = [
        CommissionedResult(
            section,
            rate,
            sum(item.label == "normal" for item in judged[section]),
            sum(item.label == "anomaly" for item in judged[section]),
            before[section, rate],
            after[section, rate],
        )
        for section in detector.sections
        for rate in rates
    ]
    return results, questions


def _counts(
    detector: Detector, judged: dict[str, list[Recording]], rates: Sequence[float]
) -> dict[tuple[str, float], Counts]:
    """Clips above the alert threshold by section and requested rate."""
    counts = {}
    for section, recordings in judged.items():
        tail = detector.calibration.tail(section)
        scored = [(item.label, detector.score(item).value) for item in recordings]
        for rate in rates:
            above = [label for label, value in scored if value > tail.threshold(rate)]
            counts[section, rate] = Counts(above.count("normal"), above.count("anomaly"))
    return counts
