"""ssdpt score: formats, exit codes, streaming, any sound file."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from sounds import hum, write_clip, write_folder
from ssdpt.types import Score, Timeline

NAMES = ("path", "machine", "section", "level", "value", "threshold", "p_value", "parts", "notes")


@pytest.fixture
def clips(fan):
    return sorted((fan / "source_test").glob("section_00*.wav"))


@pytest.fixture
def pump(tmp_path, cli):
    """A custom machine: its model, a normal clip and an anomalous one."""
    write_folder(tmp_path / "pump")
    fitted = cli("fit", tmp_path / "pump", "--preset", "tiny", "--out", tmp_path / "m", "--quiet")
    assert (fitted.code, fitted.err) == (0, "")
    noise = np.random.default_rng(0).normal(0, 0.2, 32000).astype(np.float32)
    return SimpleNamespace(
        model=tmp_path / "m",
        normal=write_clip(tmp_path / "new" / "normal.wav", hum(2, seed=1)),
        anomalous=write_clip(tmp_path / "new" / "anomalous.wav", noise),
    )


def test_exit_codes(cli, pump, tmp_path):
    assert cli("score", pump.model, pump.normal).code == 0
    assert cli("score", pump.model, pump.normal, pump.anomalous).code == 1
    (tmp_path / "broken.wav").write_bytes(b"no sound")
    answer = cli("score", pump.model, tmp_path / "broken.wav", pump.anomalous, pump.normal)
    assert answer.code == 2
    assert "broken.wav" in answer.error
    assert len(answer.out.splitlines()) == 3  # heading and the two other clips


def test_table(cli, pump):
    answer = cli("score", pump.model, pump.normal, pump.anomalous)
    heading, first, second = answer.out.splitlines()
    assert heading.split() == ["level", "score", "threshold", "p-value", "clip"]
    assert first.startswith("normal")
    assert first.endswith(str(pump.normal))
    assert second.startswith("alarm")


def test_json_jsonl_and_csv_say_the_same(cli, models, clips):
    answers = {
        kind: cli("score", models["ssdpt"], *clips, "--format", kind).out
        for kind in ("json", "jsonl", "csv")
    }
    whole = json.loads(answers["json"])
    assert [row["path"] for row in whole] == [str(clip) for clip in clips]
    assert tuple(whole[0]) == NAMES
    assert [json.loads(line) for line in answers["jsonl"].splitlines()] == whole
    rows = list(csv.DictReader(io.StringIO(answers["csv"])))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in whole]
    assert json.loads(rows[0]["parts"]) == whole[0]["parts"]
    for row in whole:
        assert (row["level"] != "normal") == (row["value"] > row["threshold"])


def test_timelines(cli, models, clips):
    model, clip = models["ssdpt"], clips[0]
    (row,) = json.loads(cli("score", model, clip, "--timeline", "--format", "json").out)
    line = row["timeline"]
    assert len(line["start_s"]) == len(line["value"]) == len(line["parts"]["identity"])
    assert np.mean(line["value"]) == pytest.approx(row["value"], rel=1e-5)
    rows = list(
        csv.DictReader(io.StringIO(cli("score", model, clip, "--timeline", "--format", "csv").out))
    )
    assert [float(r["value"]) for r in rows] == line["value"]
    assert float(rows[0]["end_s"]) == pytest.approx(line["duration_s"], abs=1e-3)
    table = cli("score", model, clip, "--timeline").out
    assert "highest" in table
    assert "█" in table


def test_json_is_complete_when_a_path_is_missing(cli, pump, tmp_path):
    answer = cli("score", pump.model, pump.normal, tmp_path / "absent", "--format", "json")
    assert answer.code == 2
    assert "no such file" in answer.error
    assert len(json.loads(answer.out)) == 1
    assert json.loads(cli("score", pump.model, tmp_path / "absent", "--format", "json").out) == []


def test_each_result_is_printed_as_soon_as_it_is_computed(capsys, monkeypatch, clips):
    """With a fleet that records what has been printed before each score."""
    from ssdpt.cli import app
    from ssdpt.fleet.fleet import Fleet

    printed = []

    def score_all(recordings, *, strict):
        for recording in recordings:
            printed.append(capsys.readouterr().out)
            line = Timeline(np.zeros(1, np.float32), 1.0, np.zeros(1, np.float32))
            path = str(recording.path)
            yield recording, Score(path, "fan", "00", 0.0, 1.0, "normal", 0.5, {}, line)

    fleet = SimpleNamespace(score_all=score_all, items=list)
    monkeypatch.setattr(Fleet, "load", lambda *_, **__: fleet)
    for kind in ("table", "json", "csv", "jsonl"):
        printed.clear()
        with pytest.raises(SystemExit):
            app(["score", "model", *map(str, clips), "--format", kind])
        capsys.readouterr()
        assert len(printed) == len(clips)
        for before, clip in zip(printed[1:], clips, strict=False):
            assert clip.name in before


def test_any_rate_channels_length_and_format(cli, pump, tmp_path):
    for name, rate, channels, seconds, note in [
        ("cd.wav", 44100, 2, 2.0, "resampled from 44100 Hz"),
        ("array.wav", 16000, 8, 2.0, "channel 0 of 8"),
        ("short.wav", 16000, 1, 0.4, "shorter than a segment"),
        ("phone.mp3", 44100, 2, 2.0, "resampled from 44100 Hz"),
    ]:
        samples = np.repeat(hum(seconds, seed=3, rate=rate)[:, None], channels, axis=1)
        path = write_clip(tmp_path / name, samples, rate)
        answer = cli("score", pump.model, path, "--format", "jsonl")
        assert answer.code in {0, 1}
        assert note in " ".join(json.loads(answer.out)["notes"])
    strict = cli("score", pump.model, tmp_path / "cd.wav", "--strict")
    assert strict.code == 2
    assert "44.1 kHz, 2 channels; this model expects 16 kHz" in strict.error


def test_a_folder_of_models(cli, fleet_folder, simulated, tmp_path):
    answer = cli("score", fleet_folder, simulated, "--format", "jsonl")
    rows = [json.loads(line) for line in answer.out.splitlines()]
    assert {row["machine"] for row in rows} == {"fan", "valve"}
    unknown = write_clip(tmp_path / "lathe" / "x.wav", hum(2))
    refused = cli("score", fleet_folder, unknown)
    assert refused.code == 2
    assert "no model for machine lathe; this one knows fan, valve" in refused.error
    chosen = cli("score", fleet_folder, unknown, "--machine", "fan", "--section", "01")
    assert chosen.code in {0, 1}


def test_a_section_can_be_given(cli, models, tmp_path):
    path = write_clip(tmp_path / "x.wav", hum(2))
    for section, note in (("01", []), ("88", ["ID 88 was not in training"])):
        answer = cli("score", models["gmm"], path, "--section", section, "--format", "jsonl")
        notes = json.loads(answer.out)["notes"]
        assert [n.split(":")[0] for n in notes] == note


def test_a_closed_pipe_is_not_an_error(command, models, fan):
    arguments = [command, "score", str(models["gmm"]), str(fan), "--format", "jsonl"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        json.loads(process.stdout.readline())
        process.stdout.close()
        errors = process.stderr.read().decode()
        assert process.wait(timeout=120) == 0
    assert errors == ""


def test_a_full_disk_is_a_one_line_error(command, pump):
    from pathlib import Path

    full = Path("/dev/full")
    if not full.is_char_device():
        pytest.skip("this system has no /dev/full")
    with full.open("w") as disk:
        done = subprocess.run(
            [command, "score", pump.model, pump.normal],
            stdout=disk,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 2
    assert done.stderr == "error: the output: No space left on device\n"
