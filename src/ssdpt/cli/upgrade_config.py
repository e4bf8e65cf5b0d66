"""ssdpt upgrade-config: rewrite a configuration file of an earlier release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.console import REPORTER, STDOUT


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "upgrade-config")(upgrade_config)


def upgrade_config(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The configuration file (YAML).")],
) -> None:
    """Rewrite a configuration file of an earlier release with the settings of this one.

    The service reads old files as well; this only makes the file say what is read. The file as it
    was, with its comments, is kept beside it.
    """
    from ssdpt.monitor.config import read_current_form
    from ssdpt.monitor.config_upgrade import rewrite_config

    config, content = read_current_form(path)
    if not config.upgrades:
        REPORTER.say(f"{path}: is up to date; nothing was changed")
        return
    kept = rewrite_config(path, content)
    for change in config.upgrades:
        STDOUT.print(change, markup=False)
    REPORTER.say(f"{path} rewritten without its comments; {kept.name} is the file as it was")
