"""The page on sensors: its table of settings is complete, its examples and commands run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ssdpt.config.validation import checked, read_yaml
from ssdpt.data import audio
from ssdpt.data.inspect import inspect
from ssdpt.data.sensor import Sensor
from ssdpt.data.tables import table_suffixes

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "sensors.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_every_setting_and_every_ending_is_there():
    section = PAGE.split("\n## sensor.yaml\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)`", section, re.MULTILINE) == list(Sensor.model_fields)
    endings = set(re.findall(r"`(\.\w+)`", PAGE.split("\n## Files\n")[1].split("\n\n")[0]))
    assert endings == audio.AUDIO_SUFFIXES | table_suffixes()


def test_every_sensor_yaml_is_valid():
    assert len(blocks("yaml")) == 3
    for text in blocks("yaml"):
        checked(Sensor, read_yaml(text, "docs"), "docs")


def test_the_table_says_what_the_page_says(tmp_path):
    (table,) = blocks("csv")
    (tmp_path / "a.csv").write_text(table)
    (tmp_path / "sensor.yaml").write_text(blocks("yaml")[0])
    info = audio.probe(tmp_path / "a.csv")
    assert (info.sample_rate, info.unit, info.full_scale) == (25600, "g", 16.0)
    assert info.axes == ("acc_x", "acc_y")


def test_the_example_of_public_tables_is_read(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "sensor.yaml").write_text(blocks("yaml")[1])
    lines = [
        f"9,39,39,{65664 + round(number / 0.0256)},{rng.normal():.3f},{rng.normal():.3f}"
        for number in range(2560)
    ]
    (tmp_path / "acc_00001.csv").write_text("\n".join(lines))
    assert audio.is_recording(tmp_path / "acc_00001.csv")
    info = audio.probe(tmp_path / "acc_00001.csv")
    assert (info.sample_rate, info.frames) == (25600, 2560)
    assert info.axes == ("horizontal", "vertical")


def test_every_problem_of_an_inspection_is_there(tmp_path):
    section = PAGE.split("\n## Problems that inspect finds\n")[1]
    named = {
        name for row in re.findall(r"^\| ([^|]+) \|", section, re.M) for name in row.split(", ")
    }
    assert {"wrong unit", "dead axis", "times out of order", "shrunk"} <= named
    (tmp_path / "a.csv").write_text("t,x [g]\n" + "0.1,0\n0.0,1\n" * 20)
    kinds = {problem.kind for problem in inspect(tmp_path / "a.csv").problems}
    assert kinds <= named
