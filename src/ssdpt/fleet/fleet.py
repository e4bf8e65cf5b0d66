"""Several machines: one whole model each, and an index over them.

OUT/index.json        {"format": 1, "machines": {"fan": "fan", …}}
OUT/fan/              a model folder
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ssdpt.common.files import atomic_folder, write_json
from ssdpt.common.progress import SILENT, Labelled, Reporter
from ssdpt.config.encoder import EncoderConfig
from ssdpt.config.tree import Config, with_overrides
from ssdpt.data.layouts import Dataset
from ssdpt.detection.batch import score_all
from ssdpt.detection.scorer import PathLike, Scorer
from ssdpt.detection.storage import DAMAGE, check_replaceable, is_model
from ssdpt.errors import SsdptError
from ssdpt.runtime.manifest import check_export_folder, is_export
from ssdpt.types import Recording, Score

if TYPE_CHECKING:
    from ssdpt.detection.detector import Detector
    from ssdpt.runtime.export import ExportSettings
    from ssdpt.runtime.manifest import Manifest
    from ssdpt.systems.parts.shared_reference import SharedReference

INDEX = "index.json"
_FORMAT = 1
_LONGEST_NAME = 255  # bytes of a folder's name


class Fleet(Mapping[str, Scorer]):
    """Detectors by machine, fitted or exported; a single model folder is a fleet of one."""

    def __init__(self, detectors: Mapping[str, Scorer], folders: dict[str, Path]) -> None:
        self._detectors = detectors
        self.folders = folders  # where each machine's model lies

    @classmethod
    def of(cls, *detectors: Scorer) -> Self:
        """Detectors in memory, each of another machine."""
        machines = {detector.machine: detector for detector in detectors}
        if len(machines) < len(detectors):
            names = ", ".join(detector.machine for detector in detectors)
            raise SsdptError(f"a fleet has one detector for each machine; given were {names}")
        return cls(machines, {})

    @classmethod
    def load(cls, path: PathLike, *, device: str = "auto", hop: int | str | None = None) -> Self:
        """A model folder, an exported model, or a folder of either with an index.

        `hop`, a number of frames or `auto`, replaces the models' own for as long as they are
        loaded.
        """
        folder = Path(path)
        if is_model(folder) or is_export(folder):
            detector = load_model(folder, device=device, hop=hop)
            return cls({detector.machine: detector}, {detector.machine: folder})
        if not (folder / INDEX).is_file():
            if not folder.exists():
                raise SsdptError(f"{folder}: no such model")
            raise SsdptError(
                f"{folder}: not a model: neither config.json nor manifest.json nor {INDEX} is in it"
            )
        folders = {machine: folder / name for machine, name in _read_index(folder / INDEX).items()}
        detectors = {
            machine: load_model(path, device=device, hop=hop) for machine, path in folders.items()
        }
        return cls(detectors, folders)

    @property
    def machines(self) -> tuple[str, ...]:
        return tuple(self._detectors)

    def for_recording(self, recording: Recording) -> Scorer | None:
        """The detector for a recording: by its machine's name, or the only one there is."""
        if recording.machine in self._detectors:
            return self._detectors[recording.machine]
        return next(iter(self._detectors.values())) if len(self._detectors) == 1 else None

    def detector_for(self, recording: Recording) -> Scorer:
        """The detector for a recording; an SsdptError where there is none."""
        detector = self.for_recording(recording)
        if detector is None:
            raise SsdptError(
                f"{recording.path}: no model for machine {recording.machine}; this one "
                f"knows {', '.join(self.machines)} (choose with --machine)"
            )
        return detector

    def score_all(
        self, recordings: Iterable[Recording], *, strict: bool = False
    ) -> Iterator[tuple[Recording, Score | SsdptError]]:
        """Score many recordings on every core: in order, each with its score or what is wrong."""
        return score_all(recordings, self.detector_for, strict=strict)

    def __getitem__(self, machine: str) -> Scorer:
        return self._detectors[machine]

    def __iter__(self) -> Iterator[str]:
        return iter(self._detectors)

    def __len__(self) -> int:
        return len(self._detectors)


def load_model(folder: PathLike, *, device: str = "auto", hop: int | str | None = None) -> Scorer:
    """The detector in a model folder or in an exported one, which needs no torch."""
    if is_export(Path(folder)):
        if hop is not None:
            raise SsdptError(
                f"{folder}: an exported model has its hop in the graph; leave --hop out, or "
                "export a model that was fitted with it"
            )
        from ssdpt.runtime.exported import ExportedDetector

        return ExportedDetector.load(folder)
    from ssdpt.detection.detector import Detector

    return Detector.load(folder, device=device, hop=hop)


def fit_fleet(
    dataset: Dataset,
    config: Config,
    out: Path,
    *,
    resume: bool = False,
    strict: bool = False,
    jobs: int | None = None,
    others: Sequence[Recording] = (),
    shared_reference: SharedReference | None = None,
    reporter: Reporter = SILENT,
) -> Fleet:
    """Fit every machine of a data set; one machine gives a model, several a folder of models.

    A system that learns from other machines first learns from all of them together, and from
    `others`; `shared_reference` is what has been learned so before.

    `jobs` machines are fitted at once: by default several on a GPU, which one does not fill, and
    one on a CPU, where each takes all cores. While it runs, `OUT.partial` holds the checkpoints;
    it is gone when all is done.
    """
    from ssdpt.detection.detector import Detector
    from ssdpt.fleet.references import learn_references
    from ssdpt.systems import system_class
    from ssdpt.training.parallel import parallel_jobs, run_parallel

    machines = dataset.machines
    folders = _folders(out, machines, check_replaceable)
    work = out.with_name(out.name + ".partial")

    by_machine = _by_machine(dataset.recordings)
    references = dict.fromkeys(machines, shared_reference)
    if shared_reference is None and system_class(config.system).uses_shared_reference:
        references |= learn_references(
            {machine: by_machine[machine] for machine in machines},
            list(_by_machine(others).values()),
            config,
            work / "shared-reference",
            resume=resume,
            strict=strict,
            reporter=reporter,
        )
    at_a_time = min(jobs or parallel_jobs(config.device), len(machines))

    def fit(machine: str, reporter: Reporter) -> Detector:
        if at_a_time > 1:
            reporter = Labelled(reporter, machine)
        elif len(machines) > 1:
            reporter.say(f"{machine} ({machines.index(machine) + 1} of {len(machines)})")
        detector = Detector.fit(
            by_machine[machine],
            config=config,
            work=work / folder_name(machine),
            resume=resume,
            strict=strict,
            reporter=reporter,
            shared_reference=references[machine],
        )
        detector.save(folders[machine])
        return detector

    fitted = run_parallel(fit, machines, at_a_time, reporter)
    detectors = dict(zip(machines, fitted, strict=True))
    _write_index(out, folders)
    shutil.rmtree(work, ignore_errors=True)
    return Fleet(detectors, folders)


def add_to_fleet(
    dataset: Dataset,
    model: Path,
    changes: dict[str, Any],
    *,
    strict: bool = False,
    reporter: Reporter = SILENT,
) -> Fleet:
    """Add further machines to those of `model`, with the networks and settings they have.

    The recordings of the machines that are there already are not needed; their models stay.
    """
    from ssdpt.detection.detector import Detector

    fleet = Fleet.load(model, device="cpu")
    first = next(iter(fleet.values()))
    if not isinstance(first, Detector) or first.system.shared_reference is None:
        raise SsdptError(
            f"{model}: machines can be added to models of preset best or system texture only; "
            "fit the new machine into a folder of its own"
        )
    if is_model(model):
        raise SsdptError(
            f"{model}: holds the model of one machine; machines can be added to a folder of "
            "several, as `ssdpt fit A B --out DIR` makes it"
        )
    there = [machine for machine in dataset.machines if machine in fleet]
    if there:
        raise SsdptError(
            f"{model}: machine {there[0]} is in it already; use `ssdpt adapt` for new normal clips "
            "of it, or fit it again into another folder"
        )
    config = with_overrides(first.stored.config, changes)
    folders = {name: model / folder_name(name) for name in dataset.machines}
    _check_folders(model, {**fleet.folders, **folders}, lambda _: None)
    added = {}
    for machine, recordings in _by_machine(dataset.recordings).items():
        detector = Detector.fit(
            recordings,
            config=config,
            strict=strict,
            reporter=reporter,
            shared_reference=first.system.shared_reference,
        )
        detector.save(folders[machine])
        added[machine] = detector
    _write_index(model, {**fleet.folders, **folders})
    return Fleet(added, folders)


def fitted(fleet: Fleet, machine: str) -> Detector:
    """The model of a machine; one that is exported is refused."""
    from ssdpt.detection.detector import Detector

    detector = fleet[machine]
    if not isinstance(detector, Detector):
        raise SsdptError(
            f"{fleet.folders[machine]}: is exported already; give the model it was made from"
        )
    return detector


def save_fleet(fleet: Fleet, out: Path) -> dict[str, Path]:
    """Write the fitted models of all machines to `out`; gives the folder of each."""
    folders = _folders(out, fleet.machines, check_replaceable)
    detectors = {machine: fitted(fleet, machine) for machine in fleet}
    for machine, detector in detectors.items():
        detector.save(folders[machine])
    _write_index(out, folders)
    return folders


def _by_machine(recordings: Iterable[Recording]) -> dict[str, list[Recording]]:
    """The recordings of every machine, in the order in which machines appear."""
    by_machine: dict[str, list[Recording]] = {}
    for recording in recordings:
        by_machine.setdefault(recording.machine, []).append(recording)
    return by_machine


def export_fleet(
    fleet: Fleet,
    out: Path,
    settings: Callable[[str], ExportSettings],
    *,
    reporter: Reporter = SILENT,
) -> dict[str, Manifest]:
    """Export every machine; none is written before all are verified. `settings` are by machine."""
    from ssdpt.runtime.export import export_model

    folders = _folders(out, fleet.machines, check_export_folder)
    manifests: dict[str, Manifest] = {}
    with ExitStack() as stack:
        if not out.exists():
            stack.callback(_remove_if_empty, out)
        for machine in fleet:
            detector = fitted(fleet, machine)
            if detector.config.part(EncoderConfig).file:
                raise _no_export_with_encoder(fleet.folders[machine], detector)
            folder = stack.enter_context(atomic_folder(folders[machine]))
            manifests[machine] = export_model(detector, folder, settings(machine), reporter)
    _write_index(out, folders)
    return manifests


def _no_export_with_encoder(folder: Path, detector: Detector) -> SsdptError:
    """Its samples are resampled window by window, which no graph does."""
    needs = "train,edge" if detector.system.requires_torch else "edge"
    torch = "" if detector.system.requires_torch else ", without torch"
    return SsdptError(
        f"{folder}: a model with an encoder cannot be exported; copy the model folder itself, "
        f"which scores wherever ssdpt[{needs}] is installed{torch}, or fit without --encoder"
    )


def _folders(
    out: Path, machines: Sequence[str], check_folder: Callable[[Path], None]
) -> dict[str, Path]:
    """Where each machine's model goes: `out` itself for one, folders in it for several."""
    if out.name in {"", ".."}:
        raise SsdptError(f"{out}: name a folder of its own for the model, e.g. --out model")
    if len(machines) == 1:
        check_folder(out)
        return {machines[0]: out}
    folders = {name: out / folder_name(name) for name in machines}
    _check_folders(out, folders, check_folder)
    return folders


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _write_index(out: Path, folders: Mapping[str, Path]) -> None:
    if len(folders) > 1:
        index = {machine: folder.name for machine, folder in folders.items()}
        write_json(out / INDEX, {"format": _FORMAT, "machines": index})


def only_machines(dataset: Dataset, machines: Sequence[str]) -> Dataset:
    """The recordings of these machines alone."""
    for machine in machines:
        if machine not in dataset.machines:
            raise SsdptError(
                f"{dataset.root}: no machine is called {machine}; "
                f"there are {', '.join(dataset.machines)}"
            )
    chosen = tuple(item for item in dataset.recordings if item.machine in machines)
    return replace(dataset, recordings=chosen)


def folder_name(machine: str) -> str:
    """A machine's name as a folder name: nothing in it can leave the folder it is put into."""
    name = re.sub(r"[^\w.-]+", "_", machine).strip(".")
    return name or "machine"


def _check_folders(
    out: Path, folders: dict[str, Path], check_folder: Callable[[Path], None]
) -> None:
    if is_model(out) or is_export(out):
        raise SsdptError(f"{out}: holds the model of one machine; choose a folder for several")
    if out.exists() and not out.is_dir():
        raise SsdptError(f"{out}: is a file; models go into a folder, choose another name")
    for machine, folder in folders.items():
        check_folder(folder)
        for other, other_folder in folders.items():
            if other != machine and other_folder == folder:
                raise SsdptError(
                    f"{folder}: machines {machine} and {other} would share this folder; "
                    "rename one of them"
                )


def _read_index(path: Path) -> dict[str, str]:
    try:
        tree = json.loads(path.read_text("utf-8"))
        machines = {str(machine): str(name) for machine, name in tree["machines"].items()}
        newer = tree["format"] > _FORMAT
    except (OSError, *DAMAGE) as error:
        raise SsdptError(f"{path}: damaged or foreign; fit the machines again") from error
    if newer:
        raise SsdptError(f"{path}: made by a newer ssdpt; upgrade to use it")
    if any(folder_name(name) != name or _is_too_long(name) for name in machines.values()):
        raise SsdptError(f"{path}: names a folder outside this one; it is not used")
    return machines


def _is_too_long(name: str) -> bool:
    """Whether no file system has such a name: to look for it is an error."""
    return len(os.fsencode(name)) > _LONGEST_NAME
