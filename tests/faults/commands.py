"""Commands of `ssdpt` as processes, and what they work on."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from functools import cache
from pathlib import Path

from faults import PLACES


@cache
def simulated() -> Path:
    """Recordings of two machines in the layout of DCASE; made once, gone with this process."""
    from ssdpt.data.simulator import simulate

    folder = Path(tempfile.mkdtemp(prefix="faults-recordings-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return simulate(folder, "tiny", workers=1)


class Command(subprocess.Popen[bytes]):
    """A command that works in `place`; what it says goes to `said`, its features to a cache."""

    def __init__(self, arguments: list[str], place: Path, said: Path | None = None) -> None:
        self.said = said or place / "said"
        self._begun, begins = os.pipe()
        weakref.finalize(self, os.close, self._begun)
        places = {"PYTHONPATH": os.pathsep.join(PLACES), "SSDPT_CACHE": str(place / "cache")}
        marked = [sys.executable, "-m", "faults.marked_command", str(begins), str(place)]
        try:
            with self.said.open("w") as file:
                super().__init__(
                    [*marked, *arguments],
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "OMP_NUM_THREADS": "1", **places},
                    pass_fds=(begins,),
                )
        finally:
            os.close(begins)

    def wait_for_work(self) -> bool:
        """Whether it begins to change something in its place; False: it has ended before."""
        return bool(os.read(self._begun, 1))
