"""When the service last ran: from a file that may be damaged."""

from __future__ import annotations

import pytest

from ssdpt.monitor.service.last_run import LastRun


@pytest.mark.parametrize("orderly", [True, False])
def test_the_next_start_knows(tmp_path, orderly):
    run = LastRun(tmp_path / "last_run.json")
    assert run.before(10.0) is None
    run.alive(5.0)
    if orderly:
        run.stopped(6.0)
    told = run.before(10.0)
    assert (told.last_alive, told.orderly) == ((6.0, True) if orderly else (5.0, False))
    assert run.before(1.0).last_alive == 1.0  # the clock was set back


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", "7", "{}", "[" * 100_000, '{"last_alive": "x", "stopped": 1}'),
        *('{"last_alive": Infinity, "stopped": true}', '{"last_alive": NaN, "stopped": true}'),
        '{"last_alive": 1' + "0" * 400 + ', "stopped": true}',
    ],
)
def test_a_damaged_file_is_as_none(tmp_path, content):
    path = tmp_path / "last_run.json"
    path.write_text(content)
    assert LastRun(path).before(10.0) is None
