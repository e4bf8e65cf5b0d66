"""A number reads the same in page, mail and report: both sides are held against one table."""

from __future__ import annotations

from pathlib import Path

from number_table import table

TABLE = Path(__file__).parents[2] / "web" / "tests" / "numbers.json"


def test_the_table_of_the_page_is_what_the_service_writes():
    """The page's own test, web/tests/numbers.test.ts, writes the same numbers by its rules."""
    assert TABLE.read_text("utf-8") == table(), "run: make page"
