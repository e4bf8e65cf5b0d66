"""What a model has learned: the safetensors file of a model folder."""

from __future__ import annotations

import json

from fuzz_targets.model_folder import Target as ModelFolder


class Target(ModelFolder):
    """Puts a file into a good model and uses it."""

    share = 15
    longest = 8192
    document = False
    words = (b'"dtype":"F32"', b'"F64"', b'"I8"', b'"shape":[', b'"data_offsets":[0,', b"{", b"}")

    def run(self, data: bytes) -> None:
        self.write("model/model.safetensors", data)
        head = json.loads(self._good["config.json"])
        try:
            self._sign("model.safetensors")
            self._use()
        finally:
            (self._model / "config.json").write_text(json.dumps(head))
            (self._model / "model.safetensors").write_bytes(self._good["model.safetensors"])
