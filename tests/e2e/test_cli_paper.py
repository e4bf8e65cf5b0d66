"""ssdpt paper and ssdpt systems on the command line."""

from __future__ import annotations

import json
import re
import shutil

import pytest

# Seconds instead of minutes: small networks, few segments, and only β, which needs one of them.
SMALL = [
    *("--set", "features.n_mels=32", "--set", "ssdpt.blocks=1", "--set", "ssdpt.frames=16"),
    *("--set", "ssdpt.feed_forward=8"),
]

# The same for every experiment: what the variants do not set themselves.
SMALLER = [
    *("features.n_mels=32", "ssdpt.feed_forward=8", "ssdpt.hop=128", "ssdpt.training.hop=128"),
    *("ae.training.hop=64", "mnv2.width=0.1", "mnv2_lof.n_fft=128", "mnv2_lof.hop_length=128"),
    *("mnv2_lof.width=0.1", "mnv2_lof.frames=16", "mnv2_lof.training.hop=128"),
    "wavenet.samples=4096",
]


def test_systems(cli):
    rows = json.loads(cli("systems", "--json").out)
    assert [set(row) for row in rows] == [{"name", "origin", "parameters", "needs"}] * 10
    by_name = {row["name"]: row for row in rows}
    assert set(by_name) == {
        *("ae", "mnv2", "mnv2-lof", "wavenet-ensemble"),
        *("ssdpt-noaux", "ssdpt", "ssdpt-ensemble", "gmm", "texture", "multiview"),
    }
    assert by_name["ssdpt"]["parameters"] == by_name["ssdpt-noaux"]["parameters"] == 288643
    assert by_name["mnv2"]["parameters"] == 691523
    assert by_name["mnv2"]["origin"] == "Baseline-MNv2"
    assert "two machine IDs (sections)" in by_name["mnv2"]["needs"]
    assert by_name["gmm"]["needs"] == ["log-mel frames"]
    assert by_name["texture"]["needs"] == ["texture frames"]
    table = cli("systems").out.splitlines()
    assert len(table) == 11
    assert "288,643" in next(line for line in table if line.startswith("ssdpt "))


@pytest.fixture(scope="module")
def smoke(simulated, tmp_path_factory):
    """A finished run of one experiment."""
    from ssdpt.experiments.paper_run import PaperRequest, PaperRun

    out = tmp_path_factory.mktemp("smoke") / "out"
    names = [text.split("=") for text in SMALL if "=" in text]
    changes = {name: int(value) for name, value in names}
    request = PaperRequest(
        ("beta",),
        out,
        (simulated,),
        machines=("fan",),
        quick=True,
        overrides=changes,
        command="ssdpt",
    )
    assert PaperRun(request).run() == out / "paper.html"
    return out


def test_a_run_writes_tables_figures_and_the_page(smoke):
    assert {path.suffix for path in (smoke / "tables").iterdir()} == {".md", ".csv", ".json"}
    assert {path.suffix for path in (smoke / "figures").iterdir()} == {".png", ".svg"}
    page = (smoke / "paper.html").read_text("utf-8")
    assert "smoke run, not comparable" in page
    assert "chosen on test labels, as in the paper's code" in page.replace("&#x27;", "'")
    for link in re.findall(r'href="(cells/[^"]+)"', page):
        assert (smoke / link).exists()


def test_the_same_command_again_runs_nothing(cli, simulated, smoke):
    cells = {path: path.stat().st_mtime_ns for path in smoke.glob("cells/*/*")}
    answer = cli(
        *("paper", "beta", "--quick", "--machines", "fan", "--data", simulated, "--out", smoke),
        *SMALL,
    )
    assert answer.code == 0
    assert "paper.html" in answer.out
    assert {path: path.stat().st_mtime_ns for path in smoke.glob("cells/*/*")} == cells


def test_a_folder_that_changed_runs_its_cells_again(cli, simulated, smoke, tmp_path):
    data = shutil.copytree(simulated / "fan", tmp_path / "data" / "fan")
    out = shutil.copytree(smoke, tmp_path / "out")
    before = set((out / "cells").iterdir())
    arguments = ["paper", "beta", "--quick", "--data", tmp_path / "data", "--out", out, *SMALL]
    assert cli(*arguments).code == 0
    assert set((out / "cells").iterdir()) == before, "the same content in another folder"
    next((data / "train").iterdir()).unlink()
    answer = cli(*arguments)
    assert "fan: its recordings have changed since the last run; its cells run again" in answer.err
    assert len(set((out / "cells").iterdir()) - before) == 1


def test_the_plan_runs_nothing(cli, simulated, tmp_path):
    out = tmp_path / "out"
    answer = cli(
        *("paper", "beta", "--quick", "--data", simulated, "--out", out, "--plan", "--seeds", 2),
        *SMALL,
    )
    assert answer.code == 0
    assert answer.out.splitlines()[1].split()[:3] == ["ssdpt", "4", "0"]
    assert "4 cells to run on cpu" in answer.out
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["main"], "no recordings were given: name the DCASE 2021 folder with --data"),
        (["main", "--data", "nowhere"], "nowhere: no such file or folder"),
        (["main", "--quick", "--machines", "lathe"], "lathe: no such machine type in the plant"),
        (["main", "--quick", "--set", "ssdpt.frames=1.5"], "setting ssdpt.frames"),
        (["main", "--quick", "--device", "tpu"], "'tpu' is not a device"),
    ],
)
def test_bad_input_is_a_one_line_error(cli, tmp_path, arguments, message):
    answer = cli("paper", *arguments, "--out", tmp_path / "out")
    assert answer.code == 2
    assert message in answer.error


def test_an_unknown_table_lists_the_known(cli, tmp_path):
    answer = cli("paper", "tables", "--out", tmp_path)
    assert answer.code == 2
    assert answer.error == (
        "no command is called 'tables'; there are all, main, masking, patches, blocks, beta, params"
    )


@pytest.mark.full
def test_every_table_and_figure_of_one_machine_type(cli, tmp_path):
    out = tmp_path / "out"
    arguments = [argument for change in SMALLER for argument in ("--set", change)]
    answer = cli("paper", "all", "--quick", "--machines", "fan", "--out", out, *arguments)
    assert answer.code == 0, answer.err
    assert "failed" not in answer.err
    for name in ("main", "per-machine", "masking", "patches", "blocks", "beta", "claims"):
        for suffix in ("md", "csv", "json"):
            assert (out / "tables" / f"{name}.{suffix}").stat().st_size > 100
    assert len(list((out / "cells").iterdir())) == 27
    table = (out / "tables" / "main.md").read_text("utf-8").splitlines()
    rows = [line for line in table if line.startswith("| ")][2:]  # less heading and rule
    assert len(rows) == 11
    assert not any("| – |" in row for row in rows), "a system without a figure"
    page = (out / "paper.html").read_text("utf-8")
    for label in ("MNv2-LOF", "WaveNet-ensemble", "SSDPT-ensemble", "Gaussian mixture"):
        assert label in page
