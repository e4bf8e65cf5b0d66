"""Fuzzes one target in a process of its own: first its seeds, then mutations of them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import atheris
from fuzz_mutation import mutate_document
from fuzz_oracle import Oracle, Violation
from fuzz_target import CORPUS, FuzzTarget, seeds, target_class

_ADDRESS_SPACE = 2 << 30  # bytes that a target may reserve besides what is loaded
_HANGS_AFTER = 60  # seconds; only what never comes back to Python, the oracle ends the rest
_STATE = re.compile(r"cov: (\d+) ft: (\d+) corp: (\d+)/")
_FIGURE = re.compile(r"stat::(\w+):\s+(\d+)")


@dataclass
class Result:
    """What a worker has done."""

    target: str
    runs: int = 0
    seconds: float = 0.0
    seeds: int = 0
    coverage: int = 0  # edges of the product's code
    coverage_of_seeds: int = 0
    new_inputs: int = 0  # that reached further code
    longest: float = 0.0  # seconds of processor time of one input
    peak_mb: int = 0
    failures: dict[str, str] = field(default_factory=dict)  # what happened -> the input's file


class Worker:
    """One target in this process. Everything it finds is in files: libFuzzer ends the process."""

    def __init__(self, name: str, out: Path) -> None:
        self.name, self.out = name, out
        self.kind: type[FuzzTarget] = target_class(name)
        self._places: set[str] = set()

    def fuzz(self, runs: int, seconds: int, seed: int) -> None:
        """Run the seeds and then up to `runs` inputs in at most `seconds` (0: any time)."""
        _limit_memory()
        with tempfile.TemporaryDirectory(prefix=f"fuzz-{self.name}-", dir=_fast_folder()) as folder:
            os.environ["TMPDIR"] = tempfile.tempdir = folder
            self._oracle = Oracle(Path(folder), self.kind.cpu_seconds, self.kind.memory_mb)
            self._target = self.kind(Path(folder))
            for path in seeds(self.name):
                self._one(path.read_bytes(), path.name)
            if runs or seconds:
                self._mutate(runs, seconds, seed)

    def _mutate(self, runs: int, seconds: int, seed: int) -> None:
        words = self.out / "words"
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in self.kind.words))
        new = self.out / "new"
        new.mkdir(exist_ok=True)
        arguments = (
            *("-print_final_stats=1", "-detect_leaks=0", "-rss_limit_mb=0"),
            *(f"-runs={runs or -1}", f"-max_total_time={seconds}", f"-seed={seed}"),
            *(f"-max_len={self.kind.longest}", f"-timeout={_HANGS_AFTER}"),
            *(f"-artifact_prefix={self.out}/", f"-dict={words}"),
        )
        folders = (str(new), str(CORPUS / self.name))
        more = {"custom_mutator": _mutated} if self.kind.document else {}
        atheris.Setup([sys.argv[0], *arguments, *folders], self._one, **more)
        atheris.Fuzz()

    def _one(self, data: bytes, name: str = "") -> None:
        longest = self._oracle.longest
        try:
            self._oracle.check(self._target.run, data)
        except Violation as error:
            if error.place not in self._places:
                self._places.add(error.place)
                self._keep(str(error), data, name)
        if self._oracle.longest > longest:
            (self.out / "longest").write_text(str(self._oracle.longest))

    def _keep(self, what: str, data: bytes, name: str) -> None:
        path = self.out / f"failed-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        with (self.out / "failures.jsonl").open("a") as file:
            file.write(json.dumps([what[:500], name or str(path)]) + "\n")


def _mutated(data: bytes, longest: int, seed: int) -> bytes:
    """Half of the mutations are of bytes."""
    changed = mutate_document(data, longest, seed) if seed % 2 else None
    return atheris.Mutate(data, longest) if changed is None else changed


def read_result(name: str, out: Path, seconds: float, status: int) -> Result:
    """What the worker of `out` has left there; `status` is that of its process."""
    log = (out / "log").read_text("utf-8", "replace")
    figures = {key: int(value) for key, value in _FIGURE.findall(log)}
    states = [(int(edges), int(inputs)) for edges, _, inputs in _STATE.findall(log)]
    result = Result(name, seconds=seconds, seeds=len(seeds(name)))
    result.runs = result.seeds + figures.get("number_of_executed_units", 0)
    result.new_inputs = figures.get("new_units_added", 0)
    result.peak_mb = figures.get("peak_rss_mb", 0)
    if states:
        result.coverage_of_seeds, result.coverage = states[0][0], states[-1][0]
    if (out / "longest").exists():
        result.longest = float((out / "longest").read_text())
    if (out / "failures.jsonl").exists():
        lines = (out / "failures.jsonl").read_text().splitlines()
        result.failures = dict(json.loads(line) for line in lines)
    if status:
        inputs = [path for kind in ("crash", "timeout", "oom") for path in out.glob(f"{kind}-*")]
        what = f"the process ended with status {status}: {log[-1500:]}"
        result.failures[what] = str(inputs[0]) if inputs else ""
    return result


def _limit_memory() -> None:
    """So that an absurd size is an error here, and not the end of other processes."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + _ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _fast_folder() -> str | None:
    """Memory instead of a disk, where there is such a folder."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)
