"""The fake that server tests talk to offers what the real service offers."""

from __future__ import annotations

import inspect

from fake_service import FakeService

from ssdpt.monitor.service.api import MonitorApi


def _parameters(function):
    return len(inspect.signature(function).parameters)


def test_the_fake_has_every_public_member_of_the_service():
    members = [name for name in vars(MonitorApi) if not name.startswith("_")]
    assert len(members) > 20
    for name in members:
        real = inspect.getattr_static(MonitorApi, name)
        if inspect.isfunction(real):
            assert _parameters(getattr(FakeService, name)) == _parameters(real), name
