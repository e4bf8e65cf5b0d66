"""Machines that were added on the page, in a file of the data folder."""

from __future__ import annotations

import json
import stat

import pytest
from pydantic import ValidationError

from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.service.added_machines import AddedMachines

CAMERA = MachineSettings.model_validate(
    {"id": "cam", "source": {"kind": "network", "url": "rtsp://ann:secret@camera.example/audio"}}
)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_passwords_of_cameras_are_nobody_elses_to_read(tmp_path):
    path = tmp_path / "machines.json"
    AddedMachines(path).add(CAMERA)
    assert mode(path) == 0o600
    assert AddedMachines(path).machines == [CAMERA]


def test_a_file_that_others_could_read_is_closed_when_it_is_read(tmp_path):
    path = tmp_path / "machines.json"
    path.write_text(json.dumps([CAMERA.model_dump(mode="json")]))
    path.chmod(0o644)
    assert AddedMachines(path).machines == [CAMERA]
    assert mode(path) == 0o600


@pytest.mark.parametrize("content", ["{", "[1]", "{}", "[" * 100_000, '[{"id": Infinity}]', "\0"])
def test_a_damaged_file_is_one_sentence(tmp_path, content):
    path = tmp_path / "machines.json"
    path.write_text(content)
    with pytest.raises(SsdptError, match="repair the file or remove it"):
        AddedMachines(path)


@pytest.mark.parametrize("field", ["name", "site", "group", "type"])
def test_names_are_short(field):
    with pytest.raises(ValidationError, match="at most"):
        MachineSettings.model_validate({**CAMERA.model_dump(), field: "x" * 900_000})
