"""Many recordings at once: the scores of one at a time, in order, whatever happens to some."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from sounds import hum, write_clip
from ssdpt import Detector, Fleet, pipeline
from ssdpt.detection.batch import score_all
from ssdpt.errors import SsdptError
from ssdpt.types import Recording, Score

SYSTEMS = ("ssdpt", "ae", "gmm")


@pytest.fixture(autouse=True)
def two_cores():
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """Clips of several lengths, rates and IDs, one of them no sound at all."""
    folder = tmp_path_factory.mktemp("clips")
    clips = [
        Recording(write_clip(folder / f"{number}.wav", hum(2 + number / 3, number)), "fan", section)
        for number, section in enumerate(("00", "01", "02", "77", "", "01"))
    ]
    (folder / "broken.wav").write_bytes(b"no sound")
    clips.insert(2, Recording(folder / "broken.wav", "fan", "00"))
    disc = write_clip(folder / "disc.wav", hum(3, rate=44100), 44100)
    return [*clips, Recording(disc, "fan", "02")]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """More recordings than are under way at a time."""
    path = write_clip(tmp_path_factory.mktemp("files") / "a.wav", hum(0.1))
    return [Recording(path, "fan", str(number)) for number in range(3 * pipeline.AHEAD)]


def one_by_one(judge, recordings):
    for recording in recordings:
        try:
            yield recording, judge.score(recording.path, section=recording.section)
        except SsdptError as error:
            yield recording, error


def content(pairs):
    """Results that can be compared bit by bit."""
    for recording, result in pairs:
        if isinstance(result, Score):
            line = result.timeline
            numbers = line.start.tobytes(), line.value.tobytes(), line.duration
            yield recording, replace(result, timeline=None), numbers
        else:
            yield recording, str(result), None


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_scores_are_those_of_one_at_a_time(detectors, recordings, name):
    fleet = Fleet({"fan": detectors[name]}, {})
    together = list(content(fleet.score_all(recordings)))
    assert together == list(content(one_by_one(detectors[name], recordings)))
    assert ["broken.wav" in str(result) for _, result, _ in together].count(True) == 1


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_scores_of_an_export_are_those_of_one_at_a_time(exports, recordings, name):
    fleet = Fleet.load(exports[name])
    together = list(content(fleet.score_all(recordings)))
    assert together == list(content(one_by_one(fleet["fan"], recordings)))


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("frames", [1, 150, 10_000])
def test_a_device_gets_several_clips_at_once(detectors, recordings, monkeypatch, name, frames):
    """With a CPU that is taken for a GPU: it scores as ever, but is given whole batches."""
    detector = detectors[name]
    sizes = []

    def watched(clips):
        sizes.append(len(clips))
        return Detector.score_pending(detector, clips)

    monkeypatch.setattr(type(detector.system), "on_gpu", True)
    monkeypatch.setattr("ssdpt.systems.ssdpt.system.can_fuse", lambda *_: False)
    monkeypatch.setattr(detector, "score_pending", watched)
    monkeypatch.setattr(pipeline, "_FRAMES_AT_ONCE", frames)
    together = list(content(score_all(recordings, lambda _: detector)))
    assert together == list(content(one_by_one(detector, recordings)))
    # The broken clip, the third, ends the first batch.
    assert sizes == {1: [1] * 7, 150: [2, 2, 2, 1], 10_000: [2, 5]}[frames]


def test_a_batch_that_fails_is_judged_clip_by_clip(detectors, recordings, monkeypatch):
    detector = detectors["gmm"]

    def full(clips):
        raise SsdptError("too little memory")

    expected = list(content(one_by_one(detector, recordings)))
    monkeypatch.setattr(type(detector.system), "on_gpu", True)
    monkeypatch.setattr(detector, "score_pending", full)
    assert list(content(score_all(recordings, lambda _: detector))) == expected


def test_a_batch_is_of_one_machine(detectors, recordings, monkeypatch):
    fan, valve = detectors["gmm"], detectors["ae"]
    for judge in (fan, valve):
        monkeypatch.setattr(type(judge.system), "on_gpu", True)
    mixed = [replace(recordings[0], machine=name) for name in ("fan", "fan", "valve", "fan")]
    fleet = Fleet({"fan": fan, "valve": valve}, {})
    mixed.insert(1, replace(mixed[0], machine="lathe"))
    values = [getattr(result, "value", str(result)) for _, result in fleet.score_all(mixed)]
    of_fan, of_valve = (judge.score(mixed[0].path, section="00").value for judge in (fan, valve))
    assert "no model for machine lathe; this one knows fan, valve" in values.pop(1)
    assert values == [of_fan, of_fan, of_valve, of_fan]


def test_strict_refuses_another_rate(detectors, recordings):
    fleet = Fleet({"fan": detectors["gmm"]}, {})
    results = [result for _, result in fleet.score_all(recordings, strict=True)]
    assert [isinstance(result, Score) for result in results] == [True] * 2 + [False] + [
        True
    ] * 4 + [False]
    assert "expects 16 kHz" in str(results[-1])


class Fake:
    """A judge that only says who asked it, on which thread."""

    def __init__(self):
        self.asked = []
        self.go_on = threading.Event()

    def score_ahead(self, path, *, section, strict):
        self.asked.append(section)
        if section != "0":
            self.go_on.wait(30)
        return SimpleNamespace(section=section, threads=torch.get_num_threads(), whole=False)

    def score(self, path, *, section, strict):
        return SimpleNamespace(section=section, threads=torch.get_num_threads(), whole=True)


def test_a_lone_clip_has_all_cores(files):
    judge = Fake()
    judge.go_on.set()
    ((_, alone),) = score_all(files[:1], lambda _: judge)
    assert alone.whole
    assert not any(result.whole for _, result in score_all(files[:2], lambda _: judge))
    assert list(score_all([], lambda _: judge)) == []


def test_only_some_are_under_way(files):
    judge = Fake()
    judge.go_on.set()
    given = []
    results = score_all((given.append(item) or item for item in files), lambda _: judge)
    for number, (recording, result) in enumerate(results):
        assert recording.section == result.section == str(number)
        assert len(given) <= number + pipeline.AHEAD
    assert len(judge.asked) == len(files)


def test_nobody_waits_after_an_interruption(files):
    """The other clips hang until they are told to go on, which is after the interruption."""
    judge = Fake()
    results = score_all(files, lambda _: judge)
    next(results)
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    judge.go_on.set()
    for thread in threading.enumerate():
        if thread.name.startswith("ssdpt-clip"):
            thread.join(30)
    assert len(judge.asked) <= 3  # the first, and one on each of the two threads


def test_a_long_recording_has_all_cores_in_its_turn(files, tmp_path, monkeypatch):
    monkeypatch.setattr(pipeline, "LONG_SECONDS", 1.0)
    judge = Fake()
    judge.go_on.set()
    long = Recording(write_clip(tmp_path / "long.wav", hum(1.1)), "fan", "long")
    results = [result for _, result in score_all([files[0], long, files[1]], lambda _: judge)]
    assert [result.section for result in results] == ["0", "long", "1"]
    assert [result.whole for result in results] == [False, True, False]
    assert [result.threads for result in results] == [1, 2, 1]
    assert torch.get_num_threads() == 2


def test_what_the_source_raises_comes_after_the_scores(files):
    def source():
        yield from files[:3]
        raise SsdptError("no such folder")

    judge = Fake()
    judge.go_on.set()
    results = score_all(source(), lambda _: judge)
    assert [next(results)[0] for _ in range(3)] == files[:3]
    with pytest.raises(SsdptError, match="no such folder"):
        next(results)


def test_nothing_gives_nothing():
    assert list(score_all([], lambda _: Fake())) == []


def test_a_missing_file_is_its_own_error(files):
    judge = Fake()
    judge.go_on.set()
    absent = Recording(Path("absent.wav"), "fan")
    (_, error), (_, score) = score_all([absent, files[0]], lambda _: judge)
    assert "no such file" in str(error)
    assert score.section == "0"
