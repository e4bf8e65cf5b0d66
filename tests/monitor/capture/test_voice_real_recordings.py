"""The voice filter leaves the sound of real machines alone, once its threshold was learned.

The recordings are not part of the project: SSDPT_TEST_RECORDINGS names the folder that has them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ssdpt.data.audio import read
from ssdpt.data.layouts import read_layout
from ssdpt.monitor.capture.voice import RATE, VoiceNetwork, learn_threshold, without_voices

pytestmark = pytest.mark.needs_recordings

# Data set, section, and the largest share of its time that may be cut out. Toy cars sound like
# voices more than the others do: fixed at 0.1 the filter would cut out a twelfth of them.
MACHINES = (
    ("dcase2022/bearing", "00", 0.002),
    ("dcase2022/bearing", "01", 0.002),
    ("dcase2022/gearbox", "00", 0.002),
    ("dcase2022/gearbox", "01", 0.002),
    ("dcase2023/ToyCar", "00", 0.01),
    ("dcase2023/bearing", "00", 0.005),
    ("dcase2023/fan", "00", 0.002),
    ("uav_propeller", "", 0.005),
)


@pytest.fixture(scope="module")
def network():
    return VoiceNetwork()


def normal_clips(path, section):
    """Clips to learn from, and other normal ones: by the split of the data set, or halves."""
    folder = os.environ.get("SSDPT_TEST_RECORDINGS")
    assert folder, "set SSDPT_TEST_RECORDINGS to the folder that holds dcase2022 and dcase2023"
    recordings = [
        each
        for each in read_layout(Path(folder) / path).recordings
        if each.label == "normal" and each.section == section
    ]
    learned = [each for each in recordings if each.split == "train"]
    learned = learned or recordings[: -(-len(recordings) // 2)]
    others = [each for each in recordings if each not in learned]
    return [[read(each, sample_rate=RATE) for each in some] for some in (learned, others)]


@pytest.mark.parametrize(("path", "section", "most"), MACHINES)
def test_normal_sound_is_nearly_untouched(network, path, section, most):
    learned, others = normal_clips(path, section)
    threshold = learn_threshold(network, learned, RATE)
    cut = sum(without_voices(network, clip, RATE, threshold).removed_seconds for clip in others)
    heard = sum(map(len, others)) / RATE
    print(f"{path} {section}: {cut:.1f} s of {heard:.0f} s cut out at {threshold}")
    assert cut <= most * heard
