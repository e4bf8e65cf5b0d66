"""What is wrong with a template or its document, in sentences that have every language.

Jinja and the JSON of Python say it in English only; a rare mistake keeps their words.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ssdpt.sentences import Sentence, said

_QUOTED = re.compile(r"'([^']*)'")
# What Jinja calls the two signs that end its brackets.
_SIGNS = {"end of print statement": "}}", "end of statement block": "%}"}
_NEAR = 60  # characters of the line with a mistake that are shown


def at(place: str, what: str) -> str:
    """`place`: the names that lead to a part of a document; empty = the whole."""
    return Sentence("outputs.atPlace", place=place, what=what) if place else what


def in_line(number: int, what: str) -> Sentence:
    """A mistake in a line of a text."""
    return Sentence("outputs.inLine", line=number, what=what)


def of_syntax(error: Any) -> str:
    """Of a jinja2.TemplateSyntaxError."""
    message = str(error.message or "")
    signs = [_SIGNS.get(name, name) for name in _QUOTED.findall(message)]
    match message.split(" named ")[0].split(" '")[0]:
        case "No filter":
            return Sentence("outputs.noFilter", name=signs[0])
        case "No test":
            return Sentence("outputs.noTestNamed", name=signs[0])
        case "Encountered unknown tag":
            return Sentence("outputs.noTag", name=signs[0])
        case "expected token" if len(signs) == 2:
            return Sentence("outputs.expected", expected=signs[0], sign=signs[1])
        case "unexpected" if len(signs) == 2:
            return Sentence("outputs.expected", expected=signs[1], sign=signs[0])
        case "unexpected" | "unexpected char" | "Expected an expression, got" if signs:
            return Sentence("outputs.unexpected", sign=signs[0])
    if message.casefold().startswith(("unexpected end", "missing end")):
        return Sentence("outputs.endsTooEarly")
    return message


def of_undefined(error: Any) -> str:
    """The missing name of a jinja2.UndefinedError."""
    # Jinja speaks of attributes of a 'dict object'; the last name it quotes is the missing one.
    names = _QUOTED.findall(error.message or "")
    return names[-1] if names else ""


def of_jinja(error: Any) -> str:
    """Of any other jinja2.TemplateError."""
    if isinstance(said(error), Sentence):  # of what templates may do
        return said(error)
    message = error.message or type(error).__name__
    if names := _QUOTED.findall(message) if message.endswith("is unsafe.") else []:
        return Sentence("outputs.unsafe", name=names[0])
    return str(message)


def of_python(error: Exception) -> str:
    """Of what an expression was computed with."""
    text = said(error)
    return text if isinstance(text, Sentence) else Sentence("outputs.notComputed", error=text)


def of_json(error: json.JSONDecodeError, text: str) -> Sentence:
    """Of a document that is no JSON, with its line."""
    line = text.split("\n")[error.lineno - 1].strip()
    return Sentence(
        "outputs.lineIsNotJson", line=error.lineno, what=_of_json(error.msg), near=line[:_NEAR]
    )


def _of_json(message: str) -> str:
    match message:
        case "Expecting value":
            return Sentence("outputs.jsonValue")
        case "Expecting ',' delimiter":
            return Sentence("outputs.jsonComma")
        case "Expecting ':' delimiter":
            return Sentence("outputs.jsonColon")
        case "Expecting property name enclosed in double quotes":
            return Sentence("outputs.jsonName")
        case "Extra data":
            return Sentence("outputs.jsonExtra")
        case "Unterminated string starting at":
            return Sentence("outputs.jsonText")
        case "Invalid control character at":
            return Sentence("outputs.jsonControl")
        case "Invalid \\escape" | "Invalid \\uXXXX escape":
            return Sentence("outputs.jsonEscape")
    return message.removesuffix(" starting at").removesuffix(" at")
