"""A catalogue of bearings beside the configuration file."""

from __future__ import annotations

from fuzz_oracle import Violation, wrong_in
from fuzz_target import FuzzTarget

from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.errors import SsdptError


class Target(FuzzTarget):
    """Reads a catalogue, and looks every bearing up."""

    share = 40
    longest = 1024
    document = True
    words = (
        b"elements: ",
        b"pitch_mm: ",
        b"element_mm: ",
        b"contact_degrees: ",
        b"source: ",
        b"!!",
        b"&a ",
    )

    def run(self, data: bytes) -> None:
        config = self.folder / "monitor.yaml"
        self.write("bearings.yaml", data)
        catalogue = BearingCatalogue.beside(config)
        for name in list(catalogue.entries)[-5:]:
            try:
                _ = catalogue[name]
            except SsdptError as error:
                if wrong := wrong_in(str(error), "the sentence"):
                    raise Violation(wrong[0]) from error
