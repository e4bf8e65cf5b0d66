"""Every committed input and some mutations of them: the short form of `make fuzz`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz_target import CORPUS, seeds, target_names

CAMPAIGN = Path(__file__).with_name("fuzz_campaign.py")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """By target."""
    out = tmp_path_factory.mktemp("fuzz")
    options = ("--runs", "4000", "--seconds", "1", "--out", str(out))
    done = subprocess.run(
        [sys.executable, CAMPAIGN, *options], capture_output=True, text=True, timeout=600
    )
    assert done.returncode in (0, 1), done.stderr
    return {one["target"]: one for one in json.loads((out / "results.json").read_text())}


@pytest.mark.parametrize("target", target_names())
def test_no_input_breaks_a_rule(results, target):
    result = results[target]
    assert result["failures"] == {}
    assert result["runs"] > len(seeds(target))
    assert result["coverage"] > 0


def test_every_target_has_seeds_and_no_others_lie_about():
    assert sorted(folder.name for folder in CORPUS.iterdir()) == target_names()
    assert all(seeds(name) for name in target_names())


def test_the_seeds_are_small():
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 1_000_000
