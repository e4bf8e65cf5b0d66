"""Many recordings at once: the scores of one at a time, in order, whatever happens to some."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from sounds import hum, write_clip
from ssdpt import Detector, Fleet
from ssdpt.detection import batch
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
    return [Recording(path, "fan", str(number)) for number in range(3 * batch.AHEAD)]


def one_by_one(scorer, recordings):
    for recording in recordings:
        try:
            yield recording, scorer.score(recording.path, section=recording.section)
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
    monkeypatch.setattr(batch, "_FRAMES_AT_ONCE", frames)
    together = list(content(score_all(recordings, lambda _: detector)))
    assert together == list(content(one_by_one(detector, recordings)))
    # The broken clip, the third, ends the first batch.
    assert sizes == {1: [1] * 7, 150: [2, 2, 2, 1], 10_000: [2, 5]}[frames]


def test_a_batch_that_fails_is_scored_clip_by_clip(detectors, recordings, monkeypatch):
    detector = detectors["gmm"]

    def full(clips):
        raise SsdptError("too little memory")

    expected = list(content(one_by_one(detector, recordings)))
    monkeypatch.setattr(type(detector.system), "on_gpu", True)
    monkeypatch.setattr(detector, "score_pending", full)
    assert list(content(score_all(recordings, lambda _: detector))) == expected


def test_a_batch_is_of_one_machine(detectors, recordings, monkeypatch):
    fan, valve = detectors["gmm"], detectors["ae"]
    for scorer in (fan, valve):
        monkeypatch.setattr(type(scorer.system), "on_gpu", True)
    mixed = [replace(recordings[0], machine=name) for name in ("fan", "fan", "valve", "fan")]
    fleet = Fleet({"fan": fan, "valve": valve}, {})
    mixed.insert(1, replace(mixed[0], machine="lathe"))
    values = [getattr(result, "value", str(result)) for _, result in fleet.score_all(mixed)]
    of_fan, of_valve = (scorer.score(mixed[0].path, section="00").value for scorer in (fan, valve))
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
    """A scorer that only records what it was asked, and on which thread."""

    def __init__(self):
        self.asked = []
        self.go_on = threading.Event()

    def start_scoring(self, recording, reader, *, strict):
        self.asked.append(recording.section)
        if recording.section != "0":
            self.go_on.wait(60)
        return self._result(recording, whole=False)

    def score(self, recording, *, strict):
        return self._result(recording, whole=True)

    def _result(self, recording, whole):
        threads = torch.get_num_threads()
        return SimpleNamespace(section=recording.section, threads=threads, whole=whole)


def test_a_lone_clip_has_all_cores(files):
    scorer = Fake()
    scorer.go_on.set()
    ((_, alone),) = score_all(files[:1], lambda _: scorer)
    assert alone.whole
    assert not any(result.whole for _, result in score_all(files[:2], lambda _: scorer))
    assert list(score_all([], lambda _: scorer)) == []


def test_only_some_are_under_way(files):
    scorer = Fake()
    scorer.go_on.set()
    given = []
    results = score_all((given.append(item) or item for item in files), lambda _: scorer)
    for number, (recording, result) in enumerate(results):
        assert recording.section == result.section == str(number)
        assert len(given) <= number + batch.AHEAD
    assert len(scorer.asked) == len(files)


def test_nobody_waits_after_an_interruption(files):
    """The other clips hang until they may go on, which is after the interruption."""
    scorer = Fake()
    results = score_all(files, lambda _: scorer)
    next(results)
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    scorer.go_on.set()
    for thread in threading.enumerate():
        if thread.name.startswith("ssdpt-clip"):
            thread.join(60)
    assert len(scorer.asked) <= 3  # the first, and one on each of the two threads


def test_a_long_recording_has_all_cores_in_its_turn(files, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "LONG_SECONDS", 1.0)
    scorer = Fake()
    scorer.go_on.set()
    long = Recording(write_clip(tmp_path / "long.wav", hum(1.1)), "fan", "long")
    results = [result for _, result in score_all([files[0], long, files[1]], lambda _: scorer)]
    assert [result.section for result in results] == ["0", "long", "1"]
    assert [result.whole for result in results] == [False, True, False]
    assert [result.threads for result in results] == [1, 2, 1]
    assert torch.get_num_threads() == 2


def test_what_the_source_raises_comes_after_the_scores(files):
    def source():
        yield from files[:3]
        raise SsdptError("no such folder")

    scorer = Fake()
    scorer.go_on.set()
    results = score_all(source(), lambda _: scorer)
    assert [next(results)[0] for _ in range(3)] == files[:3]
    with pytest.raises(SsdptError, match="no such folder"):
        next(results)


def test_nothing_gives_nothing():
    assert list(score_all([], lambda _: Fake())) == []


def test_a_missing_file_is_its_own_error(files):
    scorer = Fake()
    scorer.go_on.set()
    absent = Recording(Path("absent.wav"), "fan")
    (_, error), (_, score) = score_all([absent, files[0]], lambda _: scorer)
    assert "no such file" in str(error)
    assert score.section == "0"


@pytest.fixture
def opened(exports, monkeypatch):
    """The names of all sound files that were opened, in any order."""
    import soundfile

    names, _ = [], exports["gmm"]  # an export opens files as well, so it is made before

    class Counted(soundfile.SoundFile):
        def __init__(self, file, *rest, **options):
            names.append(Path(file.decode()).name)
            super().__init__(file, *rest, **options)

    monkeypatch.setattr(soundfile, "SoundFile", Counted)
    return names


@pytest.mark.parametrize("on_gpu", [False, True])
def test_each_file_is_opened_once_and_its_name_is_not_parsed_again(
    detectors, recordings, opened, monkeypatch, on_gpu
):
    def parsed(path):
        raise AssertionError(f"{path} was parsed again")

    detector = detectors["gmm"]
    monkeypatch.setattr(type(detector.system), "on_gpu", on_gpu)
    monkeypatch.setattr("ssdpt.detection.scorer.recording_of", parsed)
    # One of a known, one of an unknown machine ID, one resampled.
    chosen = [recordings[0], recordings[4], recordings[-1]]
    results = [result for _, result in Fleet({"fan": detector}, {}).score_all(chosen)]
    assert all(isinstance(result, Score) for result in results)
    assert sorted(opened) == sorted(item.path.name for item in chosen)
    opened.clear()
    detector.score(recordings[0])
    assert opened == [recordings[0].path.name]


def test_an_export_opens_each_file_once(exports, recordings, opened):
    chosen = [recordings[0], recordings[4]]
    assert len(list(Fleet.load(exports["gmm"]).score_all(chosen))) == 2
    assert sorted(opened) == sorted(item.path.name for item in chosen)


def test_the_name_of_a_path_is_parsed_once(detectors, recordings, monkeypatch):
    from ssdpt.data.layouts import recording_of
    from ssdpt.detection import scorer

    parsed = []
    monkeypatch.setattr(
        scorer, "recording_of", lambda path: parsed.append(path) or recording_of(path)
    )
    detectors["gmm"].score(recordings[0].path)
    detectors["gmm"].anomaly_map(recordings[0].path)
    assert parsed == [recordings[0].path] * 2


def test_clips_in_memory_are_scored_among_files(detectors, recordings):
    from ssdpt import Clip

    clip = Clip(hum(3, 9), 16000, section="01", name="now")
    mixed = [recordings[0], Recording.of_clip(clip, "fan"), recordings[1]]
    scores = [score for _, score in Fleet({"fan": detectors["gmm"]}, {}).score_all(mixed)]
    assert [score.path for score in scores] == [str(item.path) for item in mixed]
    assert scores[1].value == detectors["gmm"].score(clip).value
