"""The cross-fit: which model is kept, and that its thresholds are of models like it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from ssdpt.common.progress import SILENT
from ssdpt.config.tree import load_config
from ssdpt.data.recording_groups import RecordingGroups
from ssdpt.detection.holding_out import cross_fit_machine
from ssdpt.features.cache import FeatureSet
from ssdpt.types import Recording


class RecordedFit:
    """Fits nothing and scores by chance; remembers which clips each model learned."""

    def __init__(self, recordings, folds=5):
        frames = np.zeros((len(recordings) * 4, 8), np.float32)
        clips = FeatureSet(tuple(recordings), frames, np.arange(len(recordings) + 1) * 4).all()
        self.learned = {}
        self.rng = np.random.default_rng(0)
        config = load_config("tiny", {"system": "gmm", "decision.folds": folds})
        groups = RecordingGroups.of(recordings)
        self.kept, self.scores, self.numbers = cross_fit_machine(
            clips, groups, config, self.fit, SILENT
        )

    def fit(self, part, name):
        self.learned[name] = set(part.recordings)
        sections = tuple(sorted({recording.section for recording in part.recordings}))
        score = SimpleNamespace(value=float(self.rng.normal()))
        return SimpleNamespace(name=name, sections=sections, score=lambda frames, as_: score)


def recordings(*kinds):
    return [Recording(Path(f"{n}.wav"), "fan", s, d) for n, (s, d) in enumerate(kinds)]


def test_the_kept_model_learned_as_much_as_those_that_set_its_threshold():
    everything = recordings(*[("00", "source")] * 40, *[("00", "target")] * 10)
    fit = RecordedFit(everything)
    assert fit.kept.name == "training"
    assert {len(learned) for learned in fit.learned.values()} == {40}
    assert len(fit.learned) == 5
    # every clip has set the threshold once, and none by a model that had learned it
    assert {key: len(group) for key, group in fit.scores.items()} == {
        ("00", "source"): 40,
        ("00", "target"): 10,
    }
    left_out = [set(everything) - learned for learned in fit.learned.values()]
    assert sorted(r.path.name for part in left_out for r in part) == sorted(
        r.path.name for r in everything
    )


def test_the_model_that_lacks_the_only_target_clip_is_not_the_kept_one():
    everything = recordings(("00", "target"), *[("00", "source")] * 9)
    for folds in (2, 3, 5):
        fit = RecordedFit(everything, folds)
        assert everything[0] in fit.learned["training"]
        assert len(fit.learned["training"]) < 10


def test_where_every_part_takes_a_section_away_everything_is_learned():
    everything = recordings(*[(f"{number:02d}", "source") for number in range(10)])
    fit = RecordedFit(everything)
    assert fit.learned["training"] == set(everything)
    assert len(fit.learned) == 6


def test_recordings_of_known_times_are_held_out_as_a_whole():
    dated = [
        Recording(Path(f"2026-03-{n % 7 + 1:02d}_10-{n:02d}-00.wav"), "fan", "00")
        for n in range(35)
    ]
    fit = RecordedFit(dated)
    days = {recording: recording.path.name[:10] for recording in dated}
    assert len(fit.learned) == 5
    for learned in fit.learned.values():
        held = set(dated) - learned
        assert held
        assert {days[item] for item in held}.isdisjoint(days[item] for item in learned)
    assert len(set(fit.numbers["00", "source"])) == 7
    assert len(fit.numbers["00", "source"]) == len(fit.scores["00", "source"]) == 35
