"""A sentence for people: a text in English that keeps its code and its values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from ssdpt.errors import visible
from ssdpt.sentences.catalogue import PLACEHOLDER, template

Value: TypeAlias = str | int | float | tuple[str, ...]  # texts may be sentences


class Sentence(str):
    """Its text in English, with which it can be used wherever a text can.

    A program that knows its code says the same in another language. Sources and outputs of other
    packages may give any text instead: it is shown as it is.
    """

    __slots__ = ("code", "values")
    code: str
    values: Mapping[str, Value]

    def __new__(cls, code: str, /, **values: object) -> Sentence:
        """`code`: `area.name` in the catalogue; the values are those that its text names.

        Values may be sentences themselves. An exception stands for what it says.
        """
        converted = {name: _value(value) for name, value in values.items()}
        text = template(code, values.get("count"))
        sentence = super().__new__(
            cls, PLACEHOLDER.sub(lambda match: _shown(converted[match[1]]), text)
        )
        sentence.code, sentence.values = code, converted
        return sentence

    def __reduce__(self) -> Any:
        return _restored, (self.code, dict(self.values))


def said(error: BaseException) -> str:
    """What an exception says: its sentence, or whatever text it has."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Sentence) else str(error)


def clauses(*texts: str) -> str:
    """Several texts in one line, without the empty ones: "a; b"."""
    given = [text for text in texts if text]
    if len(given) < 2:
        return given[0] if given else ""
    return Sentence("common.clauses", clauses=tuple(map(_as_sentence, given)))


def _as_sentence(text: str) -> Sentence:
    return text if isinstance(text, Sentence) else Sentence("common.text", text=text)


def _restored(code: str, values: dict[str, Value]) -> Sentence:
    return Sentence(code, **values)


def _value(value: object) -> Value:
    match value:
        case BaseException():
            return _value(said(value))
        case Sentence():
            return value
        case str():
            return visible(value)
        case bool():
            return str(value).lower()
        case int():
            return value
        case float() if math.isfinite(value):
            return float(value)
        case tuple() | list():
            return tuple(one if isinstance(one, Sentence) else visible(str(one)) for one in value)
    return visible(str(value))


def _plain(value: float) -> str:
    """Six figures, as the page has it, and never an exponent; thousands apart from five digits."""
    number = Decimal(f"{value + 0.0:.6g}" if value % 1 else f"{value + 0.0:.0f}")  # -0.0 is 0
    return f"{number:,f}" if abs(number) >= 10_000 else f"{number:f}"


def _shown(value: Value) -> str:
    """As it is written in English."""
    match value:
        case str():
            return value
        case int():
            return str(value)
        case float():
            return _plain(value)
    return ("; " if any(isinstance(one, Sentence) for one in value) else ", ").join(value)
