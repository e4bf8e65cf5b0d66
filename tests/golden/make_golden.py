"""Make the golden models, their scores and the golden alarm history again:

    .venv/bin/python tests/golden/make_golden.py

Needed only when a change is meant to alter scores; say so in the CHANGELOG. With --scores the
models are kept and only what this version says of them is written.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
MODELS, SCORES, ALARMS = FOLDER / "models", FOLDER / "scores.json", FOLDER / "alarms.json"
RATE = 16000

# Small networks and few bins: a golden model is some kilobytes. Multiview and texture keep the
# default features, since the shared reference that ships with the package is of these.
SYSTEMS: dict[str, dict[str, object]] = {
    "ssdpt": {"features.n_mels": 16},
    "gmm": {"features.n_mels": 16, "system": "gmm"},
    "texture": {"features.n_mels": 128, "system": "texture"},
    "multiview": {"features.n_mels": 32, "system": "multiview"},
}


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
    """The scores of every golden model for every clip, by section."""
    import soundfile

    from ssdpt import Detector

    results: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for system in SYSTEMS:
            detector = Detector.load(MODELS / system, device="cpu")
            for name, samples in clips().items():
                path = Path(folder) / f"{name}.wav"
                soundfile.write(path, samples, RATE, subtype="FLOAT")
                for section in detector.sections:
                    score = detector.score(path, section=section)
                    results[f"{system} {name} {section}"] = {
                        "value": score.value,
                        "parts": dict(score.parts),
                        "threshold": score.threshold,
                        "level": score.level,
                        "p_value": score.p_value,
                    }
    return results


def score_history() -> list[float]:
    """Five minutes of scores, one a second: normal, a fault that comes and goes, a lasting one."""
    rng = np.random.default_rng(17)
    normal = rng.normal(0.0, 0.4, 300)
    normal[100:130] += 40.0
    normal[140:143] += 40.0
    normal[220:] += np.linspace(0.0, 60.0, 80)
    return [round(float(value), 6) for value in normal]


def alarms() -> list[dict[str, object]]:
    """The alarm levels of these scores, with the calibration of the texture model."""
    from ssdpt import Detector
    from ssdpt.alarms.judge import MachineJudge, ScoreScale
    from ssdpt.alarms.settings import AlarmSettings
    from ssdpt.monitor.scoring.live_model import LiveModel

    detector = Detector.load(MODELS / "texture", device="cpu")
    tail = detector.calibration.tail(detector.sections[0])
    scale = ScoreScale(tail, LiveModel(detector).clip_seconds)
    judge = MachineJudge(AlarmSettings(), scale)
    history = []
    for second, score in enumerate(score_history()):
        verdict = judge.update(1.7e9 + second, 1.0, score)
        history.append(
            {
                "level": verdict.level,
                "smoothed": verdict.smoothed,
                "p_value": verdict.p_value,
                "alert": verdict.thresholds.alert,
                "alarm": verdict.thresholds.alarm,
            }
        )
    return history


def main() -> None:
    from ssdpt import Detector
    from ssdpt.common.files import write_json
    from ssdpt.config.tree import load_config
    from ssdpt.data.simulator import simulate

    if "--scores" not in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            dataset = simulate(Path(folder), "tiny", machines=["fan"])
            for system, changes in SYSTEMS.items():
                config = load_config("tiny", {"device": "cpu", **changes})
                Detector.fit(dataset, config=config).save(MODELS / system)
    write_json(SCORES, scores())
    ALARMS.write_text("".join(f"{json.dumps(row)}\n" for row in alarms()), "utf-8")


if __name__ == "__main__":
    main()
