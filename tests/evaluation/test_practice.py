"""Rates per clip as false alerts a week and faults found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ssdpt.evaluation.practice import ALL, practice_rows


def clip(machine: str, p_value: float, faulty: bool) -> Any:
    return SimpleNamespace(
        recording=SimpleNamespace(machine=machine),
        score=SimpleNamespace(p_value=p_value),
        is_faulty=faulty,
    )


def test_alerts_a_week_and_faults_found_follow_from_p_values() -> None:
    normal = [clip("fan", p, False) for p in (0.05, 0.5, 0.6, 0.9)]
    faulty = [clip("fan", p, True) for p in (0.0001, 0.005, 0.05, 0.5)]
    (row,) = practice_rows([*normal, *faulty])
    assert row["machine"] == "fan"
    assert row["10 %: false alerts a week"].startswith("252 (")  # one of four, 1,008 clips a week
    assert [row[f"{rate} %: faulty clips found"] for rate in ("10", "1", "0.1")] == [
        "3 of 4",
        "2 of 4",
        "1 of 4",
    ]
    # No false alert among four clips says little.
    assert row["1 %: false alerts a week"] == "0 (0–607)"


def test_several_machines_have_a_row_for_all() -> None:
    rows = practice_rows([clip("fan", 0.5, False), clip("pump", 0.01, True)])
    assert [row["machine"] for row in rows] == ["fan", "pump", ALL]
    assert rows[0]["10 %: faulty clips found"] == "–"
    assert rows[1]["10 %: false alerts a week"] == "–"
    assert rows[2]["10 %: faulty clips found"] == "1 of 1"
