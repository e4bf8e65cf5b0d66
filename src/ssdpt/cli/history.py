"""ssdpt history: back up and restore the history of the machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import Group, command, everywhere
from ssdpt.cli.console import REPORTER
from ssdpt.cli.users import DATA_FOLDER, Data, StoreUrl, open_store
from ssdpt.errors import SsdptError

app = typer.Typer(
    help="Back up and restore the history of the machines.", no_args_is_help=True, cls=Group
)
app.callback()(everywhere)


def backup(
    out: Annotated[Path, typer.Argument(help="The file to write (.tar).")],
    data: Data = DATA_FOLDER,
    store: StoreUrl = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite the file if it exists.")
    ] = False,
) -> None:
    """Write scores, events, users, recordings and learned models into one file.

    The machines that were added on the page are in it too. The service may be running.
    """
    from ssdpt.monitor.store import back_up

    if out.exists() and not replace:
        raise SsdptError(f"{out} exists already; choose another name, or use --replace")
    with open_store(data, store) as opened:
        back_up(opened, out)
    REPORTER.say(f"backup written to {out}")


def restore(
    source: Annotated[Path, typer.Argument(help="A file written by `ssdpt history backup`.")],
    data: Data = DATA_FOLDER,
    store: StoreUrl = "",
) -> None:
    """Restore a backup into an empty database, SQLite or PostgreSQL, and an empty data folder."""
    from ssdpt.common.files import private_files
    from ssdpt.monitor.config import store_url
    from ssdpt.monitor.store import restore as restore_backup

    with private_files():
        data.mkdir(parents=True, exist_ok=True)
        restore_backup(source, store or store_url(None, data), data)
    REPORTER.say(f"{source} restored into {store or data}")


command(app, "backup")(backup)
command(app, "restore")(restore)
