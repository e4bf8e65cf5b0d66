"""Numbers as people read them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ssdpt.common.numbers import Numbers

ENGLISH, GERMAN = Numbers(), Numbers(",", ".")


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (2.5, 0, "3"),  # a half goes away from zero, also where the digit before is even
        (-2.5, 0, "-3"),
        (1.005, 2, "1.01"),  # as it is written: it is stored as a little less
        (-0.4, 0, "0"),
        (9999.4, 0, "9999"),
        (12345.67, 1, "12,345.7"),
        (1e20, 0, "100,000,000,000,000,000,000"),
        (np.float64(0.25), 1, "0.3"),
        (math.nan, 1, "–"),
        (-math.inf, 0, "–"),
    ],
)
def test_digits_after_the_decimal_sign(value, digits, text):
    assert ENGLISH.fixed(value, digits) == text


def test_signs_of_a_language():
    assert GERMAN.fixed(-12345.67, 1) == "-12.345,7"
    assert GERMAN.figures(0.5) == "0,5"


def test_scores():
    values = (0.0, 1.4, -0.253, 9.994, 9.996, 12.34, 99.96, 1234.5)
    texts = ["0.00", "1.40", "-0.25", "9.99", "10.0", "12.3", "100", "1235"]
    assert [ENGLISH.score(value) for value in values] == texts


def test_figures_never_lose_a_digit_before_the_decimal_sign():
    values = (0.042, 0.4256, 24.84, 24.96, 1500, 1234.5, 0.0, 1.6e-6, 1e-9)
    assert [ENGLISH.figures(value) for value in values] == [
        *("0.042", "0.426", "24.8", "25", "1500", "1235", "0", "0.000002", "0"),
    ]
    assert ENGLISH.figures(1480.53, 5) == "1480.5"


def test_frequencies():
    values = (24.84, 130.0, 999.4, 999.6, 2236.0, 12_800.0)
    assert [ENGLISH.hertz(value) for value in values] == [
        *("24.8 Hz", "130 Hz", "999 Hz", "1 kHz", "2.24 kHz", "12.8 kHz"),
    ]


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [
        (150.0, 800.0, ("150", "800 Hz")),
        (891.25, 1122.0, ("890 Hz", "1.1 kHz")),
        (2240.0, 2980.0, ("2.2", "3 kHz")),
        (4060.0, 4120.0, ("4.06", "4.12 kHz")),  # with two figures both would be 4.1
        (0.0, 50.0, ("0", "50 Hz")),
    ],
)
def test_ends_of_a_band(low, high, ends):
    assert ENGLISH.band(low, high) == ends
