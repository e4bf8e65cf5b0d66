"""The printed numbers of the paper, typed a second time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ssdpt.experiments.claims.published import DEFAULT_ROW, published
from ssdpt.experiments.claims.statements import BETA_STATEMENTS, STATEMENTS
from ssdpt.experiments.paper.parameter_counts import parameter_table
from ssdpt.experiments.paper.variants import TABLE_ONE, block_name

TABLE_I = [
    *(0.619, 0.533),
    *(0.597, 0.564),
    *(0.694, 0.616),
    *(0.705, 0.625),
    *(0.713, 0.607),
    *(0.722, 0.611),
    *(0.739, 0.626),
]
TABLE_II = [
    *(0.686, 0.602, 0.721, 0.687, 0.696, 0.726, 0.712, 0.688, 13955),
    *(0.702, 0.626, 0.732, 0.759, 0.713, 0.728, 0.754, 0.714, 27267),
    *(0.728, 0.628, 0.730, 0.722, 0.749, 0.745, 0.752, 0.720, 40579),
    *(0.758, 0.638, 0.728, 0.696, 0.715, 0.636, 0.794, 0.705, 53827),
    *(0.706, 0.602, 0.699, 0.695, 0.719, 0.671, 0.782, 0.693, 80323),
]


def test_all_values_are_those_of_the_paper():
    paper = published()
    one = [value for pair in paper.table_one.values() for value in (pair.h_auc, pair.h_pauc)]
    two = [
        value
        for row in paper.table_two.values()
        for value in (*row.h_auc.values(), row.all, row.parameters)
    ]
    assert (len(one), len(two)) == (14, 45)
    assert one == TABLE_I
    assert two == TABLE_II


def test_rows_are_named_as_the_variants():
    paper = published()
    assert list(paper.table_one) == [name for name in TABLE_ONE if name in paper.table_one]
    assert list(paper.table_two) == [
        block_name(row["blocks"], row["frames"]) for row in parameter_table()
    ]
    assert paper.machines == ("ToyCar", "ToyTrain", "fan", "gearbox", "pump", "slider", "valve")


def test_table_one_has_the_arithmetic_and_table_two_the_harmonic_mean_of_one_row():
    row = published().table_two[DEFAULT_ROW]
    values = list(row.h_auc.values())
    assert round(float(np.mean(values)), 3) == published().table_one["ssdpt"].h_auc == 0.722
    assert round(float(stats.hmean(values)), 3) == row.all == 0.720


@pytest.mark.parametrize("name", [block_name(1, 64), block_name(2, 64), block_name(3, 128)])
def test_the_column_all_is_harmonic(name):
    row = published().table_two[name]
    assert float(stats.hmean(list(row.h_auc.values()))) == pytest.approx(row.all, abs=6e-4)


def test_the_parameters_are_those_of_the_networks():
    printed = [row.parameters for row in published().table_two.values()]
    assert printed == [row["paper_count"] for row in parameter_table()]


def test_values_exist_only_where_the_paper_has_them():
    paper = published()
    assert paper.of_machine("ssdpt", "valve", "h_auc") == 0.752
    assert paper.of_machine("blocks-3-256", "valve", "h_auc") == 0.782
    assert paper.of_machine("ssdpt", "valve", "h_pauc") is None
    assert paper.of_machine("ssdpt", "bandsaw", "h_auc") is None
    assert paper.of_machine("ae", "fan", "h_auc") is None
    assert paper.overall("ae", "h_pauc", "arithmetic") == 0.533
    assert paper.overall("ae", "h_auc", "harmonic") is None
    assert paper.overall("blocks-2-64", "h_auc", "harmonic") == 0.714
    assert paper.overall("blocks-2-64", "h_pauc", "harmonic") is None
    assert paper.overall("ssdpt", "official_2021", "arithmetic") is None


def test_every_statement_has_text_and_a_test():
    statements = published().statements
    assert set(statements) == {*STATEMENTS, *BETA_STATEMENTS}
    for statement in statements.values():
        assert all(
            isinstance(text, str) for text in (statement.place, statement.says, statement.number)
        )
        assert statement.says.endswith(".")
