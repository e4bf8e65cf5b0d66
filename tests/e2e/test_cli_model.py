"""ssdpt fit, info, threshold, evaluate, compare, paper, datasets, demo: what they print."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from sounds import hum, write_clip, write_folder
from ssdpt.version import __version__

COMMANDS = [
    *(["fit"], ["threshold"], ["info"], ["score"], ["evaluate"], ["compare"], ["record"], ["demo"]),
    *(["datasets", "inspect"], ["datasets", "download"], ["datasets", "simulate"]),
    ["paper", "params"],
]


class TestCommonOptions:
    @pytest.mark.parametrize("arguments", [[], *COMMANDS], ids=" ".join)
    def test_version_quiet_and_verbose(self, cli, arguments):
        assert cli(*arguments, "--version").out == f"ssdpt {__version__}\n"
        answer = cli(*arguments, "--help")
        assert answer.code == 0
        for option in ("--quiet", "--verbose", "--version"):
            assert option in answer.out

    def test_quiet_leaves_results_and_errors(self, cli, model, tmp_path):
        assert cli("--quiet", "info", model).out
        answer = cli("threshold", model, "--false-alarm-rate", "0.01", "--quiet")
        assert (answer.code, answer.err) == (0, "")
        assert "alert above" in answer.out
        assert "no such model" in cli("info", tmp_path / "absent", "--quiet").error

    def test_verbose_shows_where_an_error_came_from(self, cli, tmp_path):
        messages = cli("info", tmp_path / "absent", "--verbose").err
        assert "Traceback" in messages
        assert messages.splitlines()[-2].startswith("error: ")
        assert messages.splitlines()[-1] == "more: ssdpt help models"

    def test_help_is_about_as_fast_as_importing_its_libraries(self, command):
        import resource
        import subprocess
        import sys

        def best(*arguments):
            """Seconds of CPU time, which hardly depend on what else the computer does."""
            times = []
            for _ in range(5):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(arguments, check=True, capture_output=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            return min(times)

        libraries = "import typer, rich.markdown, rich.table, rich.panel, rich.progress"
        assert best(command, "--help") < 2.5 * best(sys.executable, "-c", libraries)


class TestFit:
    def test_fitting_one_machine_gives_a_model(self, cli, fan, tmp_path):
        out = tmp_path / "m"
        answer = cli("fit", fan, "--preset", "tiny", "--out", out, "--seed", 3)
        assert answer.code == 0
        assert answer.err.startswith("estimated time")
        assert f"-> {out}" in answer.err
        assert sorted(p.name for p in tmp_path.iterdir()) == ["m"]
        lines = [json.loads(line) for line in (out / "training.jsonl").read_text().splitlines()]
        assert [line["epoch"] for line in lines] == [1, 2]
        assert {"loss", "accuracy", "classification", "reconstruction"} <= set(lines[0])
        assert json.loads((out / "config.json").read_text())["config"]["seed"] == 3

    def test_fitting_several_machines_gives_a_folder_of_models(self, cli, simulated, tmp_path):
        arguments = (
            "fit",
            simulated,
            "--preset",
            "tiny",
            "--system",
            "gmm",
            "--out",
            tmp_path / "all",
        )
        answer = cli(*arguments)
        assert answer.code == 0
        assert "valve (2 of 2)" in answer.err
        assert {"fan", "valve", "index.json"} == {p.name for p in (tmp_path / "all").iterdir()}
        one = cli(*arguments[:-1], tmp_path / "one", "--machine", "valve")
        assert one.code == 0
        assert (tmp_path / "one" / "config.json").is_file()

    def test_settings_from_the_command_line(self, cli, fan, tmp_path):
        answer = cli(
            *("fit", fan, "--preset", "tiny", "--system", "gmm", "--out", tmp_path / "m"),
            *("--false-alarm-rate", 0.05, "--device", "cpu", "--channel", 0),
            *("--set", "gmm.components=2", "--set", "decision.method=empirical"),
        )
        assert answer.code == 0
        settings = json.loads((tmp_path / "m" / "config.json").read_text())["config"]
        assert settings["gmm"]["components"] == 2
        assert settings["decision"]["false_alarm_rate"] == 0.05
        calibration = json.loads((tmp_path / "m" / "calibration.json").read_text())
        assert calibration["pooled"]["method"] == "empirical"

    def test_one_section_falls_back_to_the_gaussian(self, cli, tmp_path):
        write_folder(tmp_path / "pump")
        answer = cli("fit", tmp_path / "pump", "--preset", "tiny", "--out", tmp_path / "m")
        assert answer.code == 0
        assert "classification needs at least two machine IDs" in answer.err
        assert json.loads((tmp_path / "m" / "config.json").read_text())["config"]["system"] == "gmm"

    def test_clips_left_out_are_named(self, cli, tmp_path):
        for number in range(6):
            write_clip(tmp_path / "d" / "train" / f"normal_id_00_{number:08}.wav", hum(2, number))
        write_clip(tmp_path / "d" / "train" / "anomaly_id_00_00000001.wav", hum(2, 9))
        (tmp_path / "d" / "train" / "normal_id_00_00000099.wav").write_bytes(b"no sound")
        answer = cli("fit", tmp_path / "d", "--preset", "tiny", "--out", tmp_path / "m")
        assert answer.code == 0
        assert "note: left out, anomalous by name" in answer.err
        assert "normal_id_00_00000099.wav: not a readable sound file" in answer.err


class TestInfoAndThreshold:
    def test_info_for_people(self, cli, model):
        answer = cli("info", model)
        assert answer.code == 0
        assert answer.out.startswith("# fan: anomalous sound detector")

    def test_info_for_programs(self, cli, fleet_folder):
        facts = json.loads(cli("info", fleet_folder, "--json").out)
        assert [fact["machine"] for fact in facts] == ["fan", "valve"]
        assert facts[0]["recordings"] == 24
        assert facts[0]["thresholds"]["alert"] < facts[0]["thresholds"]["alarm"]
        assert facts[0]["config"]["preset"] == "tiny"
        assert facts[0]["version"] == __version__

    def test_threshold_moves_and_warns_of_extrapolation(self, cli, model, fan):
        clip = sorted((fan / "source_test").iterdir())[0]

        def threshold():
            return json.loads(cli("score", model, clip, "--format", "jsonl").out)["threshold"]

        before, weights = threshold(), (model / "model.safetensors").read_bytes()
        answer = cli("threshold", model, "--false-alarm-rate", "0.01")
        assert answer.code == 0
        assert answer.out.startswith("fan: alert above ")
        assert "rates below 0.04 are extrapolated" in answer.err
        assert threshold() > before
        assert (model / "model.safetensors").read_bytes() == weights
        assert "extrapolated" not in cli("threshold", model, "--false-alarm-rate", "0.5").err

    def test_the_papers_parameters(self, cli):
        rows = json.loads(cli("paper", "params", "--json").out)
        assert [tuple(row.values()) for row in rows] == [
            (1, 64, 13955, 96643),
            (2, 64, 27267, 192643),
            (3, 64, 40579, 288643),
            (3, 128, 53827, 450115),
            (3, 256, 80323, 1067971),
        ]
        assert list(rows[0]) == ["blocks", "frames", "paper_count", "all"]
        table = cli("paper", "params").out
        assert "1067971" in table

    def test_a_name_that_looks_like_an_emoji_is_left_alone(self, cli, tmp_path):
        write_clip(tmp_path / ":car:" / "normal" / "a.wav", hum(2))
        assert ":car:" in cli("datasets", "inspect", tmp_path, "--json").out


class TestEvaluateAndCompare:
    def test_evaluate_writes_everything(self, cli, fleet_folder, simulated, tmp_path):
        answer = cli("evaluate", fleet_folder, simulated, "--out", tmp_path / "e")
        assert answer.code == 0
        assert "AUC" in answer.out
        assert f"report: {tmp_path / 'e' / 'report.html'}" in answer.out
        written = {path.name for path in (tmp_path / "e").iterdir()}
        assert {"report.html", "metrics.json", "scores.csv", "result.csv"} <= written
        assert "anomaly_score_fan_section_00_source_test.csv" in written
        assert "decision_result_valve_section_02_target_test.csv" in written
        one = cli("evaluate", fleet_folder, simulated, "--machine", "fan", "--out", tmp_path / "f")
        assert one.code == 0
        assert not list((tmp_path / "f").glob("*valve*"))

    def test_compare(self, cli, models, fan):
        answer = cli("compare", models["gmm"], models["ae"], fan)
        assert answer.code == 0
        assert "AUC" in answer.out
        assert json.loads(cli("compare", models["gmm"], models["ae"], fan, "--json").out)


class TestDatasets:
    def test_simulate_and_inspect(self, cli, tmp_path):
        out = tmp_path / "data"
        simulated = cli("datasets", "simulate", out, "--preset", "tiny", "--machine", "valve")
        assert simulated.code == 0
        assert simulated.out.strip() == str(out)
        assert "valve" in cli("datasets", "inspect", out).out
        report = json.loads(cli("datasets", "inspect", out, "--json").out)
        assert report["layout"] == "dcase2021"

    def test_download_lists_the_available_data_sets(self, cli, tmp_path):
        assert "dcase2021" in cli("datasets", "download", "dcase1999", "--out", tmp_path).error


def test_record_without_a_microphone_library_says_what_to_install(cli, monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "sounddevice", None)
    answer = cli("record", tmp_path / "pump", "--minutes", 0.1, "--device", "0")
    assert answer.code == 2
    assert "ssdpt[live]" in answer.error


def test_the_demo_runs_all_steps(cli, tmp_path):
    answer = cli("demo", "--preset", "tiny", "--fit", "tiny", "--out", tmp_path / "demo")
    assert answer.code == 0, answer.err
    for text in ("machine", "AUC", "loudness AUC", "Gaussian AUC", "false alarms", "fan", "valve"):
        assert text in answer.out
    report = tmp_path / "demo" / "report.html"
    assert f"report: {report.as_uri()}" in answer.out
    assert "What would this do for my machine?" in report.read_text("utf-8")
    tried = re.findall(r"^  (ssdpt .+?)  ", answer.out, re.MULTILINE)
    assert len(tried) == 5
    assert cli(*shlex.split(tried[0])[1:]).code in {0, 1}
