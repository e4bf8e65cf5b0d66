"""ssdpt history: the history of a plant as one file, out and in again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ssdpt.cli.command import Group, command, everywhere
from ssdpt.cli.console import REPORTER
from ssdpt.cli.users import DATA_FOLDER, Data, StoreUrl, open_store
from ssdpt.errors import SsdptError

app = typer.Typer(help="The history of a plant.", no_args_is_help=True, cls=Group)
app.callback()(everywhere)


def backup(
    out: Annotated[Path, typer.Argument(help="The file to write (.tar).")],
    data: Data = DATA_FOLDER,
    store: StoreUrl = "",
    replace: Annotated[
        bool, typer.Option("--replace", help="Write over the file where there is one.")
    ] = False,
) -> None:
    """Write scores, events, users, recordings and what was learnt into one file.

    Learnt are the models of machines that had none, and machines added on the page. The service
    may go on meanwhile.
    """
    from ssdpt.monitor.store import back_up

    if out.exists() and not replace:
        raise SsdptError(f"{out}: is there already; choose another name, or give --replace")
    with open_store(data, store) as opened:
        back_up(opened, out)
    REPORTER.say(f"everything up to now is in {out}")


def restore(
    source: Annotated[Path, typer.Argument(help="A file of `ssdpt history backup`.")],
    data: Data = DATA_FOLDER,
    store: StoreUrl = "",
) -> None:
    """Bring a backup back, into an empty store of either kind and an empty data folder."""
    from ssdpt.monitor.config import store_url
    from ssdpt.monitor.store import restore as bring_back

    data.mkdir(parents=True, exist_ok=True)
    bring_back(source, store or store_url(None, data), data)
    REPORTER.say(f"{source} is back in {store or data}")


command(app, "backup")(backup)
command(app, "restore")(restore)
