"""The changelog has a dated section for the version that is released."""

from __future__ import annotations

import re
from pathlib import Path

from release.command import ReleaseError

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)


def released_text(changelog: Path, version: str) -> str:
    """What the changelog says of `version`; ReleaseError where it is not ready."""
    text = changelog.read_text("utf-8")
    headings = [*_SECTION.finditer(text)]
    if not headings:
        raise ReleaseError(f"{changelog.name} has no sections")
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    sections = {
        heading[1]: text[heading.end() : end].strip()
        for heading, end in zip(headings, ends, strict=True)
    }
    if sections.get("Unreleased"):
        raise ReleaseError(
            f"{changelog.name} has changes under Unreleased: "
            f"move them to a section '## {version} (YYYY-MM-DD)'"
        )
    (first, content), *_ = [item for item in sections.items() if item[0] != "Unreleased"]
    if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", first):
        raise ReleaseError(
            f"the newest section of {changelog.name} is '{first}'; "
            f"the version is {version}: write '## {version} (YYYY-MM-DD)'"
        )
    if not content:
        raise ReleaseError(f"{changelog.name} says nothing about {version}")
    return content
