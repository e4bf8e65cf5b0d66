"""The recordings of an experiment: training clips, test clips, and notes on what is missing."""

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
from ssdpt.data.sets import read_sets
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
    train: tuple[Recording, ...]  # normal clips
    test: tuple[Recording, ...]  # labelled clips of sections with training clips
    fingerprint: str  # of all clips, by content

    @property
    def sections(self) -> set[str]:
        return {recording.section for recording in self.train}


@dataclass(frozen=True)
class PaperData:
    """The recordings of all machine types."""

    by_machine: dict[str, MachineData]
    notes: tuple[str, ...]
    warned: set[str] = field(default_factory=set)  # unreadable files, reported once

    @property
    def machines(self) -> tuple[str, ...]:
        return tuple(self.by_machine)

    def trained_with(self, machine: str, config: Config) -> tuple[str, ...]:
        """The machines whose clips train the network for `machine`: usually only itself.

        A classifier needs at least two classes; for a machine type with one section, all machine
        types are the classes.
        """
        alone = system_class(config.system).refusal(self.by_machine[machine].train, config)
        return (machine,) if alone is None else self.machines

    def fingerprint(self, machines: Sequence[str]) -> str:
        """A fingerprint of the recordings of several machines."""
        fingerprints = "".join(self.by_machine[name].fingerprint for name in machines)
        return hashlib.blake2b(fingerprints.encode(), digest_size=16).hexdigest()

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
        frames = self._frames("train", machines, config, front_end, reporter)
        return frames.cut(round(config.audio.clip_seconds / front_end.frame_seconds)).all()

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
        """One array per machine, computed once and shared by all cells; joined for several."""
        sets = [
            features_of(
                getattr(self.by_machine[name], part), config.audio, front_end, reporter=reporter
            )
            for name in machines
        ]
        for features in sets:
            for _, reason in features.failures:
                if reason not in self.warned:
                    self.warned.add(reason)
                    reporter.warn(f"left out: {reason}")
        if len(sets) == 1:
            return sets[0]
        joined = FeatureSet.joined(sets)
        # Sections of different machine types are different classes and need different names.
        named = [
            replace(item, section=f"{item.machine}/{item.section}") for item in joined.recordings
        ]
        return replace(joined, recordings=tuple(named))


def read_data(
    roots: Sequence[Path], machines: Sequence[str], reporter: Reporter = SILENT
) -> PaperData:
    """Read the recordings of all machines below `roots`, or only of `machines`.

    A machine that is in several of the folders is one machine.
    """
    datasets = [read_layout(root) for root in roots]
    recordings = [item for dataset in datasets for item in dataset.recordings]
    notes = [note for dataset in datasets for note in dataset.notes]
    available = sorted({recording.machine for recording in recordings})
    unknown = [name for name in machines if name not in available]
    if unknown:
        raise SsdptError(
            f"no machine is called {unknown[0]} in this data; there are {', '.join(available)}"
        )
    missing = [name for name in ALL_MACHINES if name not in available]
    if missing and len(missing) < len(ALL_MACHINES) and not machines:
        notes.append(f"machine types of the paper that are not here: {', '.join(missing)}")
    chosen = [item for item in recordings if not machines or item.machine in machines]
    return _paper_data(chosen, notes, roots, reporter)


def read_data_sets(roots: Sequence[Path], reporter: Reporter = SILENT) -> PaperData:
    """Read the recordings below `roots`; a machine that is in two of them is two machines."""
    dataset = read_sets(roots)
    return _paper_data(dataset.recordings, list(dataset.notes), roots, reporter)


def _paper_data(
    recordings: Sequence[Recording], notes: list[str], roots: Sequence[Path], reporter: Reporter
) -> PaperData:
    of_machine: dict[str, list[Recording]] = {item.machine: [] for item in recordings}
    for item in recordings:
        of_machine[item.machine].append(replace(item, section=item.section or "00"))
    by_machine: dict[str, MachineData] = {}
    with reporter.task("reading the recordings", total=None) as task:
        for name in sorted(of_machine):
            machine = _machine(name, of_machine[name], notes)
            if machine is not None:
                by_machine[name] = machine
            task.advance(note=name)
    sections = {section for machine in by_machine.values() for section in machine.sections}
    for machine in by_machine.values():
        absent = sorted(sections - machine.sections)
        if absent and len(machine.sections) > 1:
            notes.append(
                f"{machine.machine}: no section {', '.join(absent)}, which other machine types have"
            )
    if not by_machine:
        raise SsdptError(
            f"{', '.join(str(root) for root in roots)}: no machine has both normal training clips "
            "and labelled test clips; use a DCASE development set"
        )
    return PaperData(by_machine, tuple(dict.fromkeys(notes)))


def _machine(name: str, recordings: Sequence[Recording], notes: list[str]) -> MachineData | None:
    train, rest = training_split(recordings, seed=0)
    normal = sorted((item for item in train if item.label != "anomaly"), key=identity)
    trained = {item.section for item in normal}
    labelled = sorted((item for item in rest if item.label), key=identity)
    test = [item for item in labelled if item.section in trained]
    untrained = sorted({item.section for item in labelled} - trained)
    if untrained:
        notes.append(
            f"{name}: test clips of section {', '.join(untrained)} are left out: there are "
            "no training clips of it"
        )
    untested = sorted(trained - {item.section for item in test})
    if untested:
        notes.append(f"{name}: section {', '.join(untested)} has training clips but no test clips")
    if not normal or not any(item.label == "anomaly" for item in test):
        missing = "labelled test clips with faults" if normal else "normal training clips"
        notes.append(f"{name}: left out, there are no {missing}")
        return None
    counts = Counter((item.section, item.domain, item.label) for item in test)
    if min(counts.values()) != max(counts.values()):
        notes.append(
            f"{name}: {min(counts.values())} to {max(counts.values())} test clips per section, "
            "domain and label; all sections and domains have the same weight in the means"
        )
    return MachineData(name, tuple(normal), tuple(test), _fingerprint([*normal, *test]))


def _fingerprint(recordings: Sequence[Recording]) -> str:
    """By content, file name and labels; independent of the folder of the data set."""
    hasher = hashlib.blake2b(digest_size=16)
    for item in recordings:
        labels = (item.section, item.domain, item.split, item.label, item.attribute_text)
        hasher.update(f"{digest(item.path)} {item.path.name!r} {labels}\n".encode())
    return hasher.hexdigest()
