"""Signs of life, sent only while machines are monitored."""

from __future__ import annotations

from receivers import WebReceiver
from ssdpt.monitor.outputs.context import OutputContext
from ssdpt.monitor.outputs.heartbeat_output import HeartbeatOutput, HeartbeatSettings
from waiting import wait_until


class Pauses:
    """Time that passes at once, for so many pauses."""

    def __init__(self, count):
        self.seconds, self._count = [], count

    def __call__(self, seconds):
        self.seconds.append(seconds)
        if len(self.seconds) >= self._count:
            self.output._closing.wait(60)


def beating(url, count, **more):
    pauses = Pauses(count)
    output = HeartbeatOutput(HeartbeatSettings(url=url, every=60, **more), sleep=pauses)
    pauses.output = output
    output.start()
    wait_until(lambda: len(pauses.seconds) == count)
    return output, pauses.seconds


def test_the_address_is_called_again_and_again():
    with WebReceiver() as web:
        output, pauses = beating(f"{web.url}/ping/s3cr3t", 3)
        assert pauses == [60, 60, 60]
        assert [path for _, _, _, path in web.posts] == ["/ping/s3cr3t"] * 3
        assert (output.name, output.status.message) == (f"heartbeat {web.url}", "working")
        assert (output.status.sent, output.status.healthy) == (3, True)
        assert output.test(5.0) == "answers 200"
        output.close(1.0)
        assert len(web.posts) == 4


def test_a_failure_is_reported_and_tried_again_soon():
    with WebReceiver(500, 503) as web:
        output, pauses = beating(web.url, 3, method="POST")
        assert max(pauses[:2]) < 2 <= pauses[2]
        assert output.status.healthy
        output.close(1.0)


def test_no_sign_of_life_while_nothing_is_monitored():
    """A service that hangs must be noticed, although this thread runs."""
    problems = ["the monitoring loop does not run", ""]
    with WebReceiver() as web:
        context = OutputContext(problem=lambda: problems[0])
        output = HeartbeatOutput(HeartbeatSettings(url=web.url), context)
        assert not output.beat()
        assert web.posts == []
        assert output.status.message == "no sign of life is sent: the monitoring loop does not run"
        problems.pop(0)
        assert output.beat()
        assert len(web.posts) == 1
