"""The plant on disk, in the layout of DCASE 2021: all cores at work, going on where it stopped."""

from __future__ import annotations

import csv
import io
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import soundfile

from ssdpt.common.files import atomic_path, write_json, write_text, writing
from ssdpt.common.progress import SILENT, Reporter
from ssdpt.data.simulator.catalogue import MACHINES
from ssdpt.data.simulator.clip import ClipName, clip, operating_point
from ssdpt.data.simulator.preset import Preset, preset_named
from ssdpt.data.simulator.timebase import RATE
from ssdpt.errors import SsdptError
from ssdpt.types import Domain, Label

PLANT_VERSION = 1  # raised whenever the same seed gives another sound
MANIFEST = "plant.json"
FAULTS = "faults.csv"
FAULT_COLUMNS = ("file", "fault", "severity", "start_s", "end_s", "low_hz", "high_hz")

_CLIPS_WORTH_A_WORKER = 30
FaultRow = tuple[str, str, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be made, and where."""

    out: Path
    preset: Preset
    seed: int
    machines: tuple[str, ...]

    def names(self, machine: str) -> Iterator[ClipName]:
        """Every clip of one machine, in the order of their names."""
        domains: tuple[Domain, ...] = ("source", "target")
        labels: tuple[Label, ...] = ("normal", "anomaly")
        train = {"source": self.preset.source_train, "target": self.preset.target_train}
        for section in range(self.preset.sections):
            for domain in domains:
                for index in range(train[domain]):
                    yield ClipName(machine, section, domain, "train", "normal", index)
                for label in labels:
                    for index in range(self.preset.test):
                        yield ClipName(machine, section, domain, "test", label, index)

    def path(self, name: ClipName) -> Path:
        """Where that clip goes."""
        file = name.file(operating_point(name, self.seed))
        return self.out / name.machine / name.folder / file

    @property
    def manifest(self) -> dict[str, Any]:
        """What decides the sound of every clip."""
        # Through JSON, so that it compares equal to what was read back.
        preset: dict[str, Any] = json.loads(json.dumps(asdict(self.preset)))
        del preset["machines"]
        return {"version": PLANT_VERSION, "seed": self.seed, "preset": preset}


def simulate(
    out: Path,
    preset: str = "demo",
    *,
    seed: int = 0,
    machines: Sequence[str] | None = None,
    reporter: Reporter = SILENT,
    workers: int | None = None,
) -> Path:
    """Write the simulated plant to `out/<machine>/{train,source_test,target_test}/…wav`.

    Beside the clips lies `faults.csv`: for each anomalous clip where its fault is to be heard,
    one row a region. Clips left by an interrupted run of the same plant are kept. `workers`
    None: one for each core. Returns `out`.
    """
    plant = preset_named(preset)
    chosen = tuple(plant.machines if machines is None else dict.fromkeys(machines))
    unknown = [name for name in chosen if name not in MACHINES]
    if unknown:
        known = ", ".join(MACHINES)
        raise SsdptError(f"{unknown[0]}: no such machine type in the plant; choose from {known}")
    if seed < 0:
        raise SsdptError(f"seed {seed}: a seed is a whole number from 0 up")
    order = Order(Path(out), plant, seed, chosen)
    waiting = [
        name for machine in chosen if prepare(order, machine) for name in order.names(machine)
    ]
    rows: dict[str, list[FaultRow]] = {machine: [] for machine in chosen}
    with reporter.task("Simulating the plant", total=len(waiting)) as task:
        for machine, found in make_clips(order, waiting, workers=workers):
            rows[machine] += found
            task.advance(note=machine)
    for machine in dict.fromkeys(name.machine for name in waiting):
        write_faults(order.out / machine / FAULTS, rows[machine])
    return order.out


def prepare(order: Order, machine: str) -> bool:
    """Make the machine's folder ready; False where it already holds the whole of this plant."""
    folder = order.out / machine
    manifest = folder / MANIFEST
    clips = [
        path for part in ("train", "source_test", "target_test") for path in _clips(folder / part)
    ]
    if clips and not manifest.is_file():
        raise SsdptError(
            f"{folder}: already holds recordings that are not the simulated plant's;"
            " choose another folder"
        )
    try:
        same = json.loads(manifest.read_text(encoding="utf-8")) == order.manifest
    except (OSError, ValueError):
        same = False
    if not same:
        with writing(folder):
            (folder / FAULTS).unlink(missing_ok=True)
            for path in clips:
                path.unlink()
        write_json(manifest, order.manifest)
        return True
    there = set(clips)
    return not (folder / FAULTS).is_file() or any(
        order.path(name) not in there for name in order.names(machine)
    )


def make(order: Order, name: ClipName) -> list[FaultRow]:
    """Write one clip unless it is there, and say where its fault is to be heard."""
    path = order.path(name)
    if path.is_file() and name.label == "normal":
        return []
    made = clip(name, seed=order.seed, preset=order.preset)
    if not path.is_file():
        with atomic_path(path) as temporary:
            soundfile.write(temporary, made.samples, RATE, subtype="PCM_16", format="WAV")
    if made.fault is None:
        return []
    fault, severity = made.fault.name, round(made.fault.severity, 3)
    return [
        (path.name, fault, severity, spot.start_s, spot.end_s, spot.low_hz, spot.high_hz)
        for spot in made.regions
    ]


def write_faults(path: Path, rows: Sequence[FaultRow]) -> None:
    """Write `faults.csv`, ordered by clip and time."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FAULT_COLUMNS)
    writer.writerows(sorted(rows))
    write_text(path, text.getvalue())


def _clips(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.wav")) if folder.is_dir() else []


def _count_workers(asked: int | None, clips: int) -> int:
    if asked is not None:
        return max(1, min(asked, clips))
    # Not every system can say which cores this process may use.
    free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(free, clips // _CLIPS_WORTH_A_WORKER))


def make_clips(
    order: Order, names: Sequence[ClipName], *, workers: int | None = None
) -> Iterator[tuple[str, list[FaultRow]]]:
    """Write the clips that are not there yet; a clip's machine and faults as it is done.

    `workers` None: one for each core. The order's preset must be one that has a name.
    """
    workers = _count_workers(workers, len(names))
    if workers == 1:
        for name in names:
            yield name.machine, make(order, name)
        return
    # Children with a command line of their own, not multiprocessing: this works from a thread,
    # from a script without a main guard, and beside libraries that must not be forked.
    root = str(Path(__file__).parents[3])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "ssdpt.data.simulator.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            start_new_session=True,  # Ctrl-C reaches the parent alone, which ends its children
        )
        for _ in range(workers)
    ]
    results: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    threads = [
        threading.Thread(target=_talk, args=(child, order, names[k::workers], results), daemon=True)
        for k, child in enumerate(children)
    ]
    try:
        for thread in threads:
            thread.start()
        running = workers
        while running:
            result = results.get()
            if result is None:
                running -= 1
            elif "error" in result:
                raise SsdptError(str(result["error"]))
            else:
                yield result["machine"], [tuple(row) for row in result["rows"]]
    finally:
        for child in children:
            child.kill()
            child.wait()
        for thread in threads:
            thread.join()


def _talk(
    child: subprocess.Popen[str],
    order: Order,
    names: Sequence[ClipName],
    results: queue.SimpleQueue[dict[str, Any] | None],
) -> None:
    """Hand a child its share, one line, and pass on its answers, one line a clip."""
    assert child.stdin is not None
    assert child.stdout is not None
    job = {
        "out": str(order.out),
        "preset": order.preset.name,
        "seed": order.seed,
        "machines": order.machines,
        "names": [asdict(name) for name in names],
    }
    answered = 0
    try:
        with child.stdin, child.stdout:
            child.stdin.write(json.dumps(job) + "\n")
            child.stdin.flush()
            for line in child.stdout:
                results.put(json.loads(line))
                answered += 1
    except (OSError, ValueError) as error:
        results.put({"error": f"{order.out}: a simulation worker failed ({error}); run it again"})
    else:
        if answered < len(names):
            results.put({"error": f"{order.out}: a simulation worker ended early; run it again"})
    results.put(None)
