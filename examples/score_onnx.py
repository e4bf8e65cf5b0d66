"""Score a WAV file with an exported model: numpy, onnxruntime and nothing else.

python score_onnx.py EXPORTED clip.wav [SECTION]
"""

import json
import sys
import wave
from pathlib import Path

import numpy as np
import onnxruntime


def read_wav(path: str, rate: int, channel: int) -> np.ndarray:
    """One channel of a 16-bit WAV as float32, full scale = 1."""
    with wave.open(path) as file:
        if file.getsampwidth() != 2 or file.getframerate() != rate:
            raise SystemExit(f"{path}: a 16-bit WAV at {rate} Hz is needed")
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return samples[channel :: file.getnchannels()].astype(np.float32) / 32768


def main(folder: Path, clip: str, section: str | None = None) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    calibration = json.loads((folder / "calibration.json").read_text("utf-8"))
    samples = read_wav(clip, manifest["audio"]["sample_rate"], manifest["audio"]["channel"])
    session = onnxruntime.InferenceSession(folder / "model.onnx")
    (values,) = session.run(["clip"], {"samples": samples})  # (sections,)
    known = dict(zip(manifest["sections"], values.tolist(), strict=True))
    score = known.get(section or "", min(known.values()))  # unknown: the section that suits best
    # The share `probability` of normal clips scores above `score`: one table for each section.
    tail = calibration["sections"].get(section or "", calibration["pooled"])
    rate = -np.log(calibration["false_alarm_rate"])
    threshold = np.interp(rate, -np.log(tail["probability"]), tail["score"])
    print(f"{score:.6f} {threshold:.6f} {'anomalous' if score > threshold else 'normal'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:4])
