"""MATLAB files: every variable of numbers, of any version; 7.3 is HDF5 and needs h5py.

The longer side of a matrix is time. Fields of a structure are called `structure.field`. A variable
called fs or sample_rate gives the rate.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ssdpt.data.audio_error import AudioError
from ssdpt.data.sensor import Sensor
from ssdpt.data.tables.base import Column, Table, TableFormat, unpacked_bytes
from ssdpt.errors import SsdptError

_HDF5 = b"\x89HDF\r\n\x1a\n"
_HDF5_AT = 512  # bytes: MATLAB writes its own header before that of HDF5
_RATE_NAMES = frozenset(
    {"fs", "f_s", "sr", "samplerate", "sample_rate", "samplingrate", "sampling_rate"}
)
_DEEPEST = 4  # structures in structures

Variables = Iterator[tuple[str, np.ndarray]]


def _read(path: Path, sensor: Sensor) -> Table:
    rate: float | None = None
    columns: list[Column] = []
    for name, array in _variables(path):
        if array.size == 1:
            if name.rpartition(".")[2].lower() in _RATE_NAMES:
                rate = float(array.reshape(()))
        elif array.ndim <= 2 and array.size:
            long = array.reshape(-1, 1) if 1 in array.shape or array.ndim < 2 else array
            long = long if len(long) >= long.shape[1] else long.T  # (rows, channels)
            for number, values in enumerate(long.T):
                label = name if long.shape[1] == 1 else f"{name}_{number}"
                values = values.astype(np.float64)
                columns.append(Column(label, values, variable=name, number=len(columns)))
    return Table(tuple(columns), rate)


def _variables(path: Path) -> Variables:
    with path.open("rb") as file:
        beginning = file.read(_HDF5_AT + len(_HDF5))
    if _HDF5 in (beginning[: len(_HDF5)], beginning[_HDF5_AT:]):
        return _version_7_3(path)
    return _version_5(path)


def _version_5(path: Path) -> Variables:
    try:
        from scipy.io import loadmat
        from scipy.io.matlab import MatReadError
    except ImportError as error:
        raise SsdptError(
            f"{path}: MATLAB files need the package scipy; install it with: "
            "pip install 'ssdpt[sensors]'"
        ) from error
    try:
        with warnings.catch_warnings():  # what scipy warns of are variables that are no numbers
            warnings.simplefilter("ignore")
            content = loadmat(path)
    except (MatReadError, ValueError, TypeError, KeyError, IndexError, EOFError) as error:
        raise _damaged(path, error) from error
    except (OSError, zlib.error, MemoryError, OverflowError, NotImplementedError) as error:
        raise _damaged(path, error) from error
    for name, array in content.items():
        if not name.startswith("__"):
            yield from _of_structure(name, array)


def _of_structure(name: str, value: Any, depth: int = 0) -> Variables:
    array = np.asarray(value)
    if array.dtype.names and array.size == 1 and depth < _DEEPEST:
        for field in array.dtype.names:
            yield from _of_structure(f"{name}.{field}", array.reshape(-1)[0][field], depth + 1)
    elif array.dtype.kind in "fiu":
        yield name, array


def _version_7_3(path: Path) -> Variables:
    try:
        import h5py
    except ImportError as error:
        raise SsdptError(
            f"{path}: MATLAB files of version 7.3 need the package h5py; install it with: "
            "pip install 'ssdpt[sensors]'"
        ) from error
    try:
        with h5py.File(path, "r") as file:
            yield from list(_of_group(h5py, file, "", set()))
    except (OSError, ValueError, TypeError, LookupError, RuntimeError, AttributeError) as error:
        raise _damaged(path, error) from error
    except (MemoryError, ArithmeticError, NotImplementedError) as error:
        raise _damaged(path, error) from error


def _of_group(h5py: Any, group: Any, prefix: str, seen: set[int], depth: int = 0) -> Variables:
    """The variables of a group, each once: what links lead to may be elsewhere, or above."""
    for name in group:
        link = group.get(name, getlink=True)
        if name.startswith("#") or not isinstance(link, h5py.HardLink):  # MATLAB's own, or a link
            continue
        item = group[name]
        place = h5py.h5o.get_info(item.id).addr
        if place in seen:
            continue
        seen.add(place)
        if isinstance(item, h5py.Group):
            if depth < _DEEPEST:
                yield from _of_group(h5py, item, f"{prefix}{name}.", seen, depth + 1)
        elif item.dtype.kind in "fiu" and item.attrs.get("MATLAB_class") != b"char":
            _check_dataset(item)
            yield f"{prefix}{name}", np.asarray(item[()])


def _check_dataset(item: Any) -> None:
    """ValueError where the values are not in the file: in other files, or never written."""
    if item.external or item.is_virtual:
        raise ValueError("its values are in another file")
    if item.nbytes > unpacked_bytes(item.id.get_storage_size()):
        raise ValueError(f"it promises {item.nbytes} bytes of values and holds far fewer")


def _damaged(path: Path, error: Exception) -> AudioError:
    reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return AudioError(
        path,
        "cut short",
        f"damaged or cut short, or not a MATLAB file ({reason}); copy or save it again",
    )


FORMAT = TableFormat((".mat",), _read, lambda path, sensor: True)
