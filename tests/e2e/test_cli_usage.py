"""What is typed wrongly: one sentence, the nearest right word, and where to read more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from ssdpt.cli import app
from ssdpt.cli.console import REPORTER

NARROW = 80  # columns


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*path, name))


PATHS = [*_commands(typer.main.get_command(app))]


@pytest.mark.parametrize(
    ("arguments", "sentence", "more"),
    [
        (["scroe"], "no command is called 'scroe'; did you mean score?", "ssdpt help first-steps"),
        (
            ["bench", "alrts"],
            "no command is called 'alrts'; did you mean alerts?",
            "ssdpt help first-steps",
        ),
        (
            ["fit", "x", "--prset", "fast"],
            "ssdpt fit: there is no option --prset; did you mean --preset?",
            "ssdpt fit --help",
        ),
        (
            ["score", "m", "--xyzzy"],
            "ssdpt score: there is no option --xyzzy",
            "ssdpt score --help",
        ),
        (["score"], "ssdpt score: missing argument 'model'", "ssdpt score --help"),
        (
            ["threshold", "m", "--false-alarm-rate"],
            "ssdpt threshold: option '--false-alarm-rate' requires an argument",
            "ssdpt threshold --help",
        ),
        (["--xyzzy"], "ssdpt: there is no option --xyzzy", "ssdpt --help"),
        (
            ["datasets", "--xyzzy"],
            "ssdpt datasets: there is no option --xyzzy",
            "ssdpt datasets --help",
        ),
    ],
)
def test_what_is_typed_wrongly_is_one_sentence(
    arguments: list[str], sentence: str, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a new process: a topic is named once in each, and an earlier test may have been --quiet.
    monkeypatch.setattr(REPORTER, "_topics", set())
    monkeypatch.setattr(REPORTER, "quiet", False)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [f"error: {sentence}", f"more: {more}"]


def test_a_word_that_is_near_to_none_brings_the_list() -> None:
    result = CliRunner().invoke(app, ["xyzzy"])
    assert result.stderr.startswith("error: no command is called 'xyzzy'; there are fit, threshold")


def test_a_group_alone_prints_its_help() -> None:
    assert "Usage: ssdpt datasets" in CliRunner().invoke(app, ["datasets"]).output


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_fits_a_narrow_terminal(path: tuple[str, ...]) -> None:
    """No line is longer, and no word is cut: each comes whole, if not always on one line."""
    command: Any = typer.main.get_command(app)
    for name in path:
        command = command.commands[name]
    output = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": str(NARROW)}).output
    assert max(map(len, output.splitlines())) <= NARROW
    written = [
        command.help or "",
        *(one.help or "" for one in command.params if hasattr(one, "help")),
    ]
    for inner in getattr(command, "commands", {}).values():
        written.append((inner.help or "").split("\n\n")[0])
    assert output.count("…") == sum(text.count("…") for text in written)
    words = output.replace("│", " ").split()
    names = [name for one in command.params for name in one.opts if name.startswith("--")]
    assert [name for name in [*names, *getattr(command, "commands", {})] if name not in words] == []
