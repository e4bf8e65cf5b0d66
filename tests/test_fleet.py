"""Several machines: a model each, an index that cannot point elsewhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sounds import hum, write_clip, write_folder
from ssdpt import Fleet
from ssdpt.config.tree import AUTO_HOP, load_config
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError
from ssdpt.fleet.fleet import fit_fleet, folder_name, only_machines
from ssdpt.types import Recording

GMM = load_config("tiny", {"system": "gmm"})


@pytest.fixture
def fleet(fleet_folder, tmp_path):
    return Path(shutil.copytree(fleet_folder, tmp_path / "fleet"))


def write_index(folder, machines, number=1):
    (folder / "index.json").write_text(json.dumps({"format": number, "machines": machines}))


def test_a_root_of_several_gives_a_model_each(fleet_folder):
    index = json.loads((fleet_folder / "index.json").read_text())
    assert index == {"format": 1, "machines": {"fan": "fan", "valve": "valve"}}
    assert not fleet_folder.with_name("models.partial").exists()
    fleet = Fleet.load(fleet_folder)
    assert fleet.machines == tuple(fleet) == ("fan", "valve")
    assert len(fleet) == 2
    assert fleet["valve"].machine == "valve"


def test_each_part_is_a_whole_model(fleet_folder):
    alone = Fleet.load(fleet_folder / "fan")
    assert alone.machines == ("fan",)
    assert alone.folders == {"fan": fleet_folder / "fan"}


def test_the_right_detector_for_a_recording(fleet_folder):
    both, one = Fleet.load(fleet_folder), Fleet.load(fleet_folder / "fan")
    valve, lathe = Recording(Path("a"), "valve"), Recording(Path("a"), "lathe")
    assert both.for_recording(valve).machine == "valve"
    assert both.for_recording(lathe) is None
    assert one.for_recording(lathe).machine == "fan"


@pytest.mark.parametrize(
    "name", ["../evil", "/etc", "..", "a/b", ".hidden", "", "a" * 300, "ä" * 200]
)
def test_an_index_that_points_elsewhere_is_not_followed(fleet, name):
    shutil.copytree(fleet / "fan", fleet.parent / "evil")
    write_index(fleet, {"fan": name})
    with pytest.raises(SsdptError, match="names a folder outside"):
        Fleet.load(fleet)


@pytest.mark.parametrize(
    "content", ["", "[]", '{"machines": []}', '{"format": 1}', "\udcff", "[" * 100_000]
)
def test_a_damaged_index(fleet, content):
    (fleet / "index.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(SsdptError, match="damaged or foreign"):
        Fleet.load(fleet)


def test_a_newer_index(fleet):
    write_index(fleet, {"fan": "fan"}, number=2)
    with pytest.raises(SsdptError, match="newer"):
        Fleet.load(fleet)


def test_a_missing_part_is_named(fleet):
    shutil.rmtree(fleet / "valve")
    with pytest.raises(SsdptError, match="valve"):
        Fleet.load(fleet)


def test_no_model(tmp_path):
    with pytest.raises(SsdptError, match="no such model"):
        Fleet.load(tmp_path / "absent")
    with pytest.raises(SsdptError, match="not a model"):
        Fleet.load(tmp_path)


def test_names_become_folders_that_stay_inside():
    for name in ("../../etc", "a/b", "..", "", "C:\\x", ".git"):
        made = folder_name(name)
        assert made
        assert Path(made).name == made
        assert not made.startswith(".")
    assert folder_name("pump-17 (hall A)") == "pump-17_hall_A_"
    assert folder_name("Lüfter") == "Lüfter"


def test_two_machines_never_share_a_folder(tmp_path):
    for name in ("pump 1", "pump_1"):
        write_folder(tmp_path / "data" / name, clips=3)
    with pytest.raises(SsdptError, match="would share this folder"):
        fit_fleet(read_layout(tmp_path / "data"), GMM, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_where_a_model_may_go(simulated, fleet, tmp_path):
    data = read_layout(simulated)
    with pytest.raises(SsdptError, match="model of one machine"):
        fit_fleet(data, GMM, fleet / "fan")
    (tmp_path / "file").touch()
    with pytest.raises(SsdptError, match="is a file"):
        fit_fleet(data, GMM, tmp_path / "file")
    (tmp_path / "full" / "fan").mkdir(parents=True)
    (tmp_path / "full" / "fan" / "thesis.tex").touch()
    with pytest.raises(SsdptError, match=r"thesis\.tex"):
        fit_fleet(data, GMM, tmp_path / "full")
    for nowhere in (Path(), Path(".."), Path("/")):
        with pytest.raises(SsdptError, match="name a folder of its own"):
            fit_fleet(data, GMM, nowhere)


def test_only_some_machines(simulated):
    data = read_layout(simulated)
    assert only_machines(data, ["valve"]).machines == ("valve",)
    with pytest.raises(SsdptError, match="there are fan, valve"):
        only_machines(data, ["lathe"])


def test_an_interrupted_fit_keeps_its_work(tmp_path, monkeypatch):
    for name in ("a", "b"):
        for number in range(3):
            write_clip(tmp_path / "data" / name / "normal" / f"{number}.wav", hum(2, seed=number))
    from ssdpt.detection.detector import Detector

    fit = Detector.fit
    calls = []

    def stops(recordings, **options):
        calls.append(recordings[0].machine)
        options["work"].mkdir(parents=True)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return fit(recordings, **options)

    monkeypatch.setattr(Detector, "fit", stops)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        fit_fleet(read_layout(tmp_path / "data"), GMM, out)
    assert (out / "a" / "config.json").is_file()
    assert not (out / "index.json").exists()
    assert sorted(p.name for p in (tmp_path / "out.partial").iterdir()) == ["a", "b"]


def test_a_hop_for_all_machines(fleet_folder, models):
    fleet = Fleet.load(fleet_folder, hop=2)
    assert [detector.config.gmm.hop for detector in fleet.values()] == [2, 2]
    (alone,) = Fleet.load(models["ssdpt"], hop="auto").values()
    assert alone.config.ssdpt.hop == min(AUTO_HOP, 16)  # its segments have 16 frames


def test_an_exported_model_keeps_its_hop(exports):
    with pytest.raises(SsdptError, match="an exported model has its hop in the graph"):
        Fleet.load(exports["ssdpt"], hop=1)
