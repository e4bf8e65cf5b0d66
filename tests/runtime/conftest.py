"""What makes these tests quick: each model is traced once, and compared on few clips."""

from __future__ import annotations

import pytest

from ssdpt.runtime import export as export_module


@pytest.fixture(autouse=True)
def _quick(traced_once, monkeypatch):
    monkeypatch.setattr(export_module, "CLIPS", 6)
