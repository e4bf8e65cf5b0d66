"""A notify output whose time is set by hand."""

from __future__ import annotations

import pytest
from notifications import AT_ONCE, MACHINES, Clock

from ssdpt.monitor.outputs.context import OutputContext
from ssdpt.monitor.outputs.notify_output import NotifyOutput, NotifySettings


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def notify(request, clock):
    """An output whose addresses work on their own; what it decides, it decides in `step`."""

    def make(*urls, context=None, pause=0.01, limit=None, **more):
        settings = NotifySettings(urls=urls, **{"level": "alert", **AT_ONCE, **more})
        given = {"machines": MACHINES, "plant": "Works", **(context or {})}
        output = NotifyOutput(
            settings, OutputContext(**given), clock=clock, sleep=lambda _: None, limit=limit
        )
        for address in output._addresses:
            address._sleep = lambda _, address=address: address._closing.wait(pause)
            address.start()
        request.addfinalizer(lambda: output.close(0.2))
        return output

    return make
