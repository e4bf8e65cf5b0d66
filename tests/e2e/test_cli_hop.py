"""--hop: set for a fit, or for one run of a model."""

from __future__ import annotations

import json

import pytest

from ssdpt.config.tree import AUTO_HOP


@pytest.fixture
def clip(fan):
    return sorted((fan / "source_test").glob("section_01*normal*.wav"))[0]


def hop_of(cli, model):
    (facts,) = json.loads(cli("info", model, "--json").out)
    return facts["config"]["ssdpt"]["hop"]


@pytest.mark.parametrize(("hop", "expected"), [("2", 2), ("auto", min(AUTO_HOP, 16))])
def test_fit(cli, fan, tmp_path, hop, expected):
    arguments = ("--preset", "tiny", "--set", "ssdpt.training.epochs=1", "--quiet")
    answer = cli("fit", fan, "--out", tmp_path / "m", *arguments, "--hop", hop)
    assert (answer.code, answer.err) == (0, "")
    assert hop_of(cli, tmp_path / "m") == expected


def test_score(cli, models, clip):
    plain, fine = (
        json.loads(cli("score", models["ssdpt"], clip, "--format", "jsonl", *arguments).out)
        for arguments in ((), ("--hop", "4"))
    )
    assert fine["value"] != plain["value"]
    assert fine["threshold"] == plain["threshold"]
    assert (plain["notes"], fine["notes"]) == ([], ["hop 4; its thresholds were set at hop 16"])
    assert hop_of(cli, models["ssdpt"]) == 16  # for this run only


def test_evaluate(cli, models, fan, tmp_path):
    out = tmp_path / "result"
    answer = cli("evaluate", models["ssdpt"], fan, "--out", out, "--hop", "8")
    assert answer.code == 0
    note = "fan: hop 8; its thresholds were set at hop 16"
    assert note in answer.err
    assert note in json.loads((out / "metrics.json").read_text())["notes"]
    assert "--hop 8" in (out / "report.html").read_text()


@pytest.mark.parametrize("hop", ["0", "-1", "abc", "17", "1.5"])
def test_invalid_hops_are_rejected(cli, models, fan, clip, tmp_path, hop):
    sentence = f"from 1 to 16, the length of a segment; not {hop}"
    option = f"--hop={hop}"
    out = tmp_path / "out"
    for arguments in (
        ("fit", fan, "--preset", "tiny", "--out", out),
        ("score", models["ssdpt"], clip),
        ("evaluate", models["ssdpt"], fan, "--out", out),
    ):
        answer = cli(*arguments, option)
        assert answer.code == 2
        assert answer.error.endswith(sentence)
    assert not out.exists()


def test_models_without_a_hop_reject_the_option(cli, models, exports, fan, clip, tmp_path):
    for arguments, sentence in (
        (("fit", fan, "--system", "ae", "--out", tmp_path / "m"), "system ae has no hop to choose"),
        (("score", models["ae"], clip), "system ae has no hop to choose"),
        (("score", exports["ssdpt"], clip), "an exported model has its hop in the graph"),
    ):
        answer = cli(*arguments, "--hop", "auto")
        assert answer.code == 2
        assert sentence in answer.error
