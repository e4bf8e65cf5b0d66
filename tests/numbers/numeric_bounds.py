"""How far two scores of one clip may lie apart: |Δscore| / max(1, |score|).

The one place of these bounds; docs/reliability.md names them. Verdicts are always the same.
"""

from __future__ import annotations

from ssdpt.runtime import verify
from ssdpt.types import Score

SAME_MODEL = 1e-5  # one model, other threads, batches or pieces of sound
ON_GPU = 1e-3  # a CPU against a GPU, whose matrix products take operands of half precision
EXPORTED = verify.BOUND  # torch against ONNX Runtime and OpenVINO; an export beyond it is refused


def apart(one: float, other: float) -> float:
    """The distance of two scores."""
    return abs(one - other) / max(1.0, abs(other))


def assert_same(scores: list[Score], expected: list[Score], bound: float) -> None:
    """The same values within `bound`, in the same sections, and the same verdicts."""
    assert [score.level for score in scores] == [score.level for score in expected]
    for score, wanted in zip(scores, expected, strict=True):
        assert apart(score.value, wanted.value) <= bound, wanted.path
        assert score.parts.keys() == wanted.parts.keys()
