"""The fenced blocks of a page: what language, what code, and whether and why it is not run."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(
    r"(?:^[ ]*<!-- not (?:run|checked): (?P<reason>.+?) -->\n)?"
    r'^(?P<indent>[ ]*)```(?P<language>\w+)?(?:[ ]+title="(?P<title>[^"]+)")?[^\n]*\n'
    r"(?P<code>.*?)^(?P=indent)```[ ]*$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str  # the file that it shows; empty: not a file
    code: str
    reason: str  # why it is not run, or an output is not checked; empty: it is
    line: int


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page in their order."""
    text = page.read_text("utf-8")
    return [
        Block(
            match["language"] or "",
            match["title"] or "",
            textwrap.dedent(match["code"]),
            match["reason"] or "",
            text.count("\n", 0, match.start("code")) + 1,
        )
        for match in _FENCE.finditer(text)
    ]


def pages() -> Iterator[Path]:
    """README.md and all pages of the site."""
    yield ROOT / "README.md"
    yield from sorted(DOCS.rglob("*.md"))


def name_of(page: Path) -> str:
    """The page as `stand_ins.py` and the test names call it: README.md, how-to/fit.md."""
    return page.relative_to(ROOT if page.parent == ROOT else DOCS).as_posix()
