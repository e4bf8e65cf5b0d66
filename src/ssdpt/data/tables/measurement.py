"""From a table of numbers to samples: which columns are channels, their rate, unit and scale."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdpt.data.audio_error import AudioError
from ssdpt.data.sensor import DEFAULT_FULL_SCALE, Sensor, unit_of
from ssdpt.data.tables.base import Column, Table
from ssdpt.types import Floats, Unit

_BEYOND = 1.25  # of full scale: a little more is a sensor at its limit, not another unit
_SLOWEST_RATE, _FASTEST_RATE = 100, 10_000_000  # Hz; outside, it is not a sample rate
_EVEN = 0.01  # largest deviation of a step of time, in steps, where no name says that it is time
_GAP = 2.5  # steps of time without a sample
_LEAST_ROWS = 2
_TIME_NAME = re.compile(
    r"(?:t|time|times|time ?stamp|zeit|seconds|date|date ?time)(?:[ _](?P<unit>s|ms|us|µs|ns))?"
)
_COUNT_NAMES = frozenset({"", "index", "sample", "samples", "n", "no", "nr", "unnamed: 0"})
_SECONDS = {"": 1.0, "s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6}
_SECONDS["ns"] = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """The samples of a table."""

    frames: Floats  # (samples, channels), a sample of 1 means the full scale
    sample_rate: int  # Hz
    unit: Unit
    full_scale: float
    axes: tuple[str, ...]  # names of the channels; empty where they have none


def measurement_of(table: Table, sensor: Sensor, path: Path) -> Measurement:
    """What was measured; AudioError where the table and `sensor.yaml` do not say it."""
    chosen = _channels(table, sensor, path)
    count = len(chosen[0].values)
    if any(len(column.values) != count for column in chosen):
        lengths = ", ".join(f"{_label(column)} {len(column.values)}" for column in chosen)
        raise AudioError(
            path, "refused", f"its columns have different lengths ({lengths}); name alike ones"
        )
    if count < _LEAST_ROWS:
        raise AudioError(path, "empty", f"holds no measurement ({count} rows); record it again")
    rate = _rate(table, chosen, sensor, path)
    values = np.stack([column.values for column in chosen], axis=1)  # (samples, channels)
    finite = np.isfinite(values)
    if not finite.all():
        row, column = (int(place) for place in np.argwhere(~finite)[0])
        raise AudioError(
            path,
            "not numbers",
            f"{table.where(row)}, {_label(chosen[column])}: samples that are not numbers (an empty "
            f"cell, NaN or infinite); write it again from the original recording",
        )
    unit = _unit(chosen, sensor, path)
    scale = sensor.full_scale or DEFAULT_FULL_SCALE[unit]
    _check_scale(path, float(np.abs(values).max()), unit, scale, sensor)
    names = tuple(column.name for column in chosen)
    distinct = all(names) and len(set(names)) == len(names)
    return Measurement(
        frames=(values / scale).astype(np.float32),
        sample_rate=rate,
        unit=unit,
        full_scale=scale,
        axes=sensor.axes or (names if distinct else ()),
    )


def _channels(table: Table, sensor: Sensor, path: Path) -> list[Column]:
    if sensor.columns:
        return [item for wanted in sensor.columns for item in _called(table, wanted, path)]
    left = [column for column in table.columns if not _is_time(column) and not _counts(column)]
    calibrated = [column for column in left if unit_of(column.unit)]
    left = calibrated or left
    variables = list(dict.fromkeys(column.variable for column in left))
    if len(variables) > 1:
        raise AudioError(
            path,
            "refused",
            f"which of its variables is the measurement: {', '.join(variables)}? Name it in a "
            f"sensor.yaml beside it, e.g. columns: [{variables[0]}]",
        )
    if not left:
        raise AudioError(
            path,
            "refused",
            f"no column of numbers that could be a measurement; {_there_are(table)}",
        )
    return left


def _called(table: Table, wanted: str | int, path: Path) -> list[Column]:
    """The columns of a name, a pattern such as *_DE_time, or a number from 0."""
    if isinstance(wanted, int):
        found = [column for column in table.columns if column.number == wanted]
    else:
        found = [
            column
            for column in table.columns
            if fnmatch.fnmatchcase(column.name, wanted)
            or (column.variable and fnmatch.fnmatchcase(column.variable, wanted))
        ]
    if not found:
        raise AudioError(
            path,
            "refused",
            f"sensor.yaml names the column {wanted}, but it has no numbers in such a column; "
            f"{_there_are(table)}",
        )
    return found


def _there_are(table: Table) -> str:
    labels = dict.fromkeys(column.variable or column.name for column in table.columns)
    names = ", ".join(label for label in labels if label)
    if not names:
        return f"there are {len(table.columns)} columns without names, counted from 0"
    return f"there are {names}"


def _label(column: Column) -> str:
    return column.name or "the column"


def _is_time(column: Column) -> bool:
    """Whether a column is the time of each row, by its name or by its even rise."""
    if column.name:
        return _TIME_NAME.fullmatch(column.name.lower()) is not None
    steps = _steps(column)
    return steps is not None and _SLOWEST_RATE <= 1 / steps <= _FASTEST_RATE


def _counts(column: Column) -> bool:
    """Whether a column numbers the rows."""
    return column.name.lower() in _COUNT_NAMES and _steps(column) == 1.0


def _steps(column: Column) -> float | None:
    """The step of values that rise evenly; None where they do not."""
    if len(column.values) <= _LEAST_ROWS:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # of values near or beyond the largest
        steps = np.diff(column.values)
        mean = float(steps.mean())
        even = mean > 0 and bool((np.abs(steps - mean) <= _EVEN * mean).all())
    return round(mean, 12) if even else None


def _rate(table: Table, chosen: Sequence[Column], sensor: Sensor, path: Path) -> int:
    """Hz, from `sensor.yaml`, the file itself or a column of times."""
    count = len(chosen[0].values)
    times = [
        column
        for column in table.columns
        if column not in chosen and len(column.values) == count and _is_time(column)
    ]
    measured = _rate_of_times(table, times[0], path) if times else None
    rate = sensor.sample_rate or table.sample_rate or measured
    if rate is None:
        raise AudioError(
            path,
            "refused",
            "its sample rate is not known: it has no column of times; write the rate in Hz into a "
            "sensor.yaml beside it, e.g. sample_rate: 25600",
        )
    if not _SLOWEST_RATE <= rate <= _FASTEST_RATE:
        raise AudioError(
            path,
            "refused",
            f"{rate:.4g} values per second are no sample rate of a sensor; name the unit of its "
            "times, e.g. time [ms], or sample_rate in a sensor.yaml beside it",
        )
    return round(rate)


@np.errstate(over="ignore", invalid="ignore")  # times that are no numbers are refused below
def _rate_of_times(table: Table, column: Column, path: Path) -> float:
    """Values per second; times may be written with few digits."""
    name = _TIME_NAME.fullmatch(column.name.lower())
    text = (name["unit"] if name else None) or column.unit.lower()
    times = column.values * _SECONDS.get(text, 1.0)
    steps = np.diff(times)
    if not np.isfinite(steps).all() or (steps < 0).any():
        row = int(np.argmin(np.isfinite(steps) & (steps >= 0))) + 1
        raise AudioError(
            path,
            "times out of order",
            f"times out of order at {table.where(row)}; sort its rows, or record it again",
        )
    span = float(times[-1] - times[0])
    if span <= 0:
        raise AudioError(path, "times out of order", "all its times are the same; record it again")
    step = span / len(steps)
    finest = float(steps[steps > 0].min())
    if float(steps.max()) > _GAP * max(step, finest):
        row = int(steps.argmax()) + 1
        raise AudioError(
            path,
            "times out of order",
            f"its times jump by {float(steps.max()):.3g} s at {table.where(row)}: samples are "
            f"missing; record it again, or keep the part before",
        )
    line = times[0] + step * np.arange(len(times))
    unsure = 2 * float(np.abs(times - line).max()) / span + 1e-6  # share of the rate
    return _plainest(1 / step, unsure / step)


def _plainest(value: float, tolerance: float) -> float:
    """The number with the fewest digits within `tolerance` of `value`."""
    for digits in range(1, 8):
        rounded = float(f"{value:.{digits}g}")
        if abs(rounded - value) <= tolerance:
            return rounded
    return value


def _unit(chosen: Sequence[Column], sensor: Sensor, path: Path) -> Unit:
    named = {unit for column in chosen if (unit := unit_of(column.unit))}
    if sensor.unit:
        named.add(sensor.unit)
    if len(named) > 1:
        both = " and ".join(sorted(named))
        raise AudioError(
            path,
            "wrong unit",
            f"its columns and sensor.yaml name different units ({both}); keep one, and name the "
            f"columns of one unit",
        )
    return named.pop() if named else ""


def _check_scale(path: Path, largest: float, unit: Unit, scale: float, sensor: Sensor) -> None:
    if largest <= _BEYOND * scale:
        return
    if not unit and sensor.full_scale is None:
        raise AudioError(
            path,
            "wrong unit",
            f"its largest value is {largest:.4g}, and its unit is not known; write unit (g, m/s², "
            f"mm/s or Pa) or full_scale into a sensor.yaml beside it",
        )
    raise AudioError(
        path,
        "wrong unit",
        f"its largest value is {largest:.4g} {unit}, far beyond the full scale of {scale:g} "
        f"{unit}; unit or full_scale is probably wrong, correct it in sensor.yaml",
    )
