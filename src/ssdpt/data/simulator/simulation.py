"""Write the simulated plant to disk in DCASE 2021 layout: in parallel, resumable."""

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

PLANT_VERSION = 1  # increased whenever the same seed gives another sound
MANIFEST = "plant.json"
FAULTS = "faults.csv"
FAULT_COLUMNS = ("file", "fault", "severity", "start_s", "end_s", "low_hz", "high_hz")

_CLIPS_PER_WORKER = 30
FaultRow = tuple[str, str, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class SimulationJob:
    """What to simulate, and where to write it."""

    out: Path
    preset: Preset
    seed: int
    machines: tuple[str, ...]

    def names(self, machine: str) -> Iterator[ClipName]:
        """Every clip of one machine, sorted by name."""
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
        """The path of that clip."""
        file = name.file(operating_point(name, self.seed))
        return self.out / name.machine / name.folder / file

    @property
    def manifest(self) -> dict[str, Any]:
        """Everything that determines the sound of the clips."""
        # Through JSON, so that it compares equal to a manifest read from disk.
        preset: dict[str, Any] = json.loads(json.dumps(asdict(self.preset)))
        del preset["machines"]
        return {"version": PLANT_VERSION, "seed": self.seed, "preset": preset}


def simulate(
    out: str | os.PathLike[str],
    preset: str = "demo",
    *,
    seed: int = 0,
    machines: Sequence[str] | None = None,
    reporter: Reporter = SILENT,
    workers: int | None = None,
) -> Path:
    """Write the simulated plant to `out/<machine>/{train,source_test,target_test}/…wav`.

    `faults.csv` beside the clips lists where the fault of each anomalous clip is audible, one row
    per region. Clips left by an interrupted run of the same plant are kept. `workers` None: one per
    core. Returns `out`.
    """
    plant = preset_named(preset)
    chosen = tuple(plant.machines if machines is None else dict.fromkeys(machines))
    unknown = [name for name in chosen if name not in MACHINES]
    if unknown:
        choices = ", ".join(MACHINES)
        raise SsdptError(f"{unknown[0]}: no such machine type in the plant; choose from {choices}")
    if seed < 0:
        raise SsdptError(f"seed {seed}: a seed is a whole number, 0 or greater")
    job = SimulationJob(Path(out), plant, seed, chosen)
    waiting = [name for machine in chosen if prepare(job, machine) for name in job.names(machine)]
    rows: dict[str, list[FaultRow]] = {machine: [] for machine in chosen}
    with reporter.task("Simulating the plant", total=len(waiting)) as task:
        for machine, fault_rows in write_clips(job, waiting, workers=workers):
            rows[machine] += fault_rows
            task.advance(note=machine)
    for machine in dict.fromkeys(name.machine for name in waiting):
        write_faults(job.out / machine / FAULTS, rows[machine])
    return job.out


def prepare(job: SimulationJob, machine: str) -> bool:
    """Prepare the machine's folder; False if it already holds all of its clips."""
    folder = job.out / machine
    manifest = folder / MANIFEST
    clips = [
        path for part in ("train", "source_test", "target_test") for path in _clips(folder / part)
    ]
    if clips and not manifest.is_file():
        raise SsdptError(
            f"{folder}: already holds recordings that were not simulated here;"
            " choose another folder"
        )
    try:
        same = json.loads(manifest.read_text(encoding="utf-8")) == job.manifest
    except (OSError, ValueError):
        same = False
    if not same:
        with writing(folder):
            (folder / FAULTS).unlink(missing_ok=True)
            for path in clips:
                path.unlink()
        write_json(manifest, job.manifest)
        return True
    existing = set(clips)
    return not (folder / FAULTS).is_file() or any(
        job.path(name) not in existing for name in job.names(machine)
    )


def write_clip(job: SimulationJob, name: ClipName) -> list[FaultRow]:
    """Write one clip unless it exists; return where its fault is audible."""
    path = job.path(name)
    if path.is_file() and name.label == "normal":
        return []
    simulated = clip(name, seed=job.seed, preset=job.preset)
    if not path.is_file():
        with atomic_path(path) as temporary:
            soundfile.write(temporary, simulated.samples, RATE, subtype="PCM_16", format="WAV")
    if simulated.fault is None:
        return []
    fault, severity = simulated.fault.name, round(simulated.fault.severity, 3)
    return [
        (path.name, fault, severity, region.start_s, region.end_s, region.low_hz, region.high_hz)
        for region in simulated.regions
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


def _count_workers(requested: int | None, clips: int) -> int:
    if requested is not None:
        return max(1, min(requested, clips))
    # Not every operating system tells which cores this process may use.
    free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(free, clips // _CLIPS_PER_WORKER))


def write_clips(
    job: SimulationJob, names: Sequence[ClipName], *, workers: int | None = None
) -> Iterator[tuple[str, list[FaultRow]]]:
    """Write the missing clips; yield the machine and fault rows of each clip once it is written.

    `workers` None: one per core. The job's preset must be one of `PRESETS`.
    """
    workers = _count_workers(workers, len(names))
    if workers == 1:
        for name in names:
            yield name.machine, write_clip(job, name)
        return
    # Child processes with their own command line, not multiprocessing: this works from a thread,
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
            start_new_session=True,  # Ctrl-C reaches only the parent, which ends its children
        )
        for _ in range(workers)
    ]
    results: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    threads = [
        threading.Thread(
            target=_run_child, args=(child, job, names[k::workers], results), daemon=True
        )
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


def _run_child(
    child: subprocess.Popen[str],
    job: SimulationJob,
    names: Sequence[ClipName],
    results: queue.SimpleQueue[dict[str, Any] | None],
) -> None:
    """Send a child its clips as one line, and queue its replies, one line per clip."""
    assert child.stdin is not None
    assert child.stdout is not None
    message = {
        "out": str(job.out),
        "preset": job.preset.name,
        "seed": job.seed,
        "machines": job.machines,
        "names": [asdict(name) for name in names],
    }
    replies = 0
    try:
        with child.stdin, child.stdout:
            child.stdin.write(json.dumps(message) + "\n")
            child.stdin.flush()
            for line in child.stdout:
                results.put(json.loads(line))
                replies += 1
    except (OSError, ValueError) as error:
        results.put({"error": f"{job.out}: a simulation worker failed ({error}); run it again"})
    else:
        if replies < len(names):
            results.put({"error": f"{job.out}: a simulation worker ended early; run it again"})
    results.put(None)
