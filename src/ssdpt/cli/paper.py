"""ssdpt paper: the paper's tables."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ssdpt.cli.command import command, everywhere
from ssdpt.cli.console import STDOUT

app = typer.Typer(help="What the paper reports, computed here.", no_args_is_help=True)


app.callback()(everywhere)


def params(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Parameter counts of the networks of Table II."""
    from ssdpt.experiments.params import parameter_table

    rows = parameter_table()
    if as_json:
        STDOUT.print(json.dumps(rows, indent=2), markup=False)
        return
    STDOUT.print("blocks  frames  paper's count  all parameters")
    for row in rows:
        STDOUT.print(
            f"{row['blocks']:6}  {row['frames']:6}  {row['paper_count']:13}  {row['all']:14}"
        )


command(app, "params")(params)
