"""The edge install in an empty environment: small, without torch, and with the same scores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ssdpt

ROOT = Path(__file__).parents[2]
MOST_BYTES = 250e6


@pytest.mark.full
def test_an_edge_install_scores_an_export(models, exports, fan, tmp_path):
    constraints = str(ROOT / "constraints.txt")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "PIP_CONSTRAINT": constraints,
        "PIP_BUILD_CONSTRAINT": constraints,
    }

    def run(*command, codes=(0,)):
        done = subprocess.run(
            [*map(str, command)], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode in codes, done.stderr
        return done.stdout + done.stderr

    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    # Without pip itself: what counts is what ssdpt brings along.
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    python, command = (tmp_path / "venv" / "bin" / name for name in ("python", "ssdpt"))
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", f"ssdpt[edge] @ {wheel.as_uri()}")
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    size = sum(
        item.stat().st_size
        for item in packages.rglob("*")
        if item.is_file() and not item.is_symlink()
    )
    assert size < MOST_BYTES, f"{size / 1e6:.0f} MB"
    names = {item["name"] for item in json.loads(run(*pip, "list", "--format", "json"))}
    assert not names & {"torch", "scipy", "scikit-learn", "matplotlib", "onnx"}

    for clip in sorted((fan / "source_test").glob("*.wav"))[::4]:
        for name in ("ssdpt", "ae", "gmm", "texture", "multiview"):
            arguments = ("score", exports[name], clip, "--format", "jsonl", "--quiet")
            output = run(command, *arguments, codes=(0, 1))
            score, expected = json.loads(output), ssdpt.load(str(models[name])).score(clip)
            assert score["value"] == pytest.approx(expected.value, rel=1e-4, abs=1e-4)
            assert score["level"] == expected.level
    for arguments in (("score", models["gmm"], clip), ("fit", fan, "--out", tmp_path / "m")):
        assert "pip install 'ssdpt[train]'" in run(command, *arguments, codes=(2,))
    output = run(command, "export", models["gmm"], "--out", tmp_path / "e", codes=(2,))
    assert "pip install 'ssdpt[" in output
