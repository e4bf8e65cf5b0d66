"""Help topics: what a person needs to know beyond one error sentence, and which topic explains it.

Each topic is a Markdown file beside this one: a heading, a short text, and under `## Errors` the
sentences that it explains, each by a part of it that is always there (`…` stands for what varies),
with what to do. The command line, the documentation and the tests all read these files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ERROR = re.compile(r"^- (?P<parts>`[^`]+`(?:, `[^`]+`)*): (?P<advice>.+)$")


@dataclass(frozen=True, slots=True)
class ErrorHelp:
    """Error sentences of one kind, and what to do about them."""

    parts: tuple[str, ...]  # of sentences, with … for what varies
    advice: str


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic of `ssdpt help`."""

    name: str
    title: str
    text: str  # Markdown, without title and errors
    errors: tuple[ErrorHelp, ...]


@cache
def topics() -> Mapping[str, Topic]:
    """All topics by name, in the order of the alphabet."""
    files = sorted(Path(__file__).parent.glob("*.md"))
    return {file.stem: _parse(file.stem, file.read_text("utf-8")) for file in files}


def topic_of(sentence: str) -> str | None:
    """The name of the topic that explains an error sentence; None if there is none.

    Of several parts that are in the sentence the longest decides: a sentence may quote another one.
    """
    matches = [
        (len(part.replace("…", "")), topic.name)
        for topic in topics().values()
        for error in topic.errors
        for part in error.parts
        if _pattern(part).search(sentence)
    ]
    return max(matches)[1] if matches else None


@cache
def _pattern(part: str) -> re.Pattern[str]:
    return re.compile(".*?".join(re.escape(piece) for piece in part.split("…")))


def _parse(name: str, content: str) -> Topic:
    title, _, rest = content.partition("\n")
    text, _, errors = rest.partition("\n## Errors\n")
    return Topic(name, title.removeprefix("# "), text.strip("\n"), tuple(_errors(errors)))


def _errors(text: str) -> list[ErrorHelp]:
    found = []
    for item in re.split(r"\n(?=- )", text.strip()):
        match = _ERROR.match(" ".join(item.split()))
        if match is None:
            raise ValueError(f"not an error with its advice: {item}")
        found.append(ErrorHelp(tuple(re.findall(r"`([^`]+)`", match["parts"])), match["advice"]))
    return found
