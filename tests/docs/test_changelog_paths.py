"""Files that the changelog names are where it says."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = "docs|src|tools|deploy|examples|tests|web"


def test_files_that_the_changelog_names_exist() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    named = re.findall(rf"(?<![\w/.-])(?:{FOLDERS})/[\w./-]+\w", changelog)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
