"""Model folders: plain files, complete or absent, read without running code from them."""

from __future__ import annotations

import contextlib
import errno
import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from ssdpt import Detector
from ssdpt.detection.storage import is_model, read_model, write_model
from ssdpt.errors import SsdptError
from ssdpt.types import Clip

FILES = ["README.md", "calibration.json", "config.json", "data.json", "model.safetensors"]


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def refused(folder):
    with pytest.raises(SsdptError) as caught:
        Detector.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_in_the_folder(models):
    assert names(models["gmm"]) == FILES
    assert names(models["ssdpt"]) == sorted([*FILES, "training.jsonl"])
    assert is_model(models["gmm"])
    head = json.loads((models["ssdpt"] / "config.json").read_text())
    assert head["machine"] == "fan"
    assert head["sections"] == ["00", "01", "02"]
    assert head["config"]["preset"] == "tiny"
    recordings = json.loads((models["ssdpt"] / "data.json").read_text())["recordings"]
    assert len(recordings) == 24
    assert all(name.endswith(".wav") and "train_normal" in name for name in recordings.values())


def test_it_comes_back_as_it_was(models, detectors):
    for name, folder in models.items():
        stored, before = read_model(folder), detectors[name].stored
        assert replace(stored, arrays={}) == replace(before, arrays={})
        assert {k: v.tolist() for k, v in stored.arrays.items()} == {
            k: v.tolist() for k, v in before.arrays.items()
        }


def test_loading_runs_no_code(model, tmp_path):
    trap = tmp_path / "trap"

    class Evil:
        def __reduce__(self):
            return (Path.touch, (trap,))

    payload = pickle.dumps(Evil())
    for name in ("model.pkl", "model.pt", "pytorch_model.bin", "training.jsonl"):
        (model / name).write_bytes(payload)
    for name in ("__init__.py", "model.py", "conftest.py", "config.py"):
        (model / name).write_text(f"open({str(trap)!r}, 'w')")
    Detector.load(model)
    assert not trap.exists()
    (model / "model.safetensors").write_bytes(payload)
    refused(model)
    assert not trap.exists()


@pytest.mark.parametrize("name", FILES[1:])
def test_a_missing_file_is_named(model, name):
    (model / name).unlink()
    assert name in refused(model)


@pytest.mark.parametrize("name", FILES[1:])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe garbage", b"[1, 2]", b"{}"])
def test_a_damaged_file_is_named(model, name, content):
    (model / name).write_bytes(content)
    message = refused(model)
    assert name in message or "damaged model" in message


def test_a_cut_weight_file_is_damaged(model):
    path = model / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    assert "model.safetensors: damaged or of another model" in refused(model)


def test_the_weights_of_another_model_are_foreign(model, models):
    shutil.copy(models["ae"] / "model.safetensors", model)
    assert "of another model" in refused(model)


def test_weights_that_do_not_fit_the_settings(model, models):
    """Even where the digests were made to agree."""
    edit(model / "config.json", digests={})
    shutil.copy(models["ae"] / "model.safetensors", model)
    assert "do not belong together" in refused(model)


def test_weights_that_are_no_numbers_are_damaged(model):
    path = model / "model.safetensors"
    arrays = load_file(path)
    arrays["means"][0, 0] = np.nan
    path.write_bytes(save(arrays))
    edit(model / "config.json", digests={})
    assert "damaged: means holds values that are not finite numbers" in refused(model)


def test_a_score_that_is_not_a_number_is_an_error_and_not_normal(model):
    path = model / "model.safetensors"
    arrays = load_file(path)
    arrays["precisions"][:] = 1e308
    path.write_bytes(save(arrays))
    edit(model / "config.json", digests={})
    detector = Detector.load(model)
    clip = Clip(0.1 * np.random.default_rng(0).standard_normal(32000).astype(np.float32), 16000)
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(SsdptError, match="its score is not a finite number; the model of fan"),
    ):
        detector.score(clip, section=detector.sections[0])


@pytest.mark.parametrize("entry", ["machine", "sections", "config", "system", "notes", "digests"])
def test_a_missing_entry_is_named(model, entry):
    edit(model / "config.json", **{entry: None})
    assert entry in refused(model)


def test_a_foreign_config_is_not_ours(model):
    (model / "config.json").write_text('{"model_type": "bert"}')
    assert "not written by ssdpt" in refused(model)


def test_a_newer_model_says_to_upgrade(model):
    edit(model / "config.json", format=99, ssdpt_version="9.1")
    message = refused(model)
    assert "ssdpt 9.1" in message
    assert "upgrade" in message


def test_an_older_gaussian_is_refused_and_an_older_network_is_not(model, models, tmp_path):
    edit(model / "config.json", format=1)
    assert "which system gmm cannot read; fit it again" in refused(model)
    network = Path(shutil.copytree(models["ssdpt"], tmp_path / "network"))
    edit(network / "config.json", format=1)
    assert Detector.load(network).system_name == "ssdpt"


def test_an_unknown_setting_is_named(model):
    head = json.loads((model / "config.json").read_text())
    head["config"]["gmm"]["magic"] = 1
    (model / "config.json").write_text(json.dumps(head))
    assert "gmm.magic" in refused(model)


def test_digests_cannot_point_outside(model):
    edit(model / "config.json", digests={"../evil": "0"})
    assert "missing" in refused(model)


def test_no_folder_and_no_model(tmp_path):
    assert "no such model folder" in refused(tmp_path / "absent")
    assert "not a model folder" in refused(tmp_path)


class TestWriting:
    def test_a_model_is_replaced_whole(self, detectors, tmp_path):
        out = tmp_path / "m"
        detectors["ssdpt"].save(out)
        detectors["gmm"].save(out)
        assert names(out) == FILES
        assert names(tmp_path) == ["m"]
        assert Detector.load(out).system_name == "gmm"

    def test_an_empty_folder_is_used(self, detectors, tmp_path):
        (tmp_path / "m").mkdir()
        detectors["gmm"].save(tmp_path / "m")
        assert names(tmp_path / "m") == FILES

    def test_other_peoples_files_are_never_deleted(self, detectors, tmp_path, model):
        (tmp_path / "notes").mkdir()
        (tmp_path / "notes" / "diary.txt").write_text("dear diary")
        (tmp_path / "app").mkdir()
        (tmp_path / "app" / "config.json").write_text('{"port": 80}')
        (model / "evaluation").mkdir()
        (tmp_path / "file").touch()
        for place, word in [
            (tmp_path / "notes", "diary.txt"),
            (tmp_path / "app", "not written by ssdpt"),
            (model, "evaluation"),
            (tmp_path / "file", "is a file"),
        ]:
            before = sorted(tmp_path.rglob("*"))
            with pytest.raises(SsdptError, match=word):
                detectors["gmm"].save(place)
            assert sorted(tmp_path.rglob("*")) == before

    def test_what_a_killed_process_left_in_a_model_is_no_obstacle(self, detectors, model):
        (model / ".calibration.json._writing.tmp.json").write_text("{")
        detectors["ae"].save(model)
        assert Detector.load(model).system_name == "ae"
        assert ".calibration.json._writing.tmp.json" not in names(model)

    @pytest.mark.parametrize(
        ("code", "message"), [(errno.ENOSPC, "disk is full"), (errno.EROFS, "read-only")]
    )
    @pytest.mark.parametrize("step", ["mkdir", "write_bytes", "fsync"])
    def test_a_disk_that_refuses_leaves_the_old_model(
        self, model, detectors, monkeypatch, code, message, step
    ):
        before = {name: (model / name).read_bytes() for name in names(model)}

        def refuse(*arguments, **options):
            raise OSError(code, "no")

        owner = {"mkdir": "pathlib.Path", "write_bytes": "pathlib.Path", "fsync": "os"}[step]
        with monkeypatch.context() as patch:
            patch.setattr(f"{owner}.{step}", refuse)
            with pytest.raises(SsdptError, match=message):
                detectors["ae"].save(model)
        assert {name: (model / name).read_bytes() for name in names(model)} == before
        assert names(model.parent) == ["model"]

    def test_the_card_is_for_people(self, models):
        card = (models["gmm"] / "README.md").read_text()
        for text in ("# fan:", "24 normal recordings", "preset `tiny`", "alert above"):
            assert text in card
        assert "(extrapolated)" in card  # 24 clips cannot show a rate of 1 in 100

    def test_extra_files_go_along(self, detectors, tmp_path):
        write_model(tmp_path / "m", detectors["gmm"].stored, "card", {"training.jsonl": "{}\n"})
        assert (tmp_path / "m" / "training.jsonl").read_text() == "{}\n"
        assert (tmp_path / "m" / "README.md").read_text() == "card"


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("value", [[], {}, {"00": 1.5}, None, "text", float("inf")])
def test_a_description_with_wrong_values_is_one_sentence(models, tmp_path, value):
    """Models of every system and of older formats, which are upgraded while they are read."""
    golden = Path(__file__).parent / "golden" / "formats" / "2" / "texture"
    for number, folder in enumerate([*models.values(), golden]):
        copy = tmp_path / str(number)
        shutil.copytree(folder, copy)
        head = json.loads((copy / "config.json").read_text())
        for name in head["system"]:
            edit(copy / "config.json", system={**head["system"], name: value})
            with contextlib.suppress(SsdptError):  # some values may do; none is a traceback
                Detector.load(copy)
    edit(copy / "config.json", system={"portraits": value})
    assert str(copy) in refused(copy)


def test_json_that_is_nested_too_deeply_is_damaged(model, tmp_path):
    shutil.copytree(model, tmp_path / "m")
    (tmp_path / "m" / "config.json").write_text("[" * 100_000)
    assert "not readable as JSON" in refused(tmp_path / "m")


@pytest.mark.parametrize("views", ["of a section", "in the settings"])
def test_views_that_do_not_fit_each_other_are_damage(models, tmp_path, views):
    """It used to be loaded, and to fail at the first clip."""
    copy = tmp_path / "m"
    shutil.copytree(models["texture"], copy)
    head = json.loads((copy / "config.json").read_text())
    if views == "of a section":
        next(iter(head["system"]["section_models"].values())).popitem()
    else:
        head["config"]["texture"]["views"].pop()
    (copy / "config.json").write_text(json.dumps(head))
    assert "copy or fit it again" in refused(copy)


@pytest.mark.parametrize("clips", [0, -1])
def test_thresholds_without_clips_are_damage(model, clips):
    tree = json.loads((model / "calibration.json").read_text())
    tree["pooled"]["clips"] = clips
    (model / "calibration.json").write_text(json.dumps(tree))
    assert "calibration.json" in refused(model)
