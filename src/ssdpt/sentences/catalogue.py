"""The English texts of all sentences, by code."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ENGLISH = Path(__file__).parent / "english"
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


@cache
def templates() -> Mapping[str, str]:
    """Texts by code; `{{name}}` stands for a value, _one and _other are the forms of `count`."""
    return {
        f"{path.stem}.{key}": text
        for path in sorted(ENGLISH.glob("*.json"))
        for key, text in json.loads(path.read_text("utf-8")).items()
    }


@cache
def codes_of_fixed_texts() -> Mapping[str, str]:
    """Codes by text, of sentences without values: they are known by what they say."""
    return {text: code for code, text in templates().items() if not PLACEHOLDER.search(text)}


def template(code: str, count: object = None) -> str:
    """The English text of a code, with its placeholders; KeyError where there is none."""
    texts = templates()
    if count is not None and f"{code}_other" in texts:
        return texts[f"{code}_one" if count == 1 else f"{code}_other"]
    return texts[code]
