"""Sentences as they are sent: beside the English text, what other languages are made from."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, SkipValidation, computed_field

from ssdpt.sentences.catalogue import codes_of_fixed_texts
from ssdpt.sentences.sentence import Sentence

# A text that keeps the code of its sentence; a plain `str` would be copied without it.
Text: TypeAlias = Annotated[str, SkipValidation]


class CodedSentence(BaseModel):
    """A sentence by its code; the English text stands beside it, in a field of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str = Field(examples=["sources.noData"])
    values: dict[str, str | int | float | CodedSentence | tuple[str | CodedSentence, ...]] = Field(
        description="By name: texts that are not translated, such as names, numbers to be written "
        "as the reader does, further sentences, or lists of these.",
        examples=[{"name": "rtsp://camera-3/…", "seconds": 10}],
    )


class WithSentence(BaseModel):
    """What has a message for people: its text in English, and its sentence."""

    message: Text

    @computed_field  # type: ignore[prop-decorator]
    @property
    def sentence(self) -> CodedSentence | None:
        """The message for other languages; null where there is only its text."""
        return coded(self.message)


def coded(text: str) -> CodedSentence | None:
    """A sentence as it is sent; None for a text that is not in the catalogue."""
    if not isinstance(text, Sentence):
        code = codes_of_fixed_texts().get(text)
        return None if code is None else CodedSentence(code=code, values={})
    values = {
        name: tuple(map(_sent, value)) if isinstance(value, tuple) else _sent(value)
        for name, value in text.values.items()
    }
    return CodedSentence(code=text.code, values=values)


def _sent(value: str | float) -> str | float | CodedSentence:
    return coded(value) or value if isinstance(value, Sentence) else value
