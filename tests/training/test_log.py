"""The training log after a kill: no epoch twice, no incomplete line."""

from __future__ import annotations

import json

from ssdpt.training.log import TrainingLog


def epochs(folder):
    lines = (folder / "training.jsonl").read_text().splitlines()
    return [json.loads(line)["epoch"] for line in lines]


def test_a_new_run_starts_a_new_log(tmp_path):
    for _ in range(2):
        log = TrainingLog(tmp_path / "deep")
        log.write(epoch=1)
        log.write(epoch=2)
    assert epochs(tmp_path / "deep") == [1, 2]


def test_a_resumed_run_drops_what_it_will_write_again(tmp_path):
    first = TrainingLog(tmp_path)
    for epoch in (1, 2, 3):
        first.write(epoch=epoch)
    with first.path.open("a") as file:
        file.write('{"epoch": 4, "lo')  # cut off by a kill
    again = TrainingLog(tmp_path)
    again.keep_before(epoch=3)
    again.write(epoch=3)
    assert epochs(tmp_path) == [1, 2, 3]


def test_resuming_without_a_log_is_no_error(tmp_path):
    log = TrainingLog(tmp_path)
    log.keep_before(epoch=1)
    log.write(epoch=1)
    assert epochs(tmp_path) == [1]
