"""kill -9 and Ctrl-C during a real fit: a resumed fit gives the same model."""

from __future__ import annotations

import json
import signal
import subprocess
from functools import partial

import pytest
from safetensors import safe_open

from waiting import wait_until

EXAMPLES = 14 * (313 - 16 + 1)  # 14 clips train, 10 are held out
PER_EPOCH = -(-(EXAMPLES - 1) // 64)
SETTINGS = [
    *("--preset", "tiny", "--set", "decision.cross_fit_below=0", "--set", "ssdpt.training.hop=1"),
    *("--set", "ssdpt.training.checkpoint_seconds=0.1", "--set", "ssdpt.training.averaging=0.9"),
]


def steps_done(out):
    """Updates in the checkpoint of a running fit."""
    path = out.with_name(f"{out.name}.partial") / "fan" / "training" / "checkpoint.safetensors"
    if not path.is_file():
        return 0
    with safe_open(path, framework="np") as file:
        return int(json.loads(file.metadata()["about"])["step"])


def start_fit(command, fan, out, epochs):
    arguments = ["fit", str(fan), "--out", str(out), *SETTINGS]
    arguments += ["--set", f"ssdpt.training.epochs={epochs}"]
    process = subprocess.Popen(
        [command, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        # A background job of a shell ignores Ctrl-C, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    return arguments, process


def steps_reach(process, out, ready):
    assert process.poll() is None, process.stderr.read()
    return ready(steps_done(out))


@pytest.fixture
def cut(command, fan, tmp_path):
    """A fit killed in the middle of an epoch: its folder, and the arguments to resume it."""
    out = tmp_path / "cut"
    arguments, process = start_fit(command, fan, out, epochs=3)

    def in_mid_epoch(step):
        return step > PER_EPOCH and step % PER_EPOCH

    with process:
        reached = partial(steps_reach, process, out, in_mid_epoch)
        wait_until(reached, "the fit is in its second epoch", timeout=120)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not out.exists()
    return out, arguments


def test_resuming_after_kill_9_ends_in_the_same_model(cut, cli, command, fan, tmp_path):
    out, arguments = cut
    stopped = steps_done(out)
    refused = cli(*arguments, "--resume", "--quiet", "--seed", 5)
    assert refused.code == 2
    assert "made with other settings" in refused.error

    resumed = subprocess.run(
        [command, *arguments, "--resume"], capture_output=True, text=True, timeout=240
    )
    assert resumed.returncode == 0, resumed.stderr
    assert f"resuming from update {stopped} of {3 * PER_EPOCH}" in resumed.stderr
    assert not out.with_name("cut.partial").exists()

    whole = tmp_path / "whole"
    arguments[arguments.index(str(out))] = str(whole)
    assert cli(*arguments, "--quiet").code == 0
    for name in ("model.safetensors", "calibration.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()
    logs = [
        [json.loads(line) for line in (folder / "training.jsonl").read_text().splitlines()]
        for folder in (out, whole)
    ]
    assert [line["epoch"] for line in logs[0]] == [1, 2, 3]
    assert [line["loss"] for line in logs[0]] == [line["loss"] for line in logs[1]]
    clip = sorted((fan / "source_test").iterdir())[0]
    scores = [cli("score", folder, clip, "--format", "jsonl").out for folder in (out, whole)]
    assert scores[0] == scores[1]


def test_ctrl_c_gives_one_line_and_exit_code_130(command, fan, tmp_path):
    out = tmp_path / "stopped"
    _, process = start_fit(command, fan, out, epochs=1000)
    with process:
        reached = partial(steps_reach, process, out, lambda step: step > 0)
        wait_until(reached, "the first checkpoint is written", timeout=120)
        process.send_signal(signal.SIGINT)
        output = process.stderr.read()
        assert process.wait(timeout=60) == 130
    lines = output.splitlines()
    assert lines[-1] == "error: interrupted; continue a fit from its last checkpoint with --resume"
    assert "Traceback" not in output
    assert not out.exists()
    assert steps_done(out) > 0
