"""Heads of model folders: config.json, calibration.json, data.json, index.json of several."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
from fuzz_oracle import Violation, wrong_in
from fuzz_target import FuzzTarget

from ssdpt.common.files import digest
from ssdpt.detection.detector import Detector
from ssdpt.errors import SsdptError
from ssdpt.fleet.fleet import Fleet
from ssdpt.types import Clip

MODEL = Path(__file__).parents[2] / "golden" / "formats" / "5" / "gmm"
_CLIP = Clip(0.1 * np.random.default_rng(0).standard_normal(8000).astype(np.float32), 16000)
# What of a document tells which file it is.
_FILES = {"pooled": "calibration.json", "recordings": "data.json", "heard": "data.json"}


class Target(FuzzTarget):
    """Puts a document into a good model, loads it, writes its card and scores a clip."""

    share = 20
    longest = 16384
    document = True
    words = (
        *(
            b'"format": 2',
            b'"portraits": []',
            b'"section_models": {}',
            b'"digests": {}',
            b"Infinity",
        ),
        *(b'"system"', b'"texture"', b'"ssdpt"', b'"n_fft": 1', b'"heard"', b'"machines"', b"../"),
    )

    def __init__(self, folder):
        super().__init__(folder)
        self._model = Path(shutil.copytree(MODEL, folder / "model"))
        (folder / "fleet").mkdir()
        shutil.copytree(MODEL, folder / "fleet" / "a")
        self._good = {path.name: path.read_bytes() for path in self._model.iterdir()}
        self._use()  # what loads only then (torch) looks at files of its own

    def run(self, data: bytes) -> None:
        name = self._name(data)
        if name == "index.json":
            self.write("fleet/index.json", data)
            Fleet.load(self.folder / "fleet", device="cpu")
            return
        try:
            self.write(f"model/{name}", data)
            if name == "data.json":
                self._sign(name)
            self._use()
        finally:
            for changed in (name, "config.json"):
                (self._model / changed).write_bytes(self._good[changed])

    def _use(self) -> None:
        detector = Detector.load(self._model, device="cpu")
        detector.facts()
        detector.card()
        for section in detector.sections[:2]:
            try:
                detector.score(_CLIP, section=section)
            except SsdptError as error:
                if wrong := wrong_in(str(error), "the sentence"):
                    raise Violation(wrong[0]) from error

    def _sign(self, name: str) -> None:
        """A foreign model has digests of its own files."""
        head = json.loads(self._good["config.json"])
        head["digests"][name] = digest(self._model / name)
        (self._model / "config.json").write_text(json.dumps(head))

    @staticmethod
    def _name(data: bytes) -> str:
        if b'"machines"' in data:
            return "index.json"
        for key, name in _FILES.items():
            if f'"{key}"'.encode() in data:
                return name
        return "config.json"
