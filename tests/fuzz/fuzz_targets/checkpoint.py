"""Checkpoints from which a training is resumed."""

from __future__ import annotations

from fuzz_target import FuzzTarget

from ssdpt.training.checkpoint import load_checkpoint


class Target(FuzzTarget):
    """Loads a checkpoint."""

    share = 40
    longest = 2048
    words = (b'"__metadata__":{"about":', b'"dtype":"F32"', b'"shape":[', b'"data_offsets":[0,4]')

    def run(self, data: bytes) -> None:
        self.write("checkpoint.safetensors", data)
        load_checkpoint(self.folder, "a")
