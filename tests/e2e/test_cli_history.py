"""ssdpt history, as a command."""

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
        words = ["history", "backup", tmp_path / "b.tar", "--data", tmp_path / "data", *arguments]
        return CliRunner().invoke(app, [str(word) for word in words])

    return backup


def test_a_backup_writes_over_nothing_unless_told_to(backup, tmp_path):
    assert backup().exit_code == 0
    (tmp_path / "b.tar").write_text("of last week")
    refused = backup()
    assert refused.exit_code == 2
    sentence = "b.tar: is there already; choose another name, or give --replace"
    assert sentence in " ".join(refused.output.split())
    assert (tmp_path / "b.tar").read_text() == "of last week"
    assert backup("--replace").exit_code == 0
    assert (tmp_path / "b.tar").read_bytes() != b"of last week"
