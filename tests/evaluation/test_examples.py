from __future__ import annotations

import io

import pytest
import soundfile
from evaluation_fakes import make_fakes, write_clip

from ssdpt.evaluation.clips import ScoredClip
from ssdpt.evaluation.examples import make_example, most_anomalous
from ssdpt.types import Recording


def test_a_long_clip_is_cut_around_its_most_anomalous_part(tmp_path):
    fleet, _ = make_fakes(tmp_path, clips=1)
    detector = fleet["fan"]
    path = tmp_path / "long.wav"
    write_clip(path, faulty=True, seconds=60)
    detector.values[path.name] = 1.0
    clip = ScoredClip(Recording(path, "fan"), detector.score(path))
    example = make_example(clip, detector)
    explanation = example.explanation
    assert explanation.frames.shape == explanation.heat.shape
    assert explanation.end - explanation.start == pytest.approx(20, abs=0.1)
    assert explanation.start > 5
    begin, end = explanation.seconds
    assert 18 - 0.2 <= begin < end <= 36 + 0.2  # where the whistle is
    assert explanation.hertz[0] < 2000 < explanation.hertz[1]
    assert explanation.bands[0].low_hz < 2000 < explanation.bands[0].high_hz
    sound, rate = soundfile.read(io.BytesIO(example.sound))
    assert len(sound) / rate == pytest.approx(20, abs=0.2)


def test_most_anomalous_goes_by_p_value_then_by_score(tmp_path):
    fleet, dataset = make_fakes(tmp_path, clips=3)
    clips = [ScoredClip(r, fleet["fan"].score(r.path)) for r in dataset.recordings]
    chosen = most_anomalous(clips, 2)
    assert [c.score.value for c in chosen] == sorted(c.score.value for c in clips)[:-3:-1]
