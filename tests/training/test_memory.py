"""Fitting keeps positions, not segments: memory does not grow with their number."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from ssdpt.config.tree import load_config
from ssdpt.features.cache import FeatureSet
from ssdpt.systems.autoencoder.system import AutoencoderSystem
from ssdpt.systems.base import FitContext
from ssdpt.systems.parts.network import training_segments
from ssdpt.types import Recording

FRAMES, BINS, LENGTH = 30_000, 128, 64
STATUS = Path("/proc/self/status")


@pytest.fixture
def clips(tmp_path):
    """15 MB of log-mels in a file; their segments at hop 1 would be 980 MB."""
    rng = np.random.default_rng(0)
    rng.standard_normal((FRAMES, BINS), np.float32).tofile(tmp_path / "frames")
    frames = np.memmap(tmp_path / "frames", "<f4", "c", shape=(FRAMES, BINS))
    return FeatureSet((Recording(Path("a"), "fan", "00"),), frames, np.array([0, FRAMES])).all()


def peak_bytes():
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text())[1])


def test_training_reads_the_memory_mapped_array_itself(clips):
    features, segments = training_segments(clips, LENGTH, 1, torch.device("cpu"))
    assert features.data_ptr() == clips.source.frames.ctypes.data
    assert len(segments) == FRAMES - LENGTH + 1


@pytest.mark.skipif(not STATUS.is_file(), reason="reads the peak of memory from /proc of Linux")
def test_fitting_never_holds_all_segments(clips, tmp_path):
    changes = {"system": "ae", "features.n_mels": BINS, "ae.frames": LENGTH}
    changes |= {"ae.training.epochs": 1}

    def fit(hop):
        config = load_config("tiny", changes | {"ae.training.hop": hop})
        AutoencoderSystem.fit(clips, config, FitContext(tmp_path / f"hop-{hop}", "x"))

    fit(hop=60)  # memory loaded by the first training of a process does not count
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = peak_bytes()
    fit(hop=1)
    segments = (FRAMES - LENGTH + 1) * LENGTH * BINS * 4
    assert peak_bytes() - before < segments / 2
