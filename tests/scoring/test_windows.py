"""The score along a recording that is scored clip by clip."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt.scoring.windows import ScoredClip, WindowGrid, clip_by_clip

GRID = WindowGrid(frames=4, hop=2)
WEIGHTS = {"spectrum": 0.75, "envelope": 0.25}


def clip(frames, value, computed=None):
    """A clip whose windows score 0, 1, 2 … above its own score."""

    def windows():
        if computed is not None:
            computed.append(frames)
        steps = np.arange(len(GRID.starts(frames)), dtype=np.float32)
        return {"spectrum": value + steps, "envelope": value + 2 * steps}

    return ScoredClip(frames, {"spectrum": value, "envelope": value}, windows)


def test_the_windows_of_all_clips_in_order():
    score = clip_by_clip([clip(9, 1.0), clip(6, 3.0)], WEIGHTS, GRID, 0.5)
    assert score.value == pytest.approx(2.0)  # the mean of the clips, not of the windows
    assert score.parts == {"spectrum": 2.0, "envelope": 2.0}
    line = score.timeline
    assert line.start.tolist() == [0.0, 1.0, 2.0, 4.5, 5.5]
    assert line.duration == 2.0
    assert line.value.tolist() == [1.0, 2.25, 3.5, 3.0, 4.25]
    assert line.parts["envelope"].tolist() == [1.0, 3.0, 5.0, 3.0, 5.0]


@pytest.mark.parametrize(("frames", "grid"), [(3, GRID), (9, None)])
def test_without_windows_there_is_one_value_per_clip(frames, grid):
    line = clip_by_clip([clip(frames, 1.0), clip(frames, 3.0)], WEIGHTS, grid, 0.5).timeline
    assert line.value.tolist() == [1.0, 3.0]
    assert line.duration == frames * 0.5


def test_windows_are_computed_when_the_timeline_is_asked_for():
    computed = []
    score = clip_by_clip([clip(9, 1.0, computed)], WEIGHTS, GRID, 0.5)
    assert score.value == 1.0
    assert not computed
    assert len(score.timeline.value) == len(score.timeline.start) == 3
    assert computed == [9]
    kept = clip(9, 1.0, computed).computed()
    assert computed == [9, 9]
    kept.windows()
    assert computed == [9, 9]
