"""Scores of an archive that are continued: the tables of finished parts, and of faults."""

from __future__ import annotations

from fuzz_oracle import Violation, wrong_in
from fuzz_target import FuzzTarget

from ssdpt.errors import SsdptError
from ssdpt.evaluation.localisation import FAULTS, known_faults
from ssdpt.fleet import archive


class Target(FuzzTarget):
    """Reads the same bytes as each of the tables."""

    share = 40
    longest = 1024
    words = (b"path,machine,section,score,level\n", b"normal", b"alarm", b'"', b"\x00", b"1e999")

    def run(self, data: bytes) -> None:
        for work in (self._part, self._parquet, self._faults):
            try:
                work(data)
            except SsdptError as error:
                if wrong := wrong_in(str(error), "the sentence"):
                    raise Violation(wrong[0]) from error

    def _part(self, data: bytes) -> None:
        self.write("part-00000.csv", data)
        self.write("errors-00000.csv", data)
        archive._read_counts(self.folder, 0, "csv", 2)

    def _parquet(self, data: bytes) -> None:
        self.write("part-00000.parquet", data)
        (self.folder / "errors-00000.csv").unlink(missing_ok=True)
        archive._read_counts(self.folder, 0, "parquet", 2)

    def _faults(self, data: bytes) -> None:
        self.write(FAULTS, data)
        known_faults(self.folder)
