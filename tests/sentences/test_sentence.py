"""A sentence is its English text, and keeps what other languages are made from."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence, clauses, said
from ssdpt.sentences.coded_sentence import WithSentence, coded


def no_data(seconds: float = 10.0) -> Sentence:
    return Sentence("sources.noData", name="rtsp://camera", seconds=seconds)


def test_it_is_its_english_text():
    sentence = no_data()
    assert sentence == "rtsp://camera: no data for 10 s"
    assert f"{sentence}!" == "rtsp://camera: no data for 10 s!"
    assert (sentence.code, sentence.values) == (
        "sources.noData",
        {"name": "rtsp://camera", "seconds": 10.0},
    )


@pytest.mark.parametrize(("count", "text"), [(1, "1 value left out"), (2, "2 values left out")])
def test_a_count_chooses_the_plural(count, text):
    sentence = Sentence("operating.valuesLeftOut", count=count, last="x")
    assert sentence == f"{text}, the last: x"
    assert sentence.code == "operating.valuesLeftOut"


def test_values_are_numbers_texts_lists_and_sentences():
    sentence = Sentence(
        "settings.numbered", number=1, what=Sentence("settings.notValid", value=True, choices=[])
    )
    assert sentence == "(1) 'true' is not valid; choose "
    folder = Sentence("sources.watching", folder=Path("/data/pump"))
    assert folder.values == {"folder": "/data/pump"}
    assert Sentence("sources.noData", name="x", seconds=float("nan")) == "x: no data for nan s"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (6e10, "60,000,000,000"),
        (1e6, "1,000,000"),
        (12345.678, "12,345.7"),
        (1480.0, "1480"),
        (0.1 + 0.2, "0.3"),
        (2.5e-7, "0.00000025"),
        (-0.0, "0"),
    ],
)
def test_numbers_have_no_exponents(seconds, text):
    assert no_data(seconds) == f"rtsp://camera: no data for {text} s"


def test_an_exception_says_its_sentence_or_its_text():
    assert said(SsdptError(no_data())) is not None
    assert coded(said(SsdptError(no_data()))) == coded(no_data())
    assert said(ValueError("of a library")) == "of a library"
    assert coded(said(ValueError("of a library"))) is None
    problem = Sentence("sources.retrying", problem=SsdptError(no_data()), seconds=1.5)
    assert problem == "rtsp://camera: no data for 10 s; retrying in 1.5 s"
    assert coded(problem).values["problem"] == coded(no_data())


def test_clauses_keep_the_codes_of_their_parts():
    assert clauses("", "") == ""
    assert clauses(no_data(), "") is not None
    assert coded(clauses(no_data(), "")) == coded(no_data())
    joined = clauses(no_data(), "of a plug-in")
    assert joined == "rtsp://camera: no data for 10 s; of a plug-in"
    parts = coded(joined).values["clauses"]
    assert [part.code for part in parts] == ["sources.noData", "common.text"]


def test_a_copy_keeps_the_code():
    for again in (copy.deepcopy(no_data()), pickle.loads(pickle.dumps(no_data()))):
        assert (again, again.code, again.values) == (no_data(), no_data().code, no_data().values)


def test_a_model_sends_the_text_and_the_code_beside_it():
    sent = WithSentence(message=no_data()).model_dump(mode="json")
    assert sent == {
        "message": "rtsp://camera: no data for 10 s",
        "sentence": {
            "code": "sources.noData",
            "values": {"name": "rtsp://camera", "seconds": 10.0},
        },
    }
    assert WithSentence(message="of a plug-in").sentence is None


def test_a_stored_text_without_values_is_known_by_what_it_says():
    stored = WithSentence(message="No sound arrives from the source")
    assert stored.sentence is not None
    assert stored.sentence.code == "events.lost"
