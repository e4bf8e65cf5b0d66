"""Runs pytest with these arguments; what failed, or was cut off by the system, runs once more.

Browsers and services share a few cores with all other tests, so that one of thousands may fail for
want of time: few failures run again, one at a time, and it is said. Processes have been ended by a
segmentation fault while they only waited; pytest-xdist then waits for ever. So what has passed is
kept, and the rest runs in new processes. The price: a defect or a crash of ours that shows only now
and then can pass the second time. What is printed of the first time is to be read.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from run_record import ENDED, FAILED, count

_ROUNDS = 6
_FEW = 10  # failures that run once more


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "tests"
        options = ("--max-worker-restart=0", f"--resume={record}", *sys.argv[1:])
        code, had_failures, alone = 1, False, False
        for number in range(_ROUNDS):
            before = count(record, FAILED), count(record, ENDED)
            command = [sys.executable, "-m", "pytest", *options, *(["-n", "1"] if alone else [])]
            code = subprocess.run(command, check=False).returncode
            failed, ended = count(record, FAILED) - before[0], count(record, ENDED) - before[1]
            if number and code == pytest.ExitCode.NO_TESTS_COLLECTED:
                return 0  # all had passed when a process was ended
            if not (failed or ended) or failed > _FEW or (failed and had_failures):
                break
            had_failures, alone = had_failures or failed > 0, ended == 0
            print(f"{failed} failed, {ended} processes were ended; what is left runs", flush=True)
        return code


if __name__ == "__main__":
    sys.exit(main())
