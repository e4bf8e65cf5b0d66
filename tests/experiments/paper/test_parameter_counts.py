"""The parameter column of Table II."""

from __future__ import annotations

from ssdpt.experiments.paper.parameter_counts import parameter_table


def test_the_rows_of_the_paper():
    rows = [
        (row["blocks"], row["frames"], row["paper_count"], row["all"]) for row in parameter_table()
    ]
    assert rows == [
        (1, 64, 13955, 96643),
        (2, 64, 27267, 192643),
        (3, 64, 40579, 288643),
        (3, 128, 53827, 450115),
        (3, 256, 80323, 1067971),
    ]
