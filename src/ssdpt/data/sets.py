"""Several data sets side by side: the same machine type in two of them stays two machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ssdpt.data.layouts import Dataset, read_layout
from ssdpt.errors import SsdptError


def read_sets(paths: Sequence[Path]) -> Dataset:
    """The recordings of all data sets.

    A machine that is in two of them becomes two machines, each with the folder of its data set in
    its name: `dcase2022/bearing` and `dcase2023/bearing`. Others keep their names.
    """
    roots = list(dict.fromkeys(path.absolute() for path in paths))
    datasets = [read_layout(root) for root in roots]
    count = Counter(machine for dataset in datasets for machine in dataset.machines)
    owner: dict[str, Path] = {}
    recordings = []
    for root, dataset in zip(roots, datasets, strict=True):
        names = {
            machine: machine if count[machine] == 1 else f"{_set_name(root, machine)}/{machine}"
            for machine in dataset.machines
        }
        for machine, name in names.items():
            if owner.setdefault(name, root) is not root:
                raise SsdptError(
                    f"machine {machine} is both in {owner[name]} and in {root}, and the data sets "
                    "have folders of the same name; rename one of these folders"
                )
        recordings += [replace(item, machine=names[item.machine]) for item in dataset.recordings]
    return Dataset(
        root=paths[0],
        layout="+".join(dict.fromkeys(dataset.layout for dataset in datasets)),
        recordings=tuple(recordings),
        notes=tuple(note for dataset in datasets for note in dataset.notes),
    )


def machine_type(machine: str) -> str:
    """The type of a machine of `read_sets`: `bearing` of `dcase2022/bearing`."""
    return machine.rpartition("/")[2]


def _set_name(root: Path, machine: str) -> str:
    """The name of a data set that was given as its folder, or as the folder of one machine."""
    return root.parent.name if root.name == machine else root.name
