"""Fuzzes every reader of foreign input, and prints what came of it.

python tests/fuzz/fuzz_campaign.py --runs 1000000
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import atheris


@contextlib.contextmanager
def _instrumented() -> Iterator[None]:
    """Modules of the product that are imported meanwhile tell which of their code runs."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)  # a line for each module
    try:
        with atheris.instrument_imports(include=["ssdpt"]):
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


with _instrumented():
    from fuzz_target import target_class, target_names
    from fuzz_worker import Result, Worker, read_result

_ROW = "{:<18} {:>9} {:>8} {:>13} {:>11} {:>8} {:>9} {:>8}"
_HEADINGS = (
    *("target", "runs", "runs/s", "coverage", "seeds+new", "failures", "longest s", "peak MB"),
)


def main() -> int:
    """The command; 1 where an input has failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", help="by default all")
    parser.add_argument("--runs", type=int, default=100_000, help="of all targets together")
    parser.add_argument("--seconds", type=int, default=0, help="for each target at most; 0 = any")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at once")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations")
    parser.add_argument("--out", type=Path, help="folder for new and failed inputs")
    chosen = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = (chosen.out and chosen.out.absolute()) or Path(
            stack.enter_context(tempfile.TemporaryDirectory())
        )
        results = list(
            campaign(
                chosen.targets or target_names(),
                folder,
                runs=chosen.runs,
                seconds=chosen.seconds,
                jobs=chosen.jobs,
                seed=chosen.seed,
            )
        )
        report(results)
        (folder / "results.json").write_text(json.dumps([asdict(one) for one in results]))
    return 1 if any(result.failures for result in results) else 0


def campaign(
    names: list[str], out: Path, *, runs: int, seconds: int, jobs: int, seed: int
) -> Iterator[Result]:
    """The results of the targets, as they end. `runs` are divided by the shares of the targets."""
    with _instrumented():
        shares = {name: target_class(name).share for name in names}
    total = sum(shares.values())
    waiting = sorted(names, key=lambda name: shares[name])
    working: dict[int, tuple[str, Path, float]] = {}
    while waiting or working:
        while waiting and len(working) < jobs:
            name = waiting.pop()
            folder = out / name
            folder.mkdir(parents=True, exist_ok=True)
            for left in folder.glob("*"):
                if left.is_file():
                    left.unlink()
            process = _start(name, folder, runs * shares[name] // total, seconds, seed)
            working[process] = (name, folder, time.monotonic())
        process, status = os.wait()
        name, folder, began = working.pop(process)
        code = os.waitstatus_to_exitcode(status)
        yield read_result(name, folder, time.monotonic() - began, code)


def report(results: list[Result]) -> None:
    """Print a table, and every failure."""
    lines = [_ROW.format(*_HEADINGS)]
    for one in sorted(results, key=lambda result: result.target):
        cells = (
            *(one.target, f"{one.runs:,}", f"{one.runs / one.seconds:,.0f}"),
            *(f"{one.coverage_of_seeds:,}→{one.coverage:,}", f"{one.seeds}+{one.new_inputs}"),
            *(len(one.failures), f"{one.longest:.2f}", one.peak_mb),
        )
        lines.append(_ROW.format(*cells))
    total = sum(one.runs for one in results)
    failures = sum(len(one.failures) for one in results)
    lines.append(f"{total:,} runs of {len(results)} targets, {failures} failures")
    for one in results:
        lines += [f"{one.target}: {what} ({path})" for what, path in one.failures.items()]
    sys.stdout.write("\n".join(lines) + "\n")


def _start(name: str, folder: Path, runs: int, seconds: int, seed: int) -> int:
    """Fork: everything is imported once."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    log = os.open(folder / "log", os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        Worker(name, folder).fuzz(runs, seconds, seed)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
