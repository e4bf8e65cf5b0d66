"""Writing the simulated data set: layout, resuming, foreign folders, child processes, bad input."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest

from ssdpt.common.progress import Reporter, Task
from ssdpt.data.simulator import PRESETS, Preset, simulate, simulation
from ssdpt.data.simulator.simulation import SimulationJob
from ssdpt.data.simulator.worker import work
from ssdpt.errors import SsdptError

SMALL = Preset("small", ("fan", "valve"), 1, 1, 1, (3.0, 9.0), (0.5, 1.0), 0.5, 0.4)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Preset:
    """A preset with 18 clips per machine, registered by name."""
    monkeypatch.setitem(PRESETS, "small", SMALL)
    return SMALL


def contents(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_an_interrupted_run_is_resumed(
    tmp_path: Path, small: Preset, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = contents(simulate(tmp_path / "whole", "small", machines=["fan"], workers=1))
    real, written = simulation.write_clip, []

    def interrupted(job: SimulationJob, name: object) -> list[simulation.FaultRow]:
        if len(written) == 7:
            raise KeyboardInterrupt
        written.append(name)
        return real(job, name)  # type: ignore[arg-type]

    part = tmp_path / "part"
    monkeypatch.setattr(simulation, "write_clip", interrupted)
    with pytest.raises(KeyboardInterrupt):
        simulate(part, "small", machines=["fan"], workers=1)
    monkeypatch.setattr(simulation, "write_clip", real)
    times = {path: path.stat().st_mtime_ns for path in part.rglob("*.wav")}
    assert len(times) == 7
    simulate(part, "small", machines=["fan"], workers=1)
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    assert contents(part) == whole


def test_a_damaged_manifest_restarts_the_simulation(tmp_path: Path, small: Preset) -> None:
    simulate(tmp_path, "small", machines=["fan"], workers=1)
    whole = contents(tmp_path)
    (tmp_path / "fan" / "plant.json").write_text("{", encoding="utf-8")
    simulate(tmp_path, "small", machines=["fan"], workers=1)
    assert contents(tmp_path) == whole


def test_an_output_path_that_is_a_file_is_an_error(tmp_path: Path, small: Preset) -> None:
    (tmp_path / "out").write_text("x", encoding="utf-8")
    with pytest.raises(SsdptError, match="cannot write"):
        simulate(tmp_path / "out", "small", machines=["fan"], workers=1)


def test_progress_counts_every_clip(tmp_path: Path, small: Preset) -> None:
    class Counter(Reporter):
        total: float | None = None
        done = 0.0

        @contextmanager
        def task(self, description: str, total: float | None = None) -> Iterator[Task]:
            self.total = total
            counter = self

            class Counting(Task):
                def advance(self, steps: float = 1, note: str = "") -> None:
                    counter.done += steps

            yield Counting()

    reporter = Counter()
    simulate(tmp_path, "small", machines=["fan"], workers=1, reporter=reporter)
    assert reporter.total == reporter.done == 18


def test_children_work_from_a_thread_of_a_script_without_a_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import threading\nfrom pathlib import Path\nfrom ssdpt.data.simulator import simulate\n"
        f"work = lambda: simulate(Path({str(tmp_path / 'out')!r}), 'tiny', machines=['fan'],"
        " workers=2)\n"
        "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n",
        encoding="utf-8",
    )
    subprocess.run([sys.executable, str(script)], check=True, timeout=60)
    assert len(list((tmp_path / "out").rglob("*.wav"))) == 48


def job_line(job: SimulationJob) -> str:
    names = [asdict(name) for machine in job.machines for name in job.names(machine)]
    message = {
        "out": str(job.out),
        "preset": job.preset.name,
        "seed": job.seed,
        "machines": job.machines,
        "names": names[:4],
    }
    return json.dumps(message) + "\n"


def test_a_worker_replies_with_a_line_per_clip(tmp_path: Path, small: Preset) -> None:
    replies = io.StringIO()
    work(io.StringIO(job_line(SimulationJob(tmp_path, small, 0, ("fan",)))), replies)
    lines = [json.loads(line) for line in replies.getvalue().splitlines()]
    assert [line["machine"] for line in lines] == ["fan"] * 4
    assert len(list(tmp_path.rglob("*.wav"))) == 4


def test_a_worker_that_cannot_write_reports_it_and_stops(tmp_path: Path, small: Preset) -> None:
    (tmp_path / "fan").write_text("in the way", encoding="utf-8")
    replies = io.StringIO()
    work(io.StringIO(job_line(SimulationJob(tmp_path, small, 0, ("fan",)))), replies)
    (line,) = replies.getvalue().splitlines()
    assert "cannot write" in json.loads(line)["error"]


def test_the_error_of_a_child_reaches_the_caller(tmp_path: Path) -> None:
    # The children look up the preset by name and do not have this one, so they end early.
    job = SimulationJob(tmp_path, SMALL, 0, ("fan",))
    before = threading.active_count()
    with pytest.raises(SsdptError, match="a simulation worker ended early; run it again"):
        list(simulation.write_clips(job, list(job.names("fan")), workers=2))
    assert threading.active_count() == before
