"""Model folders of older formats are read, score the same, and are written in the newest."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ssdpt import Detector
from ssdpt.config.tree import load_config
from ssdpt.detection.storage import FORMAT
from ssdpt.detection.upgrade import upgraded_arrays, upgraded_data, upgraded_head

GOLDEN = Path(__file__).parent / "golden" / "formats" / "2"


@pytest.mark.parametrize("system", ["texture", "multiview"])
def test_a_model_of_format_2_is_written_again_in_the_newest(system, tmp_path):
    old = GOLDEN / system
    assert json.loads((old / "config.json").read_text("utf-8"))["format"] == 2
    first = Detector.load(old, device="cpu")
    first.save(tmp_path / "model")
    head = json.loads((tmp_path / "model" / "config.json").read_text("utf-8"))
    assert head["format"] == FORMAT
    assert {"section_models", "shared_reference", "front_end"} <= set(head["system"])
    assert "## Views" in (tmp_path / "model" / "README.md").read_text("utf-8")
    recordings = json.loads((old / "data.json").read_text("utf-8"))["heard"]
    data = json.loads((tmp_path / "model" / "data.json").read_text("utf-8"))
    assert data == {"recordings": recordings}
    again = Detector.load(tmp_path / "model", device="cpu")
    frames = np.random.default_rng(0).normal(-40, 5, (300, first.system.front_end.bins))
    clip = [frames.astype(np.float32)]
    section = first.sections[0]
    assert again.system.score(clip, section).value == first.system.score(clip, section).value


def test_names_of_format_2_become_those_of_format_3():
    arrays = {
        "background/spread/spectrum": np.zeros(1),
        "background/ears/steady-1/weight": np.zeros(2),
        "section-0/spectrum/source/loneliness": np.zeros(3),
        "section-0/spectrum/absorbed-1/loneliness": np.zeros(4),
        "section-0/spectrum/absorbed-1/points": np.zeros(5),
        "density": np.zeros(6),  # derived from the references
        "references": np.zeros(7),
    }
    assert {name: len(value) for name, value in upgraded_arrays(2, arrays).items()} == {
        "shared_reference/spread/spectrum": 1,
        "shared_reference/networks/steady-1/weight": 2,
        "section-0/spectrum/source/neighbour_distance": 3,
        "section-0/spectrum/added-1/neighbour_distance": 4,
        "section-0/spectrum/added-1/points": 5,
        "references": 7,
    }
    settings, description = upgraded_head(
        2,
        {"seed": 1, "texture": {"background_clips": 9.0}},
        {"portraits": {"00": {"spectrum": {"weight": 1.0}}}, "background": {}, "hears": "log-mel"},
    )
    assert settings == {"seed": 1, "texture": {"reference_clips": 9.0, "seconds": None}}
    assert description == {
        "front_end": "log-mel",
        "shared_reference": {},
        "section_models": {"00": {"spectrum": {"weight": 1.0, "added": [], "averaged": False}}},
    }


def test_the_first_models_of_format_3_name_their_recordings_as_format_2_did():
    assert upgraded_data(3, {"heard": {"ab": "x.wav"}}) == {"recordings": {"ab": "x.wav"}}
    assert upgraded_data(3, {"recordings": {}}) == {"recordings": {}}


def test_the_newest_format_is_read_as_it_is():
    arrays = {"section-0/reach": np.zeros(1), "density": np.zeros(2)}
    assert upgraded_arrays(FORMAT, arrays) == arrays
    assert upgraded_head(FORMAT, {"texture": {}}, {"hears": "x"}) == (
        {"texture": {}},
        {"hears": "x"},
    )


def test_a_model_of_local_outliers_of_format_2_scores_the_same(fan, tmp_path):
    """It held what is worked out from the references now."""
    detector = Detector.fit(fan, config=load_config("tiny", {"system": "mnv2-lof"}))
    system = detector.system
    arrays = system.arrays()
    count = len(arrays["references"])
    old = arrays | {"reach": np.ones(count), "density": np.ones(count)}
    again = type(system).restore(
        detector.config, system.sections, upgraded_arrays(2, old), system.description()
    )
    clip = sorted((fan / "source_test").glob("*.wav"))[0]
    frames = detector.frames(clip)
    assert again.score([frames], "00").value == system.score([frames], "00").value
