"""Sentences for people: one line, whatever names and values are in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdpt.data.audio_error import AudioError
from ssdpt.errors import LONGEST_SENTENCE, SsdptError, SsdptWarning, one_line, visible, warn


def test_control_characters_are_written_out():
    error = SsdptError("a\nb\x1b[31m\x9b\u2028\u202e\udcff: repair it")
    assert str(error) == r"a\nb\x1b[31m\x9b\u2028\u202e\udcff: repair it"
    assert str(AudioError(Path("a\rb.wav"), "empty", "no sound")) == r"a\rb.wav: no sound"


def test_letters_of_any_language_stay():
    assert one_line("Lüfter → 风扇 ファン é 👷") == "Lüfter → 风扇 ファン é 👷"


def test_the_middle_of_a_long_sentence_is_left_out():
    sentence = one_line("model " + "x" * 900_000 + ": choose another")
    assert len(sentence) <= LONGEST_SENTENCE + 3
    assert sentence.startswith("model x")
    assert sentence.endswith("x: choose another")


def test_some_characters_can_be_kept():
    assert visible("a\n\tb\x07", "\n\t") == "a\n\tb\\x07"


def test_warnings_are_one_line():
    with pytest.warns(SsdptWarning, match=r"^a\\nb$"):
        warn("a\nb")


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_written(text):
    line = one_line(text)
    line.encode("utf-8")
    assert len(line.splitlines()) <= 1
