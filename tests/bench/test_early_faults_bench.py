"""The benchmark of early faults: learned live, replayed live, on recordings of a simulated pump."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from ssdpt.bench.early_faults import bench_early_faults
from ssdpt.cli import app
from ssdpt.data.simulator.live import LiveMachine
from ssdpt.errors import SsdptError

RATE = 16000


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Three normal recordings of 40 s, and one of the same pump with a loud rattle."""
    folder = tmp_path_factory.mktemp("recordings")
    clips = LiveMachine("pump", 0, 7).normal_clips(14)
    recordings = [np.concatenate(clips[first : first + 4]) for first in (0, 4, 8)]
    rattle = 0.3 * np.random.default_rng(0).standard_normal(2 * 10 * RATE)
    for name in ("normal", "faulty"):
        (folder / name).mkdir()
    for number, samples in enumerate(recordings):
        soundfile.write(folder / "normal" / f"{number}.wav", samples, RATE)
    broken = np.concatenate(clips[12:]) + rattle.astype(np.float32)
    soundfile.write(folder / "faulty" / "broken.wav", broken, RATE)
    return folder / "normal", folder / "faulty"


def test_a_fault_is_an_alert_and_a_normal_recording_is_not(folders):
    normal, faulty = folders
    options = ["--minutes", "1", "--seed", "4", "--json"]
    command = ["bench", "early-faults", str(normal), str(faulty), *options]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    rows = {row["recording"]: row for row in json.loads(result.stdout)["rows"]}
    assert len(rows) == 2
    fault = rows["faulty/broken"]
    assert fault["faulty"]
    assert fault["alert_after"] <= 15
    assert fault["alert_after_normal"] <= 15
    assert fault["rule"]
    assert fault["rule"] != "threshold" or fault["highest_score"] > fault["threshold"]
    (healthy,) = (row for row in rows.values() if not row["faulty"])
    assert (healthy["alert_after"], healthy["alert_after_normal"]) == (None, None)
    assert healthy["highest_score"] < healthy["threshold"]


def test_too_little_sound_is_said(folders, tmp_path):
    normal, faulty = folders
    with pytest.raises(SsdptError, match="too little normal sound to learn 5 minutes"):
        bench_early_faults(normal, [faulty], minutes=5.0, seeds=[0])
    with pytest.raises(SsdptError, match="it has no sound files"):
        bench_early_faults(normal, [tmp_path], minutes=1.0, seeds=[0])
