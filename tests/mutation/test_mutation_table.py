"""The table of mutants, and that the settings of `make mutation` name files that exist."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path

from mutation_table import result_of, results, table

ROOT = Path(__file__).parents[2]


def test_survivors_and_untested_ones_are_not_killed():
    codes = {"a": 1, "b": 0, "c": 33, "d": None, "e": 3, "f": 36}
    row = result_of("ssdpt/x.py", codes)
    assert (row.mutants, row.killed, row.survivors, row.not_run) == (6, 3, ("b", "c"), 1)
    assert row.percent == 60.0
    assert math.isnan(result_of("ssdpt/x.py", {"a": None}).percent)


def test_what_mutmut_keeps_is_read(tmp_path):
    folder = tmp_path / "src" / "ssdpt" / "alarms"
    folder.mkdir(parents=True)
    for name, codes in {"drift": {"m1": 1, "m2": 0}, "settings": {}}.items():
        (folder / f"{name}.py.meta").write_text(json.dumps({"exit_code_by_key": codes}), "utf-8")
    (row,) = results(tmp_path)
    assert (row.module, row.survivors) == ("ssdpt/alarms/drift.py", ("m2",))
    assert table([row]).splitlines()[1].split() == [
        "ssdpt/alarms/drift.py", "2", "1", "1", "0", "50.0",
    ]  # fmt: skip


def test_the_settings_name_modules_and_tests_that_exist():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mutmut"]
    named = [*settings["only_mutate"], *settings["pytest_add_cli_args_test_selection"]]
    assert named
    for path in named:
        assert (ROOT / path).is_file(), path
