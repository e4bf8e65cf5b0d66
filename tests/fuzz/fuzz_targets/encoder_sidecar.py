"""What stands beside an encoder, an ONNX file of another project."""

from __future__ import annotations

from fuzz_target import FuzzTarget

from ssdpt.config.tree import load_config
from ssdpt.features.encoder import with_encoder
from tiny_encoders import write_encoder


class Target(FuzzTarget):
    """Opens a good encoder with any sidecar."""

    share = 10
    longest = 512
    document = True
    words = (
        *(b"sample_rate: ", b"window_seconds: ", b"minimum_samples: ", b"pooling: ", b"input: "),
        *(b"output: ", b"licence: ", b"source: ", b"1000000", b"1e9", b"samples", b"embedding"),
    )

    def __init__(self, folder):
        super().__init__(folder)
        file = write_encoder(folder / "encoder.onnx")
        self._config = load_config("best", {"encoder.file": str(file)})

    def run(self, data: bytes) -> None:
        self.write("encoder.yaml", data)
        with_encoder(self._config)
