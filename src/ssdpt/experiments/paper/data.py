"""The recordings of an experiment: which train, which test, and what is missing or uneven."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ssdpt.common.files import digest
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.config.tree import Config
from ssdpt.data.layouts import read_layout
from ssdpt.data.simulator.preset import ALL_MACHINES
from ssdpt.data.split import identity, training_split
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureSet, FeatureView, features_of
from ssdpt.features.front_end import FrontEnd
from ssdpt.systems import system_class
from ssdpt.types import Recording


@dataclass(frozen=True)
class MachineData:
    """One machine type."""

    machine: str
    train: tuple[Recording, ...]  # normal ones
    test: tuple[Recording, ...]  # labelled ones of sections that are trained
    fingerprint: str  # of all of them, by content

    @property
    def sections(self) -> set[str]:
        return {recording.section for recording in self.train}


@dataclass(frozen=True)
class PaperData:
    """Every machine type at hand."""

    by_machine: dict[str, MachineData]
    notes: tuple[str, ...]
    told: set[str] = field(default_factory=set)  # of unreadable files, once for all cells

    @property
    def machines(self) -> tuple[str, ...]:
        return tuple(self.by_machine)

    def trained_with(self, machine: str, config: Config) -> tuple[str, ...]:
        """The machines whose clips train the network for `machine`: usually itself alone.

        A classifier has nothing to tell apart where a machine type has one section; there all
        machine types at hand are its classes.
        """
        alone = system_class(config.system).refusal(self.by_machine[machine].train, config)
        return (machine,) if alone is None else self.machines

    def fingerprint(self, machines: Sequence[str]) -> str:
        """Of the recordings of several machines."""
        marks = "".join(self.by_machine[name].fingerprint for name in machines)
        return hashlib.blake2b(marks.encode(), digest_size=16).hexdigest()

    def paths(self, machines: Sequence[str]) -> Iterator[Path]:
        """Every file that training and testing read."""
        for name in machines:
            machine = self.by_machine[name]
            yield from (item.path for item in (*machine.train, *machine.test))

    def training_clips(
        self,
        machines: Sequence[str],
        config: Config,
        front_end: FrontEnd,
        reporter: Reporter = SILENT,
    ) -> FeatureView:
        """The frames of the normal clips; long recordings are cut into clips."""
        found = self._frames("train", machines, config, front_end, reporter)
        return found.cut(round(config.audio.clip_seconds / front_end.frame_seconds)).all()

    def test_clips(
        self,
        machines: Sequence[str],
        config: Config,
        front_end: FrontEnd,
        reporter: Reporter = SILENT,
    ) -> FeatureView:
        """The frames of the labelled clips."""
        return self._frames("test", machines, config, front_end, reporter).all()

    def _frames(
        self,
        part: str,
        machines: Sequence[str],
        config: Config,
        front_end: FrontEnd,
        reporter: Reporter,
    ) -> FeatureSet:
        """One array for each machine, computed once and shared by all cells; joined for several."""
        sets = [
            features_of(
                getattr(self.by_machine[name], part), config.audio, front_end, reporter=reporter
            )
            for name in machines
        ]
        for found in sets:
            for _, reason in found.failures:
                if reason not in self.told:
                    self.told.add(reason)
                    reporter.warn(f"left out: {reason}")
        if len(sets) == 1:
            return sets[0]
        joined = FeatureSet.joined(sets)
        # Where machine types are told apart, sections of two of them must not share a name.
        named = [
            replace(item, section=f"{item.machine}/{item.section}") for item in joined.recordings
        ]
        return replace(joined, recordings=tuple(named))


def read_data(
    roots: Sequence[Path], machines: Sequence[str], reporter: Reporter = SILENT
) -> PaperData:
    """Find the machines below `roots`, or only those named, and look at every file."""
    recordings: list[Recording] = []
    notes: list[str] = []
    for root in roots:
        dataset = read_layout(root)
        notes += dataset.notes
        recordings += [replace(item, section=item.section or "00") for item in dataset.recordings]
    there = sorted({recording.machine for recording in recordings})
    unknown = [name for name in machines if name not in there]
    if unknown:
        raise SsdptError(
            f"no machine is called {unknown[0]} in this data; there are {', '.join(there)}"
        )
    chosen = [name for name in there if not machines or name in machines]
    missing = [name for name in ALL_MACHINES if name not in there]
    if missing and len(missing) < len(ALL_MACHINES) and not machines:
        notes.append(f"machine types of the paper that are not here: {', '.join(missing)}")
    found: dict[str, MachineData] = {}
    with reporter.task("reading the recordings", total=None) as task:
        for name in chosen:
            own = [item for item in recordings if item.machine == name]
            machine = _machine(name, own, notes)
            if machine is not None:
                found[name] = machine
            task.advance(note=name)
    every = {section for machine in found.values() for section in machine.sections}
    for machine in found.values():
        absent = sorted(every - machine.sections)
        if absent and len(machine.sections) > 1:
            notes.append(
                f"{machine.machine}: no section {', '.join(absent)}, which other machine types have"
            )
    if not found:
        raise SsdptError(
            f"{', '.join(str(root) for root in roots)}: no machine has both normal training clips "
            "and labelled test clips; give a DCASE development set"
        )
    return PaperData(found, tuple(dict.fromkeys(notes)))


def _machine(name: str, recordings: Sequence[Recording], notes: list[str]) -> MachineData | None:
    train, rest = training_split(recordings, seed=0)
    normal = sorted((item for item in train if item.label != "anomaly"), key=identity)
    trained = {item.section for item in normal}
    labelled = sorted((item for item in rest if item.label), key=identity)
    test = [item for item in labelled if item.section in trained]
    untrained = sorted({item.section for item in labelled} - trained)
    if untrained:
        notes.append(
            f"{name}: test clips of section {', '.join(untrained)} are left out: no training "
            "clips of it are here"
        )
    untested = sorted(trained - {item.section for item in test})
    if untested:
        notes.append(f"{name}: section {', '.join(untested)} has training clips but no test clips")
    if not normal or not any(item.label == "anomaly" for item in test):
        lack = "labelled test clips with faults" if normal else "normal training clips"
        notes.append(f"{name}: left out, there are no {lack}")
        return None
    counts = Counter((item.section, item.domain, item.label) for item in test)
    if min(counts.values()) != max(counts.values()):
        notes.append(
            f"{name}: {min(counts.values())} to {max(counts.values())} test clips a section, "
            "domain and label; every section and domain counts alike in the means"
        )
    return MachineData(name, tuple(normal), tuple(test), _fingerprint([*normal, *test]))


def _fingerprint(recordings: Sequence[Recording]) -> str:
    """By content, name and place in the data set; not by the folder the set was copied to."""
    hasher = hashlib.blake2b(digest_size=16)
    for item in recordings:
        place = (item.section, item.domain, item.split, item.label, item.attribute_text)
        hasher.update(f"{digest(item.path)} {item.path.name!r} {place}\n".encode())
    return hasher.hexdigest()
