from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from evaluation_fakes import FakeDataset, FakeFleet, make_fakes, write_clip

from ssdpt.common.files import digest
from ssdpt.common.progress import Reporter
from ssdpt.errors import SsdptError
from ssdpt.evaluation.evaluate import evaluate
from ssdpt.types import Recording


class Listener(Reporter):
    def __init__(self):
        self.said, self.warned = [], []

    def say(self, message):
        self.said.append(message)

    def warn(self, message):
        self.warned.append(message)


class Page(HTMLParser):
    """Checks that every tag is closed, and collects what a test wants to know."""

    VOID = frozenset({"meta", "br", "image", "path", "use", "rect", "img"})

    def __init__(self, text):
        super().__init__()
        self.stack, self.tags, self.ids, self.links, self.texts = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "action"):
                self.links.append(value)
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.stack.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    fleet, dataset = make_fakes(root, ("fan", "pump"), sections=("00", "01"), clips=10)
    references = {"loudness": lambda recording: float(len(recording.path.name) % 3)}
    evaluation = evaluate(
        fleet,
        dataset,
        root / "out",
        examples=2,
        references=references,
        command="ssdpt evaluate m d",
    )
    return evaluation, root / "out"


def test_files_are_written_and_agree(evaluated):
    evaluation, out = evaluated
    assert {path.name for path in out.iterdir()} == {
        *("report.html", "metrics.json", "scores.csv", "result.csv", "reliability.csv"),
        *(
            f"{kind}_{machine}_section_{section}_test.csv"
            for kind in ("anomaly_score", "decision_result")
            for machine in ("fan", "pump")
            for section in ("00", "01")
        ),
    }
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["score"] == "higher = more anomalous"
    assert metrics["clips"] == 160 == len(evaluation.clips)
    assert metrics["means"]["auc"]["value"] == evaluation.results.means.auc.value
    assert metrics["machines"][0]["cells"][0]["rates"]["normals"] == 10
    assert set(metrics["references"]["loudness"]["machines"]) == {"fan", "pump"}
    rows = list(csv.DictReader((out / "scores.csv").read_text().splitlines()))
    assert len(rows) == 160
    assert json.loads(rows[0]["parts"]) == {"classification": float(rows[0]["value"])}
    assert {row["level"] for row in rows} == {"normal", "alert", "alarm"}
    assert float(rows[0]["loudness"]) in (0, 1, 2)


def test_summary_has_a_row_for_each_machine_and_one_over_all(evaluated):
    evaluation, _ = evaluated
    rows = evaluation.summary_rows()
    assert [row["machine"] for row in rows] == ["fan", "pump", "all"]
    assert list(rows[0])[:4] == ["machine", "clips", "AUC", "loudness AUC"]
    assert re.fullmatch(r"0\.\d{3} \(0\.\d{3}–[01]\.\d{3}\)", rows[0]["AUC"])
    misses = [int(row["misses"].split("/")[0]) for row in rows]
    assert misses[0] + misses[1] == misses[2]
    assert rows[0]["threshold"] == "0.5"


def test_headline_summarises_the_result(evaluated):
    evaluation, _ = evaluated
    rates = evaluation.results.rates
    assert evaluation.headline.startswith("2 machines, 160 clips not used in training.")
    assert f"{80 - rates.misses} of 80 faulty clips detected" in evaluation.headline
    assert "requested: 10 %" in evaluation.headline


def test_report_is_one_self_contained_page(evaluated):
    _, out = evaluated
    page = Page((out / "report.html").read_text(encoding="utf-8"))
    assert page.stack == []
    assert "script" not in page.tags
    assert page.tags.count("audio") == 8  # of each machine two high scores, two false alarms
    assert page.tags.count("svg") == 1 + 2 * 3 + 8  # overview; three a machine; the examples
    assert all(link.startswith(("data:", "#")) for link in page.links)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    text = " ".join(page.texts)
    assert "ssdpt evaluate m d" in text
    assert "higher = more anomalous" in text
    low, high = re.search(r"s, ([\d.]+) kHz–([\d.]+) kHz", text).groups()
    assert 1.9 < float(low) < 2 < float(high) < 2.1  # where the faulty clips whistle


def test_report_takes_its_colours_from_the_page(evaluated):
    _, out = evaluated
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "var(--faulty)" in text
    assert not re.search(r"#0102[0-9a-f]{2}", text)
    for variable in set(re.findall(r"var\((--[\w-]+)\)", text)):
        assert text.count(f"{variable}: #") == 2, f"{variable} needs a light and a dark colour"


def test_names_from_outside_are_escaped(tmp_path):
    name = '<b>$fan$ & "co" 风机'
    fleet, dataset = make_fakes(tmp_path / "data", ("fan",), clips=3, domains=("source",))
    recordings = tuple(
        replace(r, machine=name, fault="<i>worn</i>", attributes=(("speed", "<u>"),))
        for r in dataset.recordings
    )
    fleet = FakeFleet({name: fleet["fan"]})
    notes = ("<script>alert(1)</script>",)
    result = evaluate(fleet, FakeDataset(recordings, "folder", notes), tmp_path / "out", examples=1)
    page = Page(result.report.read_text(encoding="utf-8"))
    assert page.stack == []
    assert not {"b", "i", "u", "script"} & set(page.tags)
    assert name in " ".join(page.texts)


def test_unusable_clips_are_left_out_and_listed(tmp_path):
    fleet, dataset = make_fakes(tmp_path, clips=3, domains=("source",))
    learned, broken, *_ = dataset.recordings
    fleet["fan"].fingerprint = frozenset({digest(learned.path)})
    del fleet["fan"].values[broken.path.name]
    extra = {}
    for name, change in {
        "a.wav": {"split": "train"},
        "b.wav": {"split": "supplemental"},
        "c.wav": {"label": ""},
        "d.wav": {"machine": "valve"},
    }.items():
        write_clip(tmp_path / name, faulty=False, seconds=0.2, seed=len(extra) + 50)
        fields = {"machine": "fan", "split": "test", "label": "normal"} | change
        extra[name] = Recording(tmp_path / name, **fields)
    gone = Recording(tmp_path / "gone.wav", "fan", split="test", label="normal")
    everything = FakeDataset((*dataset.recordings, *extra.values(), gone))
    listener = Listener()
    result = evaluate(fleet, everything, tmp_path / "out", examples=0, reporter=listener)
    assert len(result.clips) == 4
    reasons = {left.reason: left.names for left in result.left_out}
    assert reasons == {
        "used in training or calibration": (learned.path.name,),
        "in the training split": ("a.wav",),
        "in the supplemental split": ("b.wav",),
        "no label": ("c.wav",),
        "no model for machine valve": ("d.wav",),
        "unreadable: No such file or directory": ("gone.wav",),
        f"{broken.path}: unreadable; check the file": (broken.path.name,),
    }
    assert "1 clip left out: no label (c.wav)" in listener.said
    assert any(str(broken.path) in message for message in listener.warned)
    page = " ".join(Page(result.report.read_text(encoding="utf-8")).texts)
    assert "1 clip left out: no model for machine valve (d.wav)" in page


def test_a_score_that_is_not_finite_is_left_out_by_name(tmp_path):
    fleet, dataset = make_fakes(tmp_path, clips=3, domains=("source",))
    broken = dataset.recordings[0].path
    fleet["fan"].values[broken.name] = float("nan")
    result = evaluate(fleet, dataset, tmp_path / "out", examples=0)
    assert len(result.clips) == 5
    assert result.left_out[0].reason == f"{broken}: the score is not a finite number"


def test_without_faulty_clips_false_alarms_are_still_reported(tmp_path):
    fleet, dataset = make_fakes(tmp_path, clips=5, domains=("source",))
    fleet["fan"].values["section_00_source_test_normal_0000.wav"] = 0.9
    normal = FakeDataset(tuple(r for r in dataset.recordings if r.label == "normal"))
    listener = Listener()
    result = evaluate(fleet, normal, tmp_path / "out", examples=1, reporter=listener)
    assert "No faulty clips, so AUC is unknown; 1 false alarm on 5 normal clips" in result.headline
    assert any("AUC and pAUC are not defined" in message for message in listener.warned)
    row = result.summary_rows()[0]
    assert (row["AUC"], row["false alarms"], row["misses"]) == ("–", "1/5", "0/0")
    assert json.loads((tmp_path / "out/metrics.json").read_text())["means"]["auc"] is None
    assert (tmp_path / "out/result.csv").read_text() == ""


def test_few_clips_are_noted(tmp_path, evaluated):
    fleet, dataset = make_fakes(tmp_path, clips=9, domains=("source",), separation=2)
    result = evaluate(fleet, dataset, tmp_path / "out", examples=0)
    assert result.notes == (
        "fan, section 00, source domain: only 9 normal and 9 faulty clips, so its metrics are "
        "uncertain and their intervals too narrow",
    )
    assert ">excellent, but few clips<" in result.report.read_text(encoding="utf-8")
    assert evaluated[0].notes == ()  # ten of each


def test_recordings_without_a_section_are_not_given_one(tmp_path):
    fleet, dataset = make_fakes(tmp_path / "data", clips=2, domains=("source",))
    bare = tuple(replace(r, section="") for r in dataset.recordings)
    result = evaluate(fleet, FakeDataset(bare, "folder"), tmp_path / "out", examples=1)
    assert result.notes[0].startswith("fan, source domain: only 2 normal")
    assert "section ," not in result.report.read_text(encoding="utf-8")


def test_far_too_many_false_alarms_are_explained(tmp_path):
    fleet, dataset = make_fakes(tmp_path, clips=10, domains=("source",))
    fleet["fan"].alert = 0.0
    result = evaluate(fleet, dataset, tmp_path / "out", examples=0)
    assert result.notes[0].startswith("fan: 100 % false alarms, but 10 % were requested: normal")
    assert "fit it again" in result.notes[0]
    assert ">too many false alarms<" in result.report.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("domain", "remedy"), [("source", "ssdpt score MODEL CLIPS --commission"), ("target", "adapt")]
)
def test_what_helps_against_false_alarms_is_named(tmp_path, domain, remedy):
    fleet, dataset = make_fakes(tmp_path, clips=10, domains=(domain,))
    fleet["fan"].alert = 0.0
    fleet["fan"].adapts = True
    note = evaluate(fleet, dataset, tmp_path / "out", examples=0).notes[0]
    assert remedy in note
    assert ("--commission" in note) == (domain == "source")


@pytest.mark.parametrize(("adapts", "remedy"), [(True, "--commission"), (False, "ssdpt threshold")])
def test_a_threshold_that_misses_most_faults_is_explained(tmp_path, adapts, remedy):
    fleet, dataset = make_fakes(tmp_path, clips=20, domains=("source",), separation=1)
    fleet["fan"].alert = 2.5
    fleet["fan"].adapts = adapts
    result = evaluate(fleet, dataset, tmp_path / "out", examples=0)
    assert result.notes[0].startswith("fan: the scores separate well, but only 0 of 20 faulty")
    assert remedy in result.notes[0]
    assert ">fair, the threshold misses most faults<" in result.report.read_text(encoding="utf-8")


def test_where_false_alarms_limit_the_badge_the_report_says_what_helps(tmp_path):
    fleet, dataset = make_fakes(tmp_path, clips=10, domains=("source",), separation=5)
    fleet["fan"].adapts = True
    for number in range(4):  # of ten, where one was to be expected: not luck, but no disaster
        name = f"section_00_source_test_normal_{number:04d}.wav"
        fleet["fan"].values[name] = fleet["fan"].alert + 0.01
    result = evaluate(fleet, dataset, tmp_path / "out", examples=0)
    assert "more false alarms than requested" in result.report.read_text(encoding="utf-8")
    assert "ssdpt score MODEL CLIPS --commission" in result.notes[0]


def test_false_alarms_can_be_listened_to(tmp_path):
    fleet, dataset = make_fakes(tmp_path, clips=10, domains=("source",), separation=5)
    quiet = evaluate(fleet, dataset, tmp_path / "quiet", examples=1)
    assert quiet.false_alarms == []
    name = "section_00_source_test_normal_0003.wav"
    fleet["fan"].values[name] = fleet["fan"].alert + 0.01
    result = evaluate(fleet, dataset, tmp_path / "out", examples=1)
    assert [clip.recording.path.name for clip in result.false_alarms] == [name]
    page = result.report.read_text(encoding="utf-8")
    assert page.count("<audio") == 2  # the most anomalous clip is a faulty one
    assert f"Listen to {name}" in page
    assert "Further false alarms" in page


def test_missing_normal_clips_are_reported(tmp_path):
    fleet, dataset = make_fakes(tmp_path, clips=3, domains=("source",))
    faulty = FakeDataset(tuple(r for r in dataset.recordings if r.label == "anomaly"))
    result = evaluate(fleet, faulty, tmp_path / "out", examples=0)
    assert "no normal clips, so false alarms and AUC are unknown" in result.headline


def test_different_false_alarm_rates_are_shown_as_a_range(tmp_path):
    fleet, dataset = make_fakes(tmp_path, ("fan", "pump"), clips=2, domains=("source",))
    fleet["pump"].false_alarm_rate = 0.005
    result = evaluate(fleet, dataset, tmp_path / "out", examples=0)
    assert "requested: 0.5 % to 10 %" in result.headline


def test_no_usable_clips_is_an_error(tmp_path):
    fleet, dataset = make_fakes(tmp_path, clips=1)
    prints = frozenset(digest(r.path) for r in dataset.recordings)
    fleet["fan"].fingerprint = prints
    with pytest.raises(SsdptError, match=r"none of 4 recordings .*4 used in training") as error:
        evaluate(fleet, dataset, tmp_path / "out")
    assert "\n" not in str(error.value)
    with pytest.raises(SsdptError, match="has no recordings"):
        evaluate(fleet, FakeDataset(()), tmp_path / "out")
    fleet["fan"].fingerprint = frozenset()
    fleet["fan"].values.clear()
    with pytest.raises(SsdptError, match="No clip could be scored; the first error"):
        evaluate(fleet, dataset, tmp_path / "out")


def test_an_unwritable_output_folder_fails_before_scoring(tmp_path):
    fleet, dataset = make_fakes(tmp_path / "data", clips=1)
    (tmp_path / "file").write_text("")
    fleet["fan"].score = pytest.fail
    with pytest.raises(SsdptError, match="cannot write"):
        evaluate(fleet, dataset, tmp_path / "file" / "out")


def test_equal_seeds_give_equal_files(tmp_path):
    fleet, dataset = make_fakes(tmp_path / "data", clips=4)
    for name in ("one", "two"):
        evaluate(fleet, dataset, tmp_path / name, seed=3, examples=1)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_files_of_an_earlier_evaluation_are_reported(tmp_path):
    fleet, dataset = make_fakes(tmp_path / "data", clips=2)
    listener = Listener()
    for layout in ("dcase2021", "dcase2022"):
        evaluate(
            fleet, replace(dataset, layout=layout), tmp_path / "out", examples=0, reporter=listener
        )
    assert [message for message in listener.warned if "earlier" in message] == [
        f"{tmp_path / 'out'}: 4 files of an earlier evaluation kept "
        "(anomaly_score_fan_section_00_source_test.csv, …); delete them if not needed"
    ]


def test_scores_far_apart_and_scores_all_equal_can_be_drawn(tmp_path):
    fleet, dataset = make_fakes(tmp_path / "data", clips=6, domains=("source",))
    fleet["fan"].values["section_00_source_test_anomaly_0000.wav"] = 1e6
    result = evaluate(fleet, dataset, tmp_path / "out", examples=0)
    assert "last bar: all higher scores" in result.report.read_text(encoding="utf-8")
    for name in fleet["fan"].values:
        fleet["fan"].values[name] = 0.5
    fleet["fan"].alarm = 0.5
    result = evaluate(fleet, dataset, tmp_path / "out", examples=0)
    assert result.results.means.auc.value == 0.5
    assert "no better than chance" in result.report.read_text(encoding="utf-8")


def test_examples_distinguish_false_alarms_and_misses(tmp_path):
    fleet, dataset = make_fakes(tmp_path / "data", clips=1, domains=("source",))
    fleet["fan"].values = {
        "section_00_source_test_normal_0000.wav": 0.9,
        "section_00_source_test_anomaly_0000.wav": 0.1,
    }
    result = evaluate(fleet, dataset, tmp_path / "out", examples=2)
    texts = Page(result.report.read_text(encoding="utf-8")).texts
    assert "normal: a false alarm" in texts
    assert "faulty: missed" in texts


def test_no_label_reaches_the_detector(tmp_path):
    fleet, dataset = make_fakes(tmp_path / "data", clips=4)
    flipped = FakeDataset(
        tuple(
            replace(r, label="normal" if r.label == "anomaly" else "anomaly")
            for r in dataset.recordings
        )
    )
    right, wrong = (evaluate(fleet, x, tmp_path / "out", examples=0) for x in (dataset, flipped))
    assert {c.score.path: c.score.value for c in right.clips} == {
        c.score.path: c.score.value for c in wrong.clips
    }
    assert np.isclose(right.results.means.auc.value, 1 - wrong.results.means.auc.value)
