"""A few requests of every operation, as every role: the short form of `make fuzz-api`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

API = Path(__file__).with_name("fuzz_api.py")
ROLES = ("anonymous", "viewer", "operator", "admin")


@pytest.mark.full
def test_no_request_breaks_the_description():
    """The same requests every time: their seed is fixed."""
    done = subprocess.run(
        [sys.executable, API, "--examples", "4"], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    requests = {role: int(re.search(rf"{role} (\d+)", done.stdout)[1]) for role in ROLES}
    assert min(requests.values()) > 20
