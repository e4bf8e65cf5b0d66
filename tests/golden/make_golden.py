"""Make the golden model and its scores again:

    .venv/bin/python tests/golden/make_golden.py

Needed only when a change is meant to alter scores; say so in the CHANGELOG. With --scores the
model is kept and only the scores of this version are written.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
MODEL, SCORES = FOLDER / "model", FOLDER / "scores.json"
RATE = 16000


def clips() -> dict[str, np.ndarray]:
    """Short sounds by formula: a hum with noise, a rattle, and less than one segment of hum."""
    rng = np.random.default_rng(2021)
    time = np.arange(2 * RATE) / RATE
    noise = 0.02 * rng.standard_normal(len(time))
    hum = sum(np.sin(2 * np.pi * 60 * k * time) / k for k in range(1, 10))
    rattle = np.exp(-80 * (time * 8 % 1)) * np.sin(2 * np.pi * 2300 * time)
    sounds = {
        "hum": 0.1 * hum + noise,
        "rattle": 0.1 * hum + noise + 0.3 * rattle,
        "blip": (0.1 * hum + noise)[: RATE // 4],
    }
    return {name: sound.astype(np.float32) for name, sound in sounds.items()}


def scores() -> dict[str, dict[str, object]]:
    """What the golden model says of every clip, by section."""
    import soundfile

    from ssdpt import Detector

    detector = Detector.load(MODEL, device="cpu")
    found: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, samples in clips().items():
            path = Path(folder) / f"{name}.wav"
            soundfile.write(path, samples, RATE, subtype="FLOAT")
            for section in detector.sections:
                score = detector.score(path, section=section)
                found[f"{name} {section}"] = {
                    "value": score.value,
                    "parts": dict(score.parts),
                    "threshold": score.threshold,
                    "level": score.level,
                    "p_value": score.p_value,
                }
    return found


def main() -> None:
    from ssdpt import Detector
    from ssdpt.config import load_config
    from ssdpt.data.plant import simulate
    from ssdpt.files import write_json

    if "--scores" not in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            plant = simulate(Path(folder), "tiny", machines=["fan"])
            config = load_config("tiny", {"features.n_mels": 16, "device": "cpu"})
            Detector.fit(plant, config=config).save(MODEL)
    write_json(SCORES, scores())


if __name__ == "__main__":
    main()
