"""What machines learn from each other: only from those of the same sample rate and sensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config
from ssdpt.data.audio import describe_rate
from ssdpt.detection.fitting import learn_shared_reference
from ssdpt.detection.recording_settings import settings_for
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.types import Recording

Kind = tuple[int, bool]  # sample rate in Hz, whether it is a vibration sensor


def learn_references(
    machines: Mapping[str, Sequence[Recording]],
    others: Sequence[Sequence[Recording]],
    config: Config,
    work: Path,
    *,
    resume: bool,
    strict: bool,
    reporter: Reporter,
) -> dict[str, SharedReference]:
    """The shared reference of every machine; those of one rate and sensor have the same one."""
    kinds = {machine: _kind(recordings, config) for machine, recordings in machines.items()}
    if len(set(kinds.values())) > 1:
        names = ", ".join(f"{machine} {_text(kind)}" for machine, kind in kinds.items())
        reporter.warn(
            f"machines learn only from others of the same sample rate and sensor: {names}"
        )
    of_others = [(_kind(recordings, config), recordings) for recordings in others]
    references: dict[str, SharedReference] = {}
    for kind in dict.fromkeys(kinds.values()):
        alike = [machine for machine in machines if kinds[machine] == kind]
        usable = [recordings for other, recordings in of_others if other == kind]
        if len(usable) < len(others):
            reporter.warn(
                f"{len(others) - len(usable)} of the other machines are not like "
                f"{', '.join(alike)}, {_text(kind)}: nothing is learned from them"
            )
        reference = learn_shared_reference(
            [machines[machine] for machine in alike],
            usable,
            config,
            work if len(set(kinds.values())) == 1 else work / f"{kind[0]}-{int(kind[1])}",
            resume=resume,
            strict=strict,
            reporter=reporter,
        )
        references |= dict.fromkeys(alike, reference)
    return references


def _kind(recordings: Sequence[Recording], config: Config) -> Kind:
    audio = settings_for(recordings, config).audio
    return audio.sample_rate, audio.vibration


def _text(kind: Kind) -> str:
    rate, vibration = kind
    return f"({describe_rate(rate)}, {'vibration sensor' if vibration else 'microphone'})"
