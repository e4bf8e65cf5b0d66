"""The command ssdpt history."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from ssdpt.cli import app
from ssdpt.cli.users import open_store


@pytest.fixture
def backup(tmp_path):
    with open_store(tmp_path / "data", new=True):
        pass

    def backup(*arguments):
        command = ["history", "backup", tmp_path / "b.tar", "--data", tmp_path / "data"]
        return CliRunner().invoke(app, [str(part) for part in (*command, *arguments)])

    return backup


def test_a_backup_overwrites_a_file_only_with_replace(backup, tmp_path):
    assert backup().exit_code == 0
    (tmp_path / "b.tar").write_text("of last week")
    refused = backup()
    assert refused.exit_code == 2
    message = "b.tar exists already; choose another name, or use --replace"
    assert message in " ".join(refused.output.split())
    assert (tmp_path / "b.tar").read_text() == "of last week"
    assert backup("--replace").exit_code == 0
    assert (tmp_path / "b.tar").read_bytes() != b"of last week"
