"""An encoder: an ONNX file of another project."""

from __future__ import annotations

import yaml
from fuzz_target import FuzzTarget

from ssdpt.config.tree import load_config
from ssdpt.features.encoder import with_encoder
from tiny_encoders import SIDECAR


class Target(FuzzTarget):
    """Opens any file with a good sidecar."""

    share = 15
    longest = 4096
    words = (b"Conv", b"Reshape", b"Loop", b"If", b"Scan", b"ConstantOfShape", b"Range", b"Tile")

    def __init__(self, folder):
        super().__init__(folder)
        self.write("encoder.yaml", yaml.safe_dump(SIDECAR).encode())
        file = self.folder / "encoder.onnx"
        self._config = load_config("best", {"encoder.file": str(file)})

    def run(self, data: bytes) -> None:
        self.write("encoder.onnx", data)
        with_encoder(self._config)
