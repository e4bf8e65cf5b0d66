"""Tables as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json

import pytest

from paper_fakes import CONFIG, fake_results
from ssdpt.config.tree import load_config
from ssdpt.experiments.claims.claims import SMOKE, check_claims
from ssdpt.experiments.paper.beta import rescored
from ssdpt.experiments.paper.results import Spread
from ssdpt.experiments.paper.variants import BETAS, TABLE_ONE
from ssdpt.experiments.report import tables
from ssdpt.experiments.report.table_formats import (
    ORACLE,
    Measured,
    Table,
    TableRow,
    as_json,
    comma_separated,
    markdown,
    write_table,
)

TWO = ("fan", "valve")


@pytest.fixture(scope="module")
def results():
    return fake_results(
        ("main", "blocks"),
        machines=TWO,
        clips=8,
        sections=("00",),
        gains={"ssdpt-ensemble": 1.5, "blocks-2-64": 1.0},
        missing=lambda variant, machine, seed: (variant, machine) == ("mnv2-lof", "fan"),
    )


def small():
    figure = Measured(
        last=Spread(0.7184, 0.0123, 3),
        oracle=Spread(0.75, 0.01, 3),
        paper=0.722,
        logs=("cells/a", "cells/b"),
        best=True,
    )
    one_seed = Measured(last=Spread(0.5, 0.0, 1), note="1 of 2 machine types")
    return Table(
        "small",
        "A | table",
        ("system", "h-AUC", "parameters"),
        (
            TableRow(("a|b", figure, 1234)),
            TableRow(("c", one_seed, 5)),
            TableRow(("d", Measured(), 6)),
        ),
        ("A remark.",),
    )


def test_markdown():
    assert markdown(small()).splitlines() == [
        "# A | table",
        "",
        "| system | h-AUC | parameters |",
        "| --- | --- | --- |",
        "| a\\|b | **0.718 ± 0.012** (0.750) [0.722] | 1,234 |",
        "| c | 0.500 1 of 2 machine types | 5 |",
        "| d | – | 6 |",
        "",
        "A remark.",
        "",
        f"In parentheses: the epoch {ORACLE}.",
        "",
        "In square brackets: the paper's value.",
    ]


def test_csv():
    rows = list(csv.DictReader(io.StringIO(comma_separated(small()))))
    assert rows[0] == {
        "system": "a|b",
        "h-AUC": "0.7184",
        "h-AUC sd": "0.0123",
        f"h-AUC ({ORACLE})": "0.7500",
        "h-AUC paper": "0.7220",
        "parameters": "1234",
    }
    assert rows[1]["h-AUC sd"] == ""
    assert rows[2]["h-AUC"] == ""


def test_json():
    first, second, third = as_json(small())["rows"]
    assert first["h-AUC"] == {
        "last_epoch": {"mean": 0.7184, "sd": 0.0123, "seeds": 3},
        "oracle_epoch": {"mean": 0.75, "sd": 0.01, "seeds": 3},
        "paper": 0.722,
        "best": True,
        "logs": ["../cells/a", "../cells/b"],
    }
    assert second["h-AUC"]["last_epoch"]["sd"] is None
    assert third["h-AUC"]["last_epoch"] is None
    assert as_json(small())["oracle"] == ORACLE


def test_a_smoke_run_is_marked_in_every_format(tmp_path):
    table = tables.patches_table(
        fake_results(("patches",), machines=("fan",), seeds=1, clips=2, quick=True)
    )
    write_table(table, tmp_path)
    assert SMOKE in (tmp_path / "patches.md").read_text("utf-8")
    assert all(
        row["remark"] == SMOKE
        for row in csv.DictReader((tmp_path / "patches.csv").read_text("utf-8").splitlines())
    )
    assert json.loads((tmp_path / "patches.json").read_text("utf-8"))["smoke_run"] is True
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("patches.csv", "patches.json", "patches.md")
    ]


def test_table_one_has_its_rows_both_means_and_the_papers_values(results):
    table = tables.main_table(results, CONFIG)
    assert len(table.rows) == len(TABLE_ONE) == 11
    assert table.columns[1:] == (
        *("h-AUC, arithmetic mean", "h-pAUC, arithmetic mean"),
        *("h-AUC, harmonic mean", "h-pAUC, harmonic mean", "official 2021", "official 2022"),
    )
    by_label = {row.cells[0]: row.cells[1:] for row in table.rows}
    assert [by_label["SSDPT"][i].paper for i in range(4)] == [0.722, 0.611, None, None]
    assert by_label["SSDPT-ensemble"][0].best
    assert by_label["MNv2-LOF"][0].note == "1 of 2 machine types"
    assert "–: not measured, MNv2-LOF (fan)." in table.notes
    assert any("seven machine types" in note for note in table.notes)
    members = next(note for note in table.notes if note.startswith("SSDPT-ensemble:"))
    assert "SSDPT (3, 256), mask patch" in members
    arithmetic, harmonic = by_label["SSDPT"][0].last.mean, by_label["SSDPT"][2].last.mean
    assert arithmetic > harmonic


def test_a_machine_cell_has_its_logs_and_its_oracle(results):
    table = tables.machine_table(results, CONFIG)
    assert table.columns == (*("variant", "measure", *TWO, "All (harmonic)", "All (arithmetic)"),)
    ssdpt = next(row for row in table.rows if row.cells[0] == "SSDPT")
    fan = ssdpt.cells[2]
    assert fan.logs == ("cells/ssdpt-fan-0", "cells/ssdpt-fan-1")
    assert fan.paper == 0.730
    assert fan.last.seeds == 2
    assert fan.oracle.mean > fan.last.mean
    lof = next(row for row in table.rows if row.cells[0] == "MNv2-LOF")
    assert lof.cells[2] == Measured()


def test_best_is_marked_within_a_measure(results):
    table = tables.blocks_table(results)
    for label in ("h-AUC", "h-pAUC"):
        group = [row for row in table.rows if row.group == label]
        column = [row.cells[table.columns.index("fan")] for row in group]
        highest = max(round(cell.last.mean, 3) for cell in column)
        assert [cell.best for cell in column] == [
            round(cell.last.mean, 3) == highest for cell in column
        ]
        assert column[1].best  # by construction


def test_table_two_has_the_papers_machines_and_both_counts(results):
    table = tables.blocks_table(results)
    assert table.columns[2:9] == (
        *("ToyCar", "ToyTrain", "fan", "gearbox", "pump", "slider", "valve"),
    )
    assert len(table.rows) == 10
    first = table.rows[0].cells
    assert first[2] == Measured(paper=0.686)  # not in this data
    assert first[-4].paper == 0.688
    assert first[-2:] == (13955, 96643)


def test_rows_without_any_cell_are_shown_and_noted():
    results = fake_results(("masking",), machines=TWO, clips=2, seeds=1, without=("mask-TM",))
    table = tables.masking_table(results)
    assert [row.cells[0] for row in table.rows][:5] == ["NM", "TM", "FM", "SpecAugment", "PM"]
    assert table.rows[1].cells[2].last is None
    assert "–: not measured, TM (every machine)." in table.notes
    assert table.notes[0] == "Values: after the last epoch, one seed; bold: the best of a column."


def test_beta_has_a_row_for_every_value_and_no_oracle():
    results = fake_results(("beta",), machines=("fan",), clips=4, seeds=1)
    table = tables.beta_table(rescored(results, load_config("paper"), "mean"))
    assert len(table.rows) == 2 * len(BETAS)
    assert table.rows[0].cells[0] == "β = 0"
    assert all(row.cells[2].oracle is None for row in table.rows)


def test_parameters():
    table = tables.parameters_table()
    assert [row.cells for row in table.rows][2] == (3, 64, 40579, 40579, 288643, "yes")


def test_claims_carry_both_verdicts_and_their_margins():
    results = fake_results(("blocks",), machines=("fan",), clips=4, seeds=1, quick=True)
    table = tables.claims_table(check_claims(results, None), True)
    row = next(row for row in table.rows if row.cells[0] == "blocks-help-machines")
    assert row.cells[3].startswith("does not hold: fan: 0.730 ≤ 0.732")
    assert row.data["own_verdict"] == "does not hold"
    fan = next(part for part in row.data["parts"] if "fan" in part["what"])
    assert fan["interval"][0] <= fan["margin"] <= fan["interval"][1]
    overall = next(row for row in table.rows if row.cells[0] == "blocks-help-overall")
    assert overall.cells[4].endswith(f"({SMOKE})")
    json.dumps(as_json(table))
