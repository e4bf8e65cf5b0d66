"""Several machines: one whole model each, and an index over them.

OUT/index.json        {"format": 1, "machines": {"fan": "fan", …}}
OUT/fan/              a model folder
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from ssdpt.config import Config
from ssdpt.data.layouts import Dataset
from ssdpt.detector import Detector, Source
from ssdpt.errors import SsdptError
from ssdpt.files import write_json
from ssdpt.progress import SILENT, Reporter
from ssdpt.storage import check_replaceable, is_model
from ssdpt.types import Recording

INDEX = "index.json"
_FORMAT = 1


class Fleet(Mapping[str, Detector]):
    """Detectors by machine; a single model folder is a fleet of one."""

    def __init__(self, detectors: dict[str, Detector], folders: dict[str, Path]) -> None:
        self._detectors = detectors
        self.folders = folders  # where each machine's model lies

    @classmethod
    def load(cls, path: Source, *, device: str = "auto") -> Self:
        """A model folder, or a folder of models with an index."""
        folder = Path(path)
        if is_model(folder):
            detector = Detector.load(folder, device=device)
            return cls({detector.machine: detector}, {detector.machine: folder})
        if not (folder / INDEX).is_file():
            if not folder.exists():
                raise SsdptError(f"{folder}: no such model")
            raise SsdptError(f"{folder}: not a model: neither config.json nor {INDEX} is in it")
        folders = {machine: folder / name for machine, name in _read_index(folder / INDEX).items()}
        detectors = {
            machine: Detector.load(place, device=device) for machine, place in folders.items()
        }
        return cls(detectors, folders)

    @property
    def machines(self) -> tuple[str, ...]:
        return tuple(self._detectors)

    def for_recording(self, recording: Recording) -> Detector | None:
        """The detector for a recording: by its machine's name, or the only one there is."""
        if recording.machine in self._detectors:
            return self._detectors[recording.machine]
        return next(iter(self._detectors.values())) if len(self._detectors) == 1 else None

    def __getitem__(self, machine: str) -> Detector:
        return self._detectors[machine]

    def __iter__(self) -> Iterator[str]:
        return iter(self._detectors)

    def __len__(self) -> int:
        return len(self._detectors)


def fit_fleet(
    dataset: Dataset,
    config: Config,
    out: Path,
    *,
    resume: bool = False,
    strict: bool = False,
    reporter: Reporter = SILENT,
) -> Fleet:
    """Fit every machine of a data set; one machine gives a model, several a folder of models.

    While it runs, `OUT.partial` holds the checkpoints; it is gone when all is done.
    """
    if out.name in {"", ".."}:
        raise SsdptError(f"{out}: name a folder of its own for the model, e.g. --out model")
    work = out.with_name(out.name + ".partial")
    machines = dataset.machines
    folders = {name: out if len(machines) == 1 else out / folder_name(name) for name in machines}
    if len(machines) > 1:
        _check_room(out, folders)
    else:
        check_replaceable(out)
    detectors: dict[str, Detector] = {}
    for machine, folder in folders.items():
        if len(machines) > 1:
            reporter.say(f"{machine} ({len(detectors) + 1} of {len(machines)})")
        recordings = [item for item in dataset.recordings if item.machine == machine]
        detector = Detector.fit(
            recordings,
            config=config,
            work=work / folder_name(machine),
            resume=resume,
            strict=strict,
            reporter=reporter,
        )
        detector.save(folder)
        detectors[machine] = detector
    if len(machines) > 1:
        index = {machine: folder.name for machine, folder in folders.items()}
        write_json(out / INDEX, {"format": _FORMAT, "machines": index})
    shutil.rmtree(work, ignore_errors=True)
    return Fleet(detectors, folders)


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


def _check_room(out: Path, folders: dict[str, Path]) -> None:
    if is_model(out):
        raise SsdptError(f"{out}: holds the model of one machine; choose a folder for several")
    if out.is_file():
        raise SsdptError(f"{out}: is a file; models go into a folder, choose another name")
    for machine, folder in folders.items():
        check_replaceable(folder)
        for other, place in folders.items():
            if other != machine and place == folder:
                raise SsdptError(
                    f"{folder}: machines {machine} and {other} would share this folder; "
                    "rename one of them"
                )


def _read_index(path: Path) -> dict[str, str]:
    try:
        tree = json.loads(path.read_text("utf-8"))
        machines = {str(machine): str(name) for machine, name in tree["machines"].items()}
        newer = tree["format"] > _FORMAT
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SsdptError(f"{path}: damaged or foreign; fit the machines again") from error
    if newer:
        raise SsdptError(f"{path}: made by a newer ssdpt; upgrade to use it")
    if any(folder_name(name) != name for name in machines.values()):
        raise SsdptError(f"{path}: names a folder outside this one; it is not used")
    return machines
