"""Scoring passes a recording of any length in constant memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# In a process of its own: what earlier tests left in memory would hide the growth.
SCRIPT = """
import re
from pathlib import Path
import numpy as np
import torch
from ssdpt.config.tree import load_config
from ssdpt.nn.dpt import DualPathTransformer
from ssdpt.systems.ssdpt.system import Ssdpt

torch.set_num_threads(1)
network = DualPathTransformer(2, blocks=1).eval()
system = Ssdpt(load_config("fast"), (("00", ""), ("01", "")), network)
rng = np.random.default_rng(0)

def half_minutes(count):
    for _ in range(count):
        yield rng.standard_normal((938, 128), np.float32)

def peak_megabytes():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

system.score(half_minutes(4), "00")
before = peak_megabytes()
system.score(half_minutes(60), "00")
print(peak_megabytes() - before)
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").is_file(), reason="reads the peak of memory from /proc of Linux"
)
def test_half_an_hour_takes_no_more_than_two_minutes_do():
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    # 8 MB were measured; tensors kept from batch to batch made it 270 MB.
    assert float(answer.stdout) < 60
