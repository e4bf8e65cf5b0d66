"""A release needs a dated section in the changelog."""

from __future__ import annotations

from pathlib import Path

import pytest

from release.changelog import released_text
from release.command import ReleaseError


def changelog(folder: Path, text: str) -> Path:
    path = folder / "CHANGELOG.md"
    path.write_text(f"# Changelog\n\n{text}", "utf-8")
    return path


def test_the_section_of_the_version_is_given(tmp_path: Path) -> None:
    path = changelog(
        tmp_path, "## 0.2.0 (2026-11-18)\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n"
    )
    assert released_text(path, "0.2.0") == "- New."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("## Unreleased\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n", "under Unreleased"),
        ("## Unreleased\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n", "is '0.1.0 (2026-01-01)'"),
        ("## 0.2.0\n\n- New.\n", "is '0.2.0'"),
        ("## 0.2.0 (2026-11-18)\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n", "says nothing about"),
        ("Nothing yet.\n", "has no sections"),
    ],
)
def test_a_changelog_that_is_not_ready_ends_the_release(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(ReleaseError, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        released_text(changelog(tmp_path, text), "0.2.0")
