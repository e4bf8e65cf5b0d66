"""The command line: parse, call, print. Heavy parts are imported inside the commands."""

from __future__ import annotations

import io
import os
import sys

import typer

from ssdpt.cli import datasets, demo, judge, model, paper, record
from ssdpt.cli.command import Quiet, Verbose, Version
from ssdpt.cli.console import REPORTER

app = typer.Typer(
    name="ssdpt",
    help="Hear when a machine is about to fail: learn its normal sound, judge new recordings.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _first(quiet: Quiet = False, verbose: Verbose = False, version: Version = False) -> None:
    REPORTER.quiet, REPORTER.verbose = quiet, verbose


model.register(app)
judge.register(app)
record.register(app)
demo.register(app)
app.add_typer(datasets.app, name="datasets")
app.add_typer(paper.app, name="paper")


def main() -> None:
    """The `ssdpt` command."""
    # Threads that spin while they wait bring training to a crawl on a machine that is also busy
    # with something else (twenty times slower was measured); asleep they cost next to nothing.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    for stream in (sys.stdout, sys.stderr):
        # A file name may hold bytes that are no text; it is shown escaped, not died of.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app()
