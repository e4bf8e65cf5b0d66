"""The alarm logic is pure: scores and times in, levels out."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ssdpt.alarms

MODULES = sorted(Path(ssdpt.alarms.__file__).parent.glob("*.py"))
# Nothing here has a clock, a thread, a file or a connection.
ALLOWED = {
    *("__future__", "collections", "dataclasses", "functools", "math", "re", "typing"),
    *("numpy", "pydantic", "scipy", "sklearn"),
}
ALLOWED_OF_SSDPT = {
    "ssdpt.alarms",
    "ssdpt.common.numbers",
    "ssdpt.config.settings",
    "ssdpt.diagnosis.lines",
    "ssdpt.errors",
    "ssdpt.features.condition_spectrum",
    "ssdpt.features.indicators",
    "ssdpt.features.loudness",
    "ssdpt.features.rhythm",
    "ssdpt.scoring.calibrate",
    "ssdpt.sentences",
    "ssdpt.types",
}


def imports(path):
    """The modules that a source file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_alarms_import_no_clock_thread_store_or_service(path):
    for name in imports(path):
        allowed = name.split(".")[0] in ALLOWED or any(
            f"{name}.".startswith(f"{module}.") for module in ALLOWED_OF_SSDPT
        )
        assert allowed, f"{path.name} imports {name}"


def test_every_module_is_checked():
    assert {"judge", "state_machine", "thresholds"} <= {path.stem for path in MODULES}
