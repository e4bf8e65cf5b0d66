"""Keep models of this version, and what it says of some clips, for all later versions:

    .venv/bin/python tests/golden/make_golden.py

Writes the folder of the present format of models, and that of exports, where there is none yet: do
it when the format number was raised, and commit the folder with that change. What is there is never
fitted again, since an older version cannot be had back. With --scores only what this version says
of all of them is written; needed where a change is meant to alter scores, say so in the CHANGELOG.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
FORMATS, EXPORTS, ALARMS = FOLDER / "formats", FOLDER / "exports", FOLDER / "alarms.json"
SCORES = "scores.json"  # of each of these folders
RATE = 16000

# Small networks, few bins and few sections: a golden model is some kilobytes. Multiview and texture
# keep more bins, since the shared reference that ships with the package is of these.
BINS = {"texture": 128, "multiview": 32}
SECTIONS = {"texture": ("00",), "multiview": ("00", "01")}
EXPORTED = ("ssdpt", "gmm")


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


def scores(folder: Path) -> dict[str, dict[str, object]]:
    """The scores of a model, or of an exported one, for every clip, by clip and section."""
    import soundfile

    import ssdpt

    results: dict[str, dict[str, object]] = {}
    detector = ssdpt.load(folder, device="cpu")
    with tempfile.TemporaryDirectory() as work:
        for name, samples in clips().items():
            path = Path(work) / f"{name}.wav"
            soundfile.write(path, samples, RATE, subtype="FLOAT")
            for section in detector.sections:
                score = detector.score(path, section=section)
                results[f"{folder.name} {name} {section}"] = {
                    "value": score.value,
                    "parts": dict(score.parts),
                    "threshold": score.threshold,
                    "level": score.level,
                    "p_value": score.p_value,
                }
    return results


def golden_models() -> list[Path]:
    """The folders of all kept models and exports."""
    return sorted(path.parent for path in FOLDER.glob("*/*/*/calibration.json"))


def kept_scores(folder: Path) -> dict[str, dict[str, object]]:
    """What the version that wrote a model said of the clips."""
    content = json.loads((folder.parent / SCORES).read_text("utf-8"))
    return {name: it for name, it in content.items() if name.split()[0] == folder.name}


def score_history() -> list[float]:
    """Five minutes of scores, one a second: normal, a fault that comes and goes, a lasting one."""
    rng = np.random.default_rng(17)
    normal = rng.normal(0.0, 0.4, 300)
    normal[100:130] += 40.0
    normal[140:143] += 40.0
    normal[220:] += np.linspace(0.0, 60.0, 80)
    return [round(float(value), 6) for value in normal]


def alarms() -> list[dict[str, object]]:
    """The alarm levels of these scores, with the calibration of the texture model of format 2."""
    from ssdpt import Detector
    from ssdpt.alarms.judge import MachineJudge, ScoreScale
    from ssdpt.alarms.settings import AlarmSettings
    from ssdpt.monitor.scoring.live_model import LiveModel

    detector = Detector.load(FORMATS / "2" / "texture", device="cpu")
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


def _fit(out: Path) -> None:
    from ssdpt import Detector
    from ssdpt.config.tree import load_config
    from ssdpt.data.simulator import simulate
    from ssdpt.systems import system_names

    for system in system_names():
        with tempfile.TemporaryDirectory() as folder:
            dataset = simulate(Path(folder), "tiny", machines=["fan"])
            for section in {"00", "01", "02"} - set(SECTIONS.get(system, ("00", "01", "02"))):
                for path in dataset.rglob(f"*_{section}*"):
                    path.unlink()
            changes = {"device": "cpu", "features.n_mels": BINS.get(system, 16), "system": system}
            Detector.fit(dataset, config=load_config("tiny", changes)).save(out / system)


def _export(models: Path, out: Path) -> None:
    from ssdpt.fleet.fleet import Fleet, export_fleet
    from ssdpt.runtime.export import ExportSettings

    for system in EXPORTED:
        fleet = Fleet.load(models / system, device="cpu")
        export_fleet(fleet, out / system, lambda _: ExportSettings())


def main() -> None:
    from ssdpt.common.files import write_json
    from ssdpt.detection.storage import FORMAT
    from ssdpt.errors import SsdptError
    from ssdpt.runtime.manifest import FORMAT as EXPORT_FORMAT

    models, exports = FORMATS / str(FORMAT), EXPORTS / str(EXPORT_FORMAT)
    if "--scores" in sys.argv:
        folders = sorted({folder.parent for folder in golden_models()})
        ALARMS.write_text("".join(f"{json.dumps(row)}\n" for row in alarms()), "utf-8")
    else:
        folders = [folder for folder in (models, exports) if not folder.exists()]
        if models in folders:
            _fit(models)
        if exports in folders:
            _export(models, exports)
        print("nothing to do: both are kept already" if not folders else f"written: {folders}")
    for folder in folders:
        results: dict[str, dict[str, object]] = {}
        for model in (model for model in golden_models() if model.parent == folder):
            try:
                results |= scores(model)
            except SsdptError:  # what this version cannot read says what it said
                results |= kept_scores(model)
        write_json(folder / SCORES, results)


if __name__ == "__main__":
    main()
