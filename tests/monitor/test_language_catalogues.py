"""What is sent to people is there in all languages, with the same values."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from catalogue_texts import CatalogueTexts, catalogue_modules, reads_like_words

import ssdpt.monitor.language

LOCALES = Path(ssdpt.monitor.language.__file__).parent / "locales"
VALUE = re.compile(r"{(\w+)}")
# Modules that do nothing but word what people are sent: all their words are looked up.
ONLY_WORDING = (
    "ssdpt.monitor.outputs.notification_text",
    "ssdpt.monitor.report.notification",
    "ssdpt.monitor.report.pdf",
    "ssdpt.monitor.report.wording",
)


def catalogue(code):
    with (LOCALES / f"{code}.po").open("rb") as file:
        return [each for each in read_po(file, locale=code) if each.id]


def forms(text):
    return (text,) if isinstance(text, str) else text


@cache
def wanted():
    return frozenset().union(*(CatalogueTexts(name).texts() for name in catalogue_modules()))


def test_the_texts_of_notifications_and_reports_are_found():
    """A text of each kind: a sentence, a heading, one of two, of a table, of a source, a plural."""
    assert wanted() >= {
        "new tone at {frequency}",
        "Machines that get worse",
        "The service had been stopped.",
        "Reminder: {machine}: {cause}",
        "No sound arrives from the source",
        "{count} hours",
        "operating point {number}",
    }


@pytest.mark.parametrize("code", ["de", "es", "ja"])
def test_every_text_is_translated_and_nothing_else(code):
    known = {text for each in catalogue(code) for text in forms(each.id)}
    assert sorted(wanted() - known) == []
    assert sorted(known - wanted()) == []


@pytest.mark.parametrize("code", ["de", "es", "ja"])
def test_translations_have_the_values_of_the_text(code):
    for each in catalogue(code):
        english = forms(each.id)[-1]
        for form in forms(each.string):
            assert form, english
            assert set(VALUE.findall(form)) == set(VALUE.findall(english)), english


@pytest.mark.parametrize("name", ONLY_WORDING)
def test_no_words_are_sent_past_the_catalogue(name):
    assert sorted(CatalogueTexts(name).loose()) == []


def test_words_are_told_from_codes():
    assert [
        text
        for text in ("Events", "not over", "alert", "image/png", "report-", ": ", "{count} more")
        if reads_like_words(text)
    ] == ["Events", "not over", "{count} more"]
