"""The head of an exported model."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from fuzz_oracle import Violation, wrong_in
from fuzz_target import FuzzTarget

from ssdpt.errors import SsdptError
from ssdpt.runtime.exported import ExportedDetector
from ssdpt.types import Clip

EXPORTED = Path(__file__).parents[1] / "exported"
_CLIP = Clip(0.1 * np.random.default_rng(0).standard_normal(16000).astype(np.float32), 16000)


class Target(FuzzTarget):
    """Puts it beside good graphs, loads the model, writes its card and scores a clip."""

    share = 10
    longest = 4096
    document = True
    words = (b'"format"', b'"digests"', b'"runtime"', b'"openvino"', b'"parts"', b'"clip_frames"')

    def __init__(self, folder):
        super().__init__(folder)
        self._exported = Path(shutil.copytree(EXPORTED, folder / "exported"))

    def run(self, data: bytes) -> None:
        self.write("exported/manifest.json", data)
        detector = ExportedDetector.load(self._exported)
        detector.card()
        detector.facts()
        for section in detector.sections[:2]:
            try:
                detector.score(_CLIP, section=section)
            except SsdptError as error:
                if wrong := wrong_in(str(error), "the sentence"):
                    raise Violation(wrong[0]) from error
