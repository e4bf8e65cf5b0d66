"""ssdpt score --explain: a picture per clip in addition to the scores."""

from __future__ import annotations

import shutil

import pytest
from matplotlib import image

from sounds import hum, write_clip


@pytest.fixture
def clips(fan):
    return sorted((fan / "source_test").glob("section_00*.wav"))[:2]


@pytest.fixture(scope="module")
def model(fleet_folder):
    return fleet_folder / "fan"


def test_a_picture_per_clip_in_addition_to_the_scores(cli, model, clips, tmp_path):
    plain = cli("score", model, *clips)
    answer = cli("score", model, *clips, "--explain", tmp_path / "a" / "pictures")
    assert (answer.code, answer.out, answer.err) == (plain.code, plain.out, plain.err)
    drawn = sorted((tmp_path / "a" / "pictures").iterdir())
    assert [path.name for path in drawn] == [f"{clip.stem}.png" for clip in clips]
    for path in drawn:
        height, width = image.imread(path).shape[:2]
        assert height > 500
        assert width > 500
        assert image.imread(path).std() > 0.1  # not an empty page


def test_clips_of_the_same_name_get_separate_pictures(cli, model, clips, tmp_path):
    for folder, name in (("a", "x.wav"), ("b", "x.wav"), ("c", "X.wav"), ("d", "x-2.wav")):
        (tmp_path / folder).mkdir()
        shutil.copy(clips[0], tmp_path / folder / name)
    paths = [path for folder in "abcd" for path in (tmp_path / folder).iterdir()]
    answer = cli("score", model, *paths, "--section", "00", "--explain", tmp_path / "out")
    assert answer.code in {0, 1}
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"x.png", "x-2.png", "X-3.png", "x-2-2.png"}


def test_unusual_file_names_stay_inside_the_folder(cli, model, tmp_path):
    names = ["..  $x$ %s &.wav", "_" + "ä" * 110 + ".wav", "雨.wav", "...x .wav"]
    for name in names:
        write_clip(tmp_path / "in" / name, hum(2))
    arguments = ("score", model, *(tmp_path / "in").iterdir(), "--section", "00")
    answer = cli(*arguments, "--explain", tmp_path / "out")
    assert answer.code in {0, 1}, answer.err
    drawn = list((tmp_path / "out").iterdir())
    assert len(drawn) == len(names)
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}
    assert not any(set(path.name) & set(" $%&/") for path in drawn)


def test_a_model_without_maps_fails_before_scoring(cli, model, clips, tmp_path):
    assert cli("export", model, "--out", tmp_path / "exported", "--quiet").code == 0
    answer = cli("score", tmp_path / "exported", *clips, "--explain", tmp_path / "out")
    assert (answer.code, answer.out) == (2, "")
    assert "cannot show where in time and frequency a clip is anomalous" in answer.error
    assert not (tmp_path / "out").exists()


def test_invalid_folders_for_pictures_are_errors(cli, model, clips, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    answer = cli("score", model, *clips, "--explain", tmp_path / "file")
    assert "is a file; pictures need a folder" in answer.error
    answer = cli("score", model, *clips, "--explain", tmp_path / "x", "-o", tmp_path / "y")
    assert "--explain cannot be combined with --out" in answer.error
