"""The log of looks at test labels."""

from __future__ import annotations

from datetime import date

import pytest

from ssdpt.errors import SsdptError
from ssdpt.experiments.ablation.looks import Look, LookLog


def look(key, variant, **figures):
    return Look(key, variant, {"texture.density": False}, "alone", 2, figures, "ssdpt ablate")


def test_looks_are_appended_and_counted_once(tmp_path):
    log = LookLog(tmp_path / "looks.jsonl")
    assert log.read() == []
    assert log.add([look("a", "first", fan=0.5), look("a", "first", fan=0.5)]) == 1
    assert log.add([look("a", "first", fan=0.5), look("b", "second", fan=0.6, pump=0.8)]) == 1
    looks = log.read()
    assert [(item.key, item.variant) for item in looks] == [("a", "first"), ("b", "second")]
    date.fromisoformat(looks[0].date)
    text = (tmp_path / "looks.md").read_text("utf-8")
    assert "| date | variant | fitted | seeds | fan | pump | mean |" in text
    assert "| second: texture.density=False | alone | 2 | 0.600 | 0.800 | 0.700 |" in text
    assert "| first: texture.density=False | alone | 2 | 0.500 | – | 0.500 |" in text
    assert "2 looks." in text


def test_a_damaged_log_is_kept_and_named(tmp_path):
    path = tmp_path / "looks.jsonl"
    LookLog(path).add([look("a", "first", fan=0.5)])
    text = path.read_text("utf-8") + "{}\n"
    path.write_text(text, "utf-8")
    with pytest.raises(SsdptError, match=r"looks.jsonl, line 2: not a look"):
        LookLog(path).add([look("b", "second", fan=0.6)])
    assert path.read_text("utf-8") == text
