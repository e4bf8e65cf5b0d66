"""A model on disk: a folder of plain files, written as a whole, read without running any code.

config.json         what it is: format, version, machine, sections, settings, file digests
model.safetensors   everything learned
calibration.json    how high normal clips score: thresholds and p-values
data.json           which recordings it was made from (content digests), so that none tests it
training.jsonl      how the training went, a line an epoch (systems with a network)
encoder.onnx        the encoder that one of its views is made with, if there is one
README.md           the model card
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from ssdpt.common.files import atomic_folder, digest, is_file, write_json, write_text
from ssdpt.common.temporary import is_temporary
from ssdpt.config.encoder import EncoderConfig
from ssdpt.config.registry import system_entries
from ssdpt.config.tree import Config, parse_stored_config
from ssdpt.detection.upgrade import upgraded_arrays, upgraded_data, upgraded_head
from ssdpt.errors import SsdptError
from ssdpt.scoring.calibrate import Calibration
from ssdpt.training.log import LOG_FILE
from ssdpt.version import __version__

FORMAT = 5  # what changed since the first: `ssdpt.detection.upgrade`
CONFIG, WEIGHTS, CALIBRATION, DATA, CARD, ENCODER = (
    "config.json",
    "model.safetensors",
    "calibration.json",
    "data.json",
    "README.md",
    "encoder.onnx",
)
# What a description with wrong values can raise anywhere on its way into a model.
DAMAGE = (
    *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError),
    MemoryError,  # an absurd size
)
MODEL_FILES = frozenset({CONFIG, WEIGHTS, CALIBRATION, DATA, CARD, ENCODER, LOG_FILE})


@dataclass(frozen=True, slots=True)
class StoredModel:
    """The content of a model folder."""

    machine: str
    sections: tuple[str, ...]
    config: Config
    description: dict[str, Any]  # of the system, besides its arrays
    arrays: Mapping[str, np.ndarray]
    calibration: Calibration
    recordings_seen: Mapping[str, str]  # content digest -> name, of all that it was made from
    notes: tuple[str, ...]  # of the fit
    version: str = __version__


def is_model(folder: Path) -> bool:
    """Whether `folder` is a model folder (it may still be damaged)."""
    return (folder / CONFIG).is_file()


def write_model(
    folder: Path, model: StoredModel, card: str, extra: Mapping[str, str] | None = None
) -> None:
    """Write a model folder as a whole; only a model or an empty folder is ever replaced."""
    check_replaceable(folder)
    with atomic_folder(folder) as place:
        arrays = {name: np.asarray(array, order="C") for name, array in model.arrays.items()}
        (place / WEIGHTS).write_bytes(save(arrays))
        write_json(place / CALIBRATION, model.calibration.to_json())
        write_json(place / DATA, {"recordings": dict(model.recordings_seen)})
        for name, text in (extra or {}).items():
            write_text(place / name, text)
        write_text(place / CARD, card)
        encoder = model.config.part(EncoderConfig)
        if encoder.file:
            _copy_encoder(encoder, place / ENCODER)
        write_json(
            place / CONFIG,
            {
                "format": FORMAT,
                "ssdpt_version": model.version,
                "machine": model.machine,
                "sections": list(model.sections),
                "system": model.description,
                "notes": list(model.notes),
                "config": _with_encoder_file(model.config, ENCODER).model_dump(),
                "digests": {
                    name: digest(place / name)
                    for name in (WEIGHTS, DATA, ENCODER)
                    if (place / name).is_file()
                },
            },
        )


def check_replaceable(
    folder: Path, head: str = CONFIG, files: frozenset[str] = MODEL_FILES, newest: int = FORMAT
) -> None:
    """Refuse to write a model over anything that is not one of its kind."""
    if folder.exists() and not folder.is_dir():
        raise SsdptError(f"{folder}: is a file; a model is a folder, choose another name")
    if not folder.is_dir():
        return
    names = (entry.name for entry in folder.iterdir() if not is_temporary(entry.name))
    foreign = sorted(name for name in names if name not in files)
    if foreign:
        raise SsdptError(
            f"{folder}: holds other files ({foreign[0]}), which a new model would delete; "
            "choose an empty or a new folder"
        )
    if (folder / head).is_file():
        # Many programs have a config.json: only one of ours is written over.
        check_format(folder, read_json(folder / head), head, newest)


def read_model(folder: Path) -> StoredModel:
    """Read a model folder; damage and foreign files end in a sentence that names the file."""
    if not folder.is_dir():
        raise SsdptError(f"{folder}: no such model folder")
    if not is_model(folder):
        raise SsdptError(f"{folder}: not a model folder: it has no {CONFIG}")
    head = read_json(folder / CONFIG)
    check_format(folder, head)
    check_digests(folder, _entry(folder, head, "digests", dict))
    settings = _entry(folder, head, "config", dict)
    description = _entry(folder, head, "system", dict)
    with _reading(folder):
        settings, description = upgraded_head(head["format"], settings, description)
    config = parse_stored_config(settings, str(folder / CONFIG))
    config = _with_encoder_file(config, str((folder / ENCODER).absolute()))
    encoder = config.part(EncoderConfig)
    if encoder.file and not encoder.is_found:
        raise SsdptError(f"{folder}: damaged model: what its encoder takes and gives is missing")
    check_oldest_format(folder, head["format"], config.system)
    try:
        arrays = load_file(folder / WEIGHTS)
    except (SafetensorError, OSError, ValueError) as error:
        raise SsdptError(f"{folder / WEIGHTS}: damaged; copy or fit the model again") from error
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise SsdptError(
                f"{folder / WEIGHTS}: damaged: {name} holds values that are not finite numbers; "
                "copy or fit the model again"
            )
    with _reading(folder):
        arrays = dict(upgraded_arrays(head["format"], arrays))
    return StoredModel(
        machine=_entry(folder, head, "machine", str),
        sections=tuple(str(name) for name in _entry(folder, head, "sections", list)),
        config=config,
        description=description,
        arrays=arrays,
        calibration=read_calibration(folder),
        recordings_seen=read_recordings_seen(folder, head["format"]),
        notes=tuple(str(note) for note in _entry(folder, head, "notes", list)),
        version=_entry(folder, head, "ssdpt_version", str),
    )


def read_calibration(folder: Path) -> Calibration:
    """The thresholds of a model."""
    try:
        return Calibration.from_json(read_json(folder / CALIBRATION))
    except DAMAGE as error:
        raise SsdptError(
            f"{folder / CALIBRATION}: damaged or foreign; copy or fit the model again"
        ) from error


def read_recordings_seen(folder: Path, number: int = FORMAT) -> dict[str, str]:
    """Content digest -> name of every recording that a model of format `number` was made from."""
    with _reading(folder):
        data = upgraded_data(number, read_json(folder / DATA))
    recordings: dict[str, str] = _entry(folder, data, "recordings", dict)
    return recordings


def write_calibration(folder: Path, calibration: Calibration, card: str) -> None:
    """Change the thresholds of a saved model and nothing else."""
    write_json(folder / CALIBRATION, calibration.to_json())
    write_text(folder / CARD, card)


def check_digests(folder: Path, digests: Mapping[str, str]) -> None:
    """Refuse a folder of which a file is missing, or is not the one that was written."""
    for name, expected in digests.items():
        path = folder / str(name)
        if path.name != name or not is_file(path):
            raise SsdptError(f"{path}: this file of the model is missing; copy the whole folder")
        if digest(path) != expected:
            raise SsdptError(f"{path}: damaged or of another model; copy or fit the model again")


def check_format(
    folder: Path, head: dict[str, Any], name: str = CONFIG, newest: int = FORMAT
) -> None:
    """Refuse what ssdpt has not written, or only a later version can read."""
    number = head.get("format")
    if not isinstance(number, int):
        raise SsdptError(f"{folder / name}: not written by ssdpt: it names no format")
    if number > newest:
        raise SsdptError(
            f"{folder}: made by ssdpt {head.get('ssdpt_version', '?')}, which is newer than this "
            f"one ({__version__}); upgrade ssdpt to use it"
        )


def check_oldest_format(folder: Path, number: int, system: str) -> None:
    """Refuse a model that is older than what its system can read."""
    entry = system_entries().get(system)  # an exported model needs no package of its system
    if entry is not None and number < entry.oldest_format:
        raise SsdptError(
            f"{folder}: a model of an older ssdpt, which system {system} cannot read; fit it again"
        )


def read_json(path: Path) -> dict[str, Any]:
    """One JSON object, as every head of ours is."""
    try:
        tree = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise SsdptError(
            f"{path}: this file of the model is missing; copy the whole folder"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise SsdptError(f"{path}: damaged: not readable as JSON") from error
    if not isinstance(tree, dict):
        raise SsdptError(f"{path}: damaged: not what ssdpt writes")
    return tree


@contextlib.contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Turn whatever wrong values raise into a sentence."""
    try:
        yield
    except DAMAGE as error:
        raise SsdptError(f"{folder}: damaged model; copy or fit it again") from error


def _with_encoder_file(config: Config, file: str) -> Config:
    """The same settings with the encoder, where there is one, in another file."""
    encoder = config.part(EncoderConfig)
    if not encoder.file:
        return config
    return config.with_parts(encoder.model_copy(update={"file": file}))


def _copy_encoder(encoder: EncoderConfig, copy: Path) -> None:
    """A model needs nothing outside its folder, so the encoder goes into it."""
    try:
        shutil.copyfile(encoder.file, copy)
    except FileNotFoundError as error:
        raise SsdptError(
            f"{encoder.file}: this encoder is gone since the fit; put it back, or fit again"
        ) from error
    if digest(copy) != encoder.digest:
        raise SsdptError(
            f"{encoder.file}: this encoder has changed since the fit; put the old file back, or "
            "fit again"
        )


def _entry(folder: Path, tree: dict[str, Any], name: str, kind: type) -> Any:
    if not isinstance(tree.get(name), kind):
        raise SsdptError(f"{folder}: damaged model: '{name}' is missing or of the wrong kind")
    return tree[name]
