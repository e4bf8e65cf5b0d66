"""What the page on other tools says of them has a source that it names."""

from __future__ import annotations

import re

from page_blocks import DOCS

PAGE = (DOCS / "explanation" / "comparison.md").read_text("utf-8")
TEXT, SOURCES = PAGE.split("## Sources\n")
_CITED = re.compile(r"\[\\\[(\d+)\\\]\]\(#sources\)")
_OTHERS = ("ISO 20816", "limits on", "anomalib", "PyOD", "ASDKit", "Edge Impulse", "makers of")


def _section(title: str) -> str:
    return re.split(r"^## ", TEXT.split(f"## {title}\n")[1], flags=re.MULTILINE)[0]


def test_every_source_has_an_address_and_a_date_and_is_cited() -> None:
    rows = [line.strip("| ").split(" | ") for line in SOURCES.splitlines() if line[:3] > "| -"]
    listed = {row[0]: row for row in rows if row[0].isdecimal()}
    assert set(_CITED.findall(TEXT)) == listed.keys()
    assert [
        number for number, row in listed.items() if "<https://" not in row[2] or not row[3]
    ] == []


def test_statements_about_others_cite_a_source() -> None:
    rows = [line for line in _section("At a glance").splitlines() if line.startswith("| **")]
    items = [
        " ".join(item.split())
        for title in ("Where others are better", "Where ssdpt is better, as far as we can tell")
        for item in re.split(r"^- ", _section(title), flags=re.MULTILINE)[1:]
    ]
    about = [one for one in [*rows, *items] if any(name in one for name in _OTHERS)]
    assert len(about) >= 13
    assert [one for one in about if not _CITED.search(one)] == []
