"""Bad input: a one-line error, exit code 2, no traceback, nothing lost."""

from __future__ import annotations

import errno
import json
import subprocess

import numpy as np
import pytest
import soundfile

from sounds import RATE, hum, write_clip, write_folder


@pytest.fixture
def fit(cli, tmp_path):
    """Try to fit; return the line of the error."""

    def run(data, *arguments):
        answer = cli(
            "fit", data, "--preset", "tiny", "--out", tmp_path / "out", "--quiet", *arguments
        )
        assert answer.code == 2
        assert answer.out == ""
        assert not (tmp_path / "out").exists()
        return answer.error

    return run


@pytest.fixture
def score(cli, model):
    """Try to score one file; return the line of the error."""

    def run(path, *arguments):
        answer = cli("score", model, path, *arguments)
        assert answer.code == 2
        assert answer.out == ""
        return answer.error

    return run


def test_missing_paths(cli, fit, score, model, tmp_path):
    absent = tmp_path / "absent"
    assert f"{absent}: no such file or folder" in fit(absent)
    assert "no such file or folder" in score(absent)
    for arguments in (
        ("score", absent, absent),
        ("info", absent),
        ("threshold", absent, "--false-alarm-rate", 0.1),
        ("evaluate", absent, tmp_path, "--out", tmp_path / "e"),
        ("evaluate", model, absent, "--out", tmp_path / "e"),
        ("compare", model, absent, absent),
        ("datasets", "inspect", absent),
    ):
        answer = cli(*arguments)
        assert answer.code == 2
        assert "no " in answer.error


def test_an_empty_folder(fit, score, cli, model, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for error in (fit(empty), score(empty)):
        assert "no recordings" in error
    assert "no recordings" in cli("evaluate", model, empty, "--out", tmp_path / "e").error


def test_no_normal_clips(fit, tmp_path):
    write_clip(tmp_path / "d" / "train" / "anomaly_id_00_00000000.wav", hum(2))
    assert "no normal recordings to learn from" in fit(tmp_path / "d")


def test_all_clips_too_short(fit, tmp_path):
    write_folder(tmp_path / "d", clips=3, seconds=0.3)
    assert "shorter than 1 s" in fit(tmp_path / "d")


@pytest.fixture
def sounds(tmp_path):
    """Unusable sound files, named after their defect."""
    folder = tmp_path / "bad"
    whole = write_clip(folder / "whole.wav", hum(2)).read_bytes()
    (folder / "whole.wav").unlink()
    (folder / "text.wav").write_bytes(b"this is not sound")
    (folder / "nothing.wav").touch()
    (folder / "cut.wav").write_bytes(whole[:20000])
    soundfile.write(folder / "nan.wav", np.full(RATE, np.nan), RATE, subtype="FLOAT")
    soundfile.write(folder / "silent.wav", np.zeros(2 * RATE), RATE)
    return folder


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("text.wav", "not a readable sound file"),
        ("nothing.wav", "empty file"),
        ("cut.wav", "cut short"),
        ("nan.wav", "not numbers"),
        ("silent.wav", "silent"),
    ],
)
def test_unusable_sound(score, fit, sounds, tmp_path, name, message):
    error = score(sounds / name)
    assert error.startswith(str(sounds / name))
    assert message in error
    alone = tmp_path / "alone"
    alone.mkdir()
    (sounds / name).rename(alone / name)
    assert message in fit(alone)


def test_another_rate_with_strict(score, fit, tmp_path):
    path = write_clip(tmp_path / "d" / "cd.wav", hum(2, rate=44100), 44100)
    for error in (score(path, "--strict"), fit(tmp_path / "d", "--strict")):
        assert "44.1 kHz, 1 channel; this model expects 16 kHz" in error


def test_a_channel_that_is_not_there(fit, tmp_path):
    write_folder(tmp_path / "d", clips=3)
    assert "no channel 3" in fit(tmp_path / "d", "--channel", 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--set", "ssdpt.epochs=3"), "ssdpt.epochs"),
        (("--set", "epochs"), "name=value"),
        (("--set", "a=[1"), "not valid YAML"),
        (("--set", "seed=x"), "seed"),
        (("--system", "svm"), "system"),
        (("--preset", "slow"), "no preset is called 'slow'"),
        (("--preset", "absent.yaml"), "absent.yaml"),
        (("--false-alarm-rate", "2"), "false_alarm_rate"),
        (("--seed", "-1"), "seed"),
        (("--machine", "lathe"), "no machine is called lathe"),
        (("--device", "toaster"), "toaster"),
    ],
)
def test_wrong_settings(fit, fan, options, message):
    assert message in fit(fan, *options)


def test_invalid_false_alarm_rates(cli, model):
    for rate in ("0", "1", "7"):
        assert "between 0 and 1" in cli("threshold", model, "--false-alarm-rate", rate).error


def test_damaged_foreign_and_newer_models(cli, model, fan, tmp_path):
    clip = sorted((fan / "train").iterdir())[0]
    config = (model / "config.json").read_text()

    def error():
        errors = {cli("score", model, clip).error, cli("info", model).error}
        (message,) = errors
        return message

    (model / "config.json").write_text("{")
    assert "config.json: damaged" in error()
    (model / "config.json").write_text(json.dumps(json.loads(config) | {"format": 99}))
    assert "newer" in error()
    (model / "config.json").write_text(config)
    (model / "model.safetensors").write_bytes(b"foreign")
    assert "model.safetensors: damaged or of another model" in error()
    assert "not a model" in cli("score", tmp_path, clip).error


@pytest.mark.parametrize(
    ("code", "message"),
    [(errno.EROFS, "the disk is read-only"), (errno.ENOSPC, "the disk is full")],
)
def test_a_full_or_read_only_disk(cli, fan, model, tmp_path, monkeypatch, code, message):
    """Every command that writes; as root, permissions alone would stop nothing."""
    before = {path: path.read_bytes() for path in model.iterdir()}
    cli("fit", fan, "--preset", "tiny", "--system", "gmm", "--out", tmp_path / "warm")

    def refuse(*_, **__):
        raise OSError(code, "no")

    monkeypatch.setattr("ssdpt.common.temporary._locked_new", refuse)
    for name in ("mkdtemp", "TemporaryFile"):
        monkeypatch.setattr(f"tempfile.{name}", refuse)
    for command in (
        ("fit", fan, "--preset", "tiny", "--out", tmp_path / "out", "--quiet"),
        ("threshold", model, "--false-alarm-rate", 0.2),
        ("evaluate", model, fan, "--out", tmp_path / "e", "--quiet"),
    ):
        answer = cli(*command)
        assert answer.code == 2
        assert message in answer.error
    assert {path: path.read_bytes() for path in model.iterdir()} == before
    assert not (tmp_path / "out").exists()


def test_an_output_folder_with_other_files_is_rejected(cli, fan, tmp_path, monkeypatch):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter-1.tex").touch()
    monkeypatch.chdir(tmp_path)
    for out, message in [("thesis", "chapter-1.tex"), (".", "name a folder of its own")]:
        answer = cli("fit", fan, "--preset", "tiny", "--out", out, "--quiet")
        assert answer.code == 2
        assert message in answer.error
    assert (tmp_path / "thesis" / "chapter-1.tex").is_file()


def test_a_folder_that_cannot_be_read_is_one_line(cli, model, fan, monkeypatch):
    from ssdpt.detection import storage

    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(storage, "digest", refuse)
    answer = cli("info", model)
    assert answer.code == 2
    assert "Permission denied" in answer.error


def test_the_installed_command_prints_the_same_error(command, tmp_path):
    done = subprocess.run(
        [command, "fit", tmp_path / "absent", "--out", tmp_path / "m"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        f"error: {tmp_path / 'absent'}: no such file or folder; check the path",
        "more: ssdpt help folders",
    ]
