"""Recognise how recordings are laid out, and describe each by its folder and its name.

    dcase2020   <machine>/{train,test}/{normal|anomaly}_id_NN_NNNNNNNN.wav
    dcase2021   <machine>/{train,source_test,target_test}/section_NN_….wav
    dcase2022   <machine>/{train,test,supplemental}/section_NN_….wav, attributes_NN.csv (to 2026)
    mimii       <machine>/id_NN/{normal,abnormal}/….wav
    folder      [<machine>/]normal/….wav; sibling folders are faults by their name
    files       a recording, or a folder of them with none of this: unlabelled
    manifest    a CSV table, see manifest.py

Machines may lie any number of folders below the given one. Every file is described by one rule
from its own name and the folders around it, so it reads the same whether a data set, one machine,
one of its folders or the file alone is given.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

from ssdpt.data.attributes import read_attribute_tables
from ssdpt.data.audio import is_recording, recording_suffixes
from ssdpt.data.joining import join_snapshots
from ssdpt.data.manifest import read_manifest
from ssdpt.data.names import parse_name
from ssdpt.errors import SsdptError, one_line
from ssdpt.types import Attributes, Domain, Label, Recording, Split

NORMAL_NAMES = frozenset({"normal", "good", "healthy", "ok"})
"""Names of folders, in lower case, that hold normal recordings."""

UNLABELLED = (
    "have no label; a fit would take them as normal: put known faults into folders of "
    "their own beside a folder called normal"
)
"""How a note ends that matters to those only who learn from the recordings or evaluate by them."""

_ANOMALY_NAMES = frozenset({"abnormal", "anomaly", "anomalous"})
_SPLIT_FOLDERS: dict[str, tuple[Split, Domain | None]] = {
    "train": ("train", None),
    "test": ("test", None),
    "test_rename": ("test", None),  # evaluation clips as the challenge's own tools rename them
    "source_test": ("test", "source"),
    "target_test": ("test", "target"),
    "supplemental": ("supplemental", None),
}
_ID_FOLDER = re.compile(r"id_(\d+)", re.IGNORECASE)
_SNR_FOLDER = re.compile(r"(-?\d+)_?dB_(.+)", re.IGNORECASE)
_NAMED_AT_MOST = 3  # files named in a note


@dataclass(frozen=True, slots=True)
class Dataset:
    """Recordings and the layout they were found in.

    `layout` joins several names with `+` where machines differ. `notes` says what was
    left out and what was assumed.
    """

    root: Path
    layout: str
    recordings: tuple[Recording, ...]
    notes: tuple[str, ...] = ()

    @property
    def machines(self) -> tuple[str, ...]:
        """The machine names, sorted."""
        return tuple(sorted({recording.machine for recording in self.recordings}))


def read_layouts(paths: Sequence[Path]) -> Dataset:
    """Several data sets as one; no two of them may have a machine of the same name."""
    datasets = [read_layout(path) for path in paths]
    owner: dict[str, Path] = {}
    for path, dataset in zip(paths, datasets, strict=True):
        for machine in dataset.machines:
            if owner.setdefault(machine, path) is not path:
                raise SsdptError(
                    f"machine {machine} is both in {owner[machine]} and in {path}; rename one, or "
                    "put what belongs to one machine into one folder"
                )
    return Dataset(
        root=paths[0],
        layout="+".join(dict.fromkeys(dataset.layout for dataset in datasets)),
        recordings=tuple(item for dataset in datasets for item in dataset.recordings),
        notes=tuple(note for dataset in datasets for note in dataset.notes),
    )


def without_domain(dataset: Dataset, domain: str) -> Dataset:
    """The recordings of the other domain alone."""
    if domain not in {"source", "target"}:
        raise SsdptError(f"'{domain}' is not a domain: there are source and target")
    kept = tuple(item for item in dataset.recordings if item.domain != domain)
    if not kept:
        raise SsdptError(
            f"{dataset.root}: all recordings are of the {domain} domain; leave --exclude-domain out"
        )
    return replace(dataset, recordings=kept)


def read_layout(path: str | PathLike[str], *, join: bool = True) -> Dataset:
    """Find the recordings at `path`: a data set, a machine, a folder, a file or a CSV manifest.

    Snapshots shorter than a second are joined, unless each file is asked for.
    """
    dataset = _read_files(Path(path))
    if not join:
        return dataset
    recordings, notes = join_snapshots(dataset.recordings)
    if not notes:
        return dataset
    ordered = tuple(sorted(recordings, key=_order))
    return replace(dataset, recordings=ordered, notes=(*dataset.notes, *notes))


def _read_files(path: Path) -> Dataset:
    try:
        there = path.exists()
    except OSError as error:
        raise SsdptError(f"{path}: cannot be read: {error.strerror}") from error
    if not there:
        raise SsdptError(f"{path}: no such file or folder; check the path")
    if path.is_dir():
        return _read_folder(path)
    if path.suffix.lower() == ".csv" and not is_recording(path):
        recordings, notes = read_manifest(path)
        return Dataset(path, "manifest", tuple(sorted(recordings, key=_order)), notes)
    if path.suffix.lower() not in recording_suffixes():
        raise SsdptError(
            f"{path}: neither a recording ({_suffixes()}) nor a CSV manifest; "
            f"give one of these or a folder of recordings"
        )
    return Dataset(path, "files", (recording_of(path),))


def recording_of(path: Path) -> Recording:
    """A sound file, described by its name and the folders it lies in."""
    return _Reader(path.parent).describe(path).recording


def _read_folder(root: Path) -> Dataset:
    reader = _Reader(root)
    described = [reader.describe(file) for file in _walk(root)]
    if not described:
        raise SsdptError(
            f"{root}: no recordings in this folder or below it; "
            f"files ending in {_suffixes()} are read, tables where their columns are numbers"
        )
    described = _without_strays(described)
    kept = [item for item in described if not item.skip]
    notes = (*_skip_notes(root, described), *_remarks(kept), *_shared_names(kept))
    if not kept:
        raise SsdptError(f"{root}: no recordings to use: {notes[0]}")
    recordings = sorted((item.recording for item in kept), key=_order)
    layout = "+".join(sorted({item.layout for item in kept}))
    return Dataset(root, layout, tuple(recordings), tuple(map(one_line, notes)))


def _walk(root: Path) -> Iterator[Path]:
    """Sound files under `root`; hidden names are passed over, no folder is entered twice."""
    seen: set[tuple[int, int]] = set()
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            status = folder.stat()
            entries = sorted(folder.iterdir(), reverse=True)
        except OSError as error:
            raise SsdptError(f"{folder}: cannot be read: {error.strerror}") from error
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                waiting.append(entry)
            elif is_recording(entry):
                yield entry


@dataclass(frozen=True, slots=True)
class _Described:
    """A recording, the rule that described it and the machine's folder.

    `skip` says why it is left out; `remark` what was assumed.
    """

    recording: Recording
    layout: str
    home: Path
    skip: str = ""
    remark: str = ""


class _Reader:
    """Describes files below one given folder, and remembers what it saw of the folders."""

    def __init__(self, top: Path) -> None:
        self.top = _full(top)
        self._normal: dict[Path, frozenset[str]] = {}
        self._halved: dict[Path, bool] = {}
        self._tables: dict[Path, dict[tuple[str, str], Attributes]] = {}

    def describe(self, path: Path) -> _Described:
        """The first rule that fits: a DCASE name, a folder called normal, or neither."""
        place = _full(path)
        for rule in (self._by_name, self._by_normal):
            if described := rule(path, place):
                return described
        return self._plain(path, place)

    def _by_name(self, path: Path, place: Path) -> _Described | None:
        name = parse_name(path.stem)
        if name is None:
            return None
        machine, split, domain = _strip_split(place.parent)
        layout = "dcase2020"
        if path.stem.lower().startswith("section"):
            layout = "dcase2021" if self._is_halved(machine) else "dcase2022"
        chosen = name.domain or domain
        recording = Recording(
            path=path,
            machine=_machine(machine),
            section=name.section,
            domain=chosen or "source",
            # The folder goes before the name: a test clip put among the training clips is one.
            split=split or name.split or "",
            label=name.label or "",
            attributes=self._table(machine).get((place.parent.name.lower(), path.stem))
            or name.attributes,
        )
        unknown = chosen is None and layout != "dcase2020"
        remark = "have no domain in their names: taken as source" if unknown else ""
        return _Described(recording, layout, machine, remark=remark)

    def _by_normal(self, path: Path, place: Path) -> _Described | None:
        """The nearest folder above that holds a folder called normal decides."""
        owner = place.parent
        while not self._holds_normal(owner):
            if not owner.is_relative_to(self.top) or owner == owner.parent:
                return None
            owner = owner.parent
        machine, split, _ = _strip_split(owner)
        if owner == place.parent:
            loose = Recording(path, _machine(machine))
            return _Described(
                loose, "folder", machine, skip="beside the folder of normal recordings"
            )
        kind = place.relative_to(owner).parts[0]
        label: Label = "anomaly"
        fault = "" if kind.lower() in _ANOMALY_NAMES else kind
        if kind.lower() in NORMAL_NAMES:
            label, fault = "normal", ""
        elif kind.lower() in _SPLIT_FOLDERS:
            label, fault, split = "", "", _SPLIT_FOLDERS[kind.lower()][0]
        section, layout = "", "folder"
        attributes: Attributes = ()
        if match := _ID_FOLDER.fullmatch(machine.name):
            section, layout = match[1], "mimii"
            machine = machine.parent
            attributes = _noise_level(machine)
        recording = Recording(
            path=path,
            machine=_machine(machine),
            section=section,
            split=split,
            label=label,
            attributes=attributes,
            fault=fault,
        )
        return _Described(recording, layout, machine)

    def _plain(self, path: Path, place: Path) -> _Described:
        """Nothing is known but the folders' names: the first one below the given is the machine,
        unless sound files lie in the given one itself."""
        machine, split, domain = _strip_split(place.parent)
        if machine.is_relative_to(self.top):
            below = machine.relative_to(self.top).parts
            machine = self.top / below[0] if below and not self._holds_sound else self.top
        recording = Recording(
            path=path, machine=_machine(machine), domain=domain or "source", split=split
        )
        return _Described(recording, "files", machine, remark=UNLABELLED)

    @cached_property
    def _holds_sound(self) -> bool:
        return any(is_recording(entry) for entry in self.top.iterdir())

    def _holds_normal(self, folder: Path) -> bool:
        """Whether `folder` has a subfolder of normal recordings.

        Above the given folder only the name `normal` counts: a neighbour that happens to be called
        `ok` says nothing about the user's recordings.
        """
        if folder not in self._normal:
            self._normal[folder] = frozenset(
                entry.name.lower()
                for entry in _subfolders(folder)
                if entry.name.lower() in NORMAL_NAMES and any(True for _ in _walk(entry))
            )
        names = self._normal[folder]
        if folder.is_relative_to(self.top):
            return bool(names)
        return "normal" in names or self.top.name.lower() in names

    def _table(self, machine: Path) -> dict[tuple[str, str], Attributes]:
        if machine not in self._tables:
            self._tables[machine] = read_attribute_tables(machine)
        return self._tables[machine]

    def _is_halved(self, machine: Path) -> bool:
        if machine not in self._halved:
            halves = ("source_test", "target_test")
            self._halved[machine] = any((machine / half).is_dir() for half in halves)
        return self._halved[machine]


def _strip_split(folder: Path) -> tuple[Path, Split, Domain | None]:
    """A machine's folder, given it or one of its train and test folders."""
    if folder.name.lower() in _SPLIT_FOLDERS:
        return (folder.parent, *_SPLIT_FOLDERS[folder.name.lower()])
    return folder, "", None


def _machine(folder: Path) -> str:
    """The machine's name; `6_dB_fan` is how MIMII packs the fan at one level of noise."""
    match = _SNR_FOLDER.fullmatch(folder.name)
    return match[2] if match else folder.name or "machine"


def _noise_level(machine: Path) -> Attributes:
    for folder in (machine, machine.parent):
        if match := _SNR_FOLDER.fullmatch(folder.name):
            return (("snr", f"{match[1]}dB"),)
    return ()


def _full(path: Path) -> Path:
    """An absolute path whose folder names can be read off; links keep their own names."""
    full = path.absolute()
    return full.resolve() if ".." in full.parts else full


def _subfolders(folder: Path) -> list[Path]:
    try:
        return [e for e in folder.iterdir() if e.is_dir() and not e.name.startswith(".")]
    except OSError:
        return []  # a folder above the given one may not be readable; it then counts as empty


def _without_strays(described: list[_Described]) -> list[_Described]:
    """Files of another name among DCASE clips are left out: it is not known what they are."""
    dcase = {item.recording.path.parent for item in described if item.layout.startswith("dcase")}
    return [
        replace(item, skip="among DCASE clips, but not named as one")
        if item.layout == "files" and item.recording.path.parent in dcase
        else item
        for item in described
    ]


def _skip_notes(root: Path, described: Iterable[_Described]) -> list[str]:
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for item in described:
        if item.skip:
            reasons[item.skip].append(item.recording.path.relative_to(root).as_posix())
    return [
        f"left out, {reason}: {', '.join(sorted(names)[:_NAMED_AT_MOST])}"
        + (f" and {len(names) - _NAMED_AT_MOST} more" if len(names) > _NAMED_AT_MOST else "")
        for reason, names in reasons.items()
    ]


def _remarks(kept: Iterable[_Described]) -> list[str]:
    counts = Counter(item.remark for item in kept if item.remark)
    return [f"{count} recordings {remark}" for remark, count in sorted(counts.items())]


def _shared_names(kept: Iterable[_Described]) -> list[str]:
    homes: defaultdict[str, set[Path]] = defaultdict(set)
    for item in kept:
        homes[item.recording.machine].add(item.home)
    return [
        f"{machine} is found in {len(folders)} folders and taken as one machine"
        for machine, folders in sorted(homes.items())
        if len(folders) > 1
    ]


def _order(recording: Recording) -> tuple[object, ...]:
    return (
        recording.machine,
        recording.split,
        recording.section,
        recording.domain,
        recording.path.parts,
    )


def _suffixes() -> str:
    return ", ".join(recording_suffixes())
