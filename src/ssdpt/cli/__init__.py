"""The command line: parse, call, print. Heavy parts are imported inside the commands."""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import TextIO

import typer

from ssdpt.cli import (
    ablate,
    adapt,
    bearings,
    bench,
    datasets,
    demo,
    doctor,
    evaluate,
    export,
    help,
    history,
    model,
    paper,
    record,
    report,
    score,
    serve,
    systems,
    upgrade_config,
    users,
)
from ssdpt.cli.command import Group, Quiet, Verbose, Version
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.errors import SsdptWarning

app = typer.Typer(
    name="ssdpt",
    help="Detect machine faults by sound: learn what is normal, score new recordings.",
    invoke_without_command=True,
    cls=Group,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_NEXT_STEPS = """\
ssdpt tells when the sound of a machine changes. All commands: ssdpt --help
  ssdpt demo                              see it work on simulated machines
  ssdpt fit recordings/pump --out model   learn from normal recordings
  ssdpt score model today.wav             is the sound of today normal?
  ssdpt serve --first-run                 monitor machines live, on a web page
  ssdpt doctor                            what can this computer do?"""


@app.callback()
def _common_options(
    context: typer.Context, quiet: Quiet = False, verbose: Verbose = False, version: Version = False
) -> None:
    REPORTER.start(quiet, verbose)
    if context.invoked_subcommand is None:
        STDOUT.print(_NEXT_STEPS, markup=False)


model.register(app)
systems.register(app)
bearings.register(app)
score.register(app)
evaluate.register(app)
adapt.register(app)
export.register(app)
record.register(app)
ablate.register(app)
demo.register(app)
doctor.register(app)
help.register(app)
serve.register(app)
report.register(app)
upgrade_config.register(app)
app.add_typer(datasets.app, name="datasets")
app.add_typer(paper.app, name="paper")
app.add_typer(bench.app, name="bench")
app.add_typer(users.app, name="user")
app.add_typer(history.app, name="history")


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show our own warnings to the user; those of libraries only with --verbose."""
    report = REPORTER.warn if issubclass(category, SsdptWarning) else REPORTER.detail
    report(str(message))


def main() -> None:
    """The `ssdpt` command."""
    # Threads that spin while they wait slow down training on a machine with other load (a factor
    # of twenty was measured); sleeping threads cost next to nothing.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        # A file name may contain bytes that are not text: print them escaped instead of failing.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app()
