"""Runs an operation again and again, each time in a fresh process that is ready to be struck.

Python and the packages are loaded once; a fork takes milliseconds. As a program, `python -m
faults.fork_server OPERATION` reads a folder, forks, prints the number of the child, reads a line,
lets the child run the operation in the folder, and prints how that ended; then the next.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, Literal, NoReturn, Self

from faults import operations, strace

End = Literal["killed", "done", "failed"]
_ANY_TRACER = (0x59616D61, ctypes.c_ulong(-1).value)  # PR_SET_PTRACER, PR_SET_PTRACER_ANY


class ForkServer:
    """The program below, seen from an experiment."""

    def __init__(self, operation: str) -> None:
        self._operation = operation

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "faults.fork_server", self._operation],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)

    def points(self, folder: Path, *faults: str) -> list[str]:
        """Run the operation in `folder` to its end; all points at which it can be killed."""
        with tempfile.TemporaryDirectory(prefix="faults-") as place:
            log = Path(place) / "calls"
            assert self.run(folder, *faults, calls=strace.CHANGING, log=log) == "done"
            return strace.points(log)

    def run(self, folder: Path, *faults: str, **options: Any) -> End:
        """Run the operation in `folder` under faults of `strace`; how it ended."""
        child = int(self._ask(str(folder)))
        with strace.tracing(child, *faults, **options):
            end = self._ask("go")
        assert end in ("killed", "done", "failed"), end
        return end  # type: ignore[return-value]

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(line, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline().strip()
        assert answer, "the fork server has ended"
        return answer


def _serve(operation: operations.Operation) -> None:
    operation.load()
    for line in sys.stdin:
        ready, go = os.pipe()
        child = os.fork()
        if child == 0:
            _work(operation, Path(line.strip()), ready)
        print(child, flush=True)
        sys.stdin.readline()
        os.write(go, b"g")
        _, status = os.waitpid(child, 0)
        os.close(ready)
        os.close(go)
        if os.WIFSIGNALED(status):
            print("killed", flush=True)
        else:
            print("done" if os.WEXITSTATUS(status) == 0 else "failed", flush=True)


def _work(operation: operations.Operation, folder: Path, ready: int) -> NoReturn:
    # Where only ancestors may trace a process, this one lets anybody.
    ctypes.CDLL(None).prctl(*_ANY_TRACER, 0, 0, 0)
    code = 1
    try:
        os.read(ready, 1)
        operation.run(folder)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve(operations.OPERATIONS[sys.argv[1]])
