"""ssdpt user: accounts and roles of people and programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdpt.cli.command import Group, command, everywhere
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.cli.model import Json
from ssdpt.errors import SsdptError

if TYPE_CHECKING:
    from ssdpt.monitor.store import Role, Store

app = typer.Typer(help="Accounts of people and programs.", no_args_is_help=True, cls=Group)
app.callback()(everywhere)

DATA_FOLDER = Path("ssdpt-data")

Data = Annotated[Path, typer.Option("--data", help="Data folder of the service.")]
StoreUrl = Annotated[
    str, typer.Option("--store", help="sqlite:///… or postgresql+psycopg://…; default: in --data.")
]
Name = Annotated[str, typer.Argument(help="Name of the user.")]
PasswordFile = Annotated[
    Path | None, typer.Option(help="Read the password from this file; - is the standard input.")
]


@contextmanager
def open_store(data: Path, url: str = "", *, new: bool = False) -> Iterator[Store]:
    """The store of a service; without a URL it is a file in the data folder.

    Only with `new` one is created, so that a mistyped folder is an error.
    """
    from ssdpt.common.files import private_files
    from ssdpt.monitor.config import STORE_FILE, store_url
    from ssdpt.monitor.store import Store

    if not (new or url or (data / STORE_FILE).exists()):
        raise SsdptError(f"{data}: there is no history here; name the data folder with --data")
    with private_files(), Store.open(url or store_url(None, data), data) as store:
        yield store


def add(
    name: Name,
    role: Annotated[str, typer.Option(help="viewer, operator or admin.")] = "viewer",
    password_file: PasswordFile = None,
    data: Data = DATA_FOLDER,
    store: StoreUrl = "",
) -> None:
    """Add a user: a viewer reads, an operator also acknowledges and mutes, an admin does all."""
    checked_role = _role(role)
    with open_store(data, store, new=True) as opened:
        opened.add_user(name, checked_role, _password(password_file))
    REPORTER.say(f"added {name} with the role {checked_role}")


def password(
    name: Name,
    password_file: PasswordFile = None,
    data: Data = DATA_FOLDER,
    store: StoreUrl = "",
) -> None:
    """Set a new password; sessions and tokens of this user end."""
    with open_store(data, store) as opened:
        opened.set_password(name, _password(password_file))
    REPORTER.say(f"{name}: password changed")


def role(
    name: Name,
    role: Annotated[str, typer.Argument(help="viewer, operator or admin.")],
    data: Data = DATA_FOLDER,
    store: StoreUrl = "",
) -> None:
    """Give a user another role."""
    checked_role = _role(role)
    with open_store(data, store) as opened:
        opened.set_role(name, checked_role)
    REPORTER.say(f"{name} has the role {checked_role} now")


def remove(name: Name, data: Data = DATA_FOLDER, store: StoreUrl = "") -> None:
    """Remove a user; their sessions and tokens end."""
    with open_store(data, store) as opened:
        opened.remove_user(name)
    REPORTER.say(f"removed {name}")


def token(
    name: Name,
    days: Annotated[
        float | None, typer.Option(min=0.001, help="How long it is valid; default: until revoked.")
    ] = None,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="End all tokens and sessions of the user instead.")
    ] = False,
    data: Data = DATA_FOLDER,
    store: StoreUrl = "",
) -> None:
    """Print a token for a program, which acts as this user. It is shown only once."""
    with open_store(data, store) as opened:
        if revoke:
            opened.revoke_tokens(name)
            REPORTER.say(f"revoked all tokens of {name}")
        else:
            STDOUT.print(opened.new_token(name, days), markup=False)


def list_users(data: Data = DATA_FOLDER, store: StoreUrl = "", as_json: Json = False) -> None:
    """List all users."""
    with open_store(data, store) as opened:
        users = opened.users()
    if as_json:
        content = [{"name": user.name, "role": user.role} for user in users]
        STDOUT.print(json.dumps(content, indent=2), markup=False)
        return
    for user in users:
        STDOUT.print(f"{user.name}  {user.role}", markup=False)
    if not users:
        REPORTER.say("there are no users; create an admin first: ssdpt user add NAME --role admin")


command(app, "add")(add)
command(app, "password")(password)
command(app, "role")(role)
command(app, "remove")(remove)
command(app, "token")(token)
command(app, "list")(list_users)


def _role(text: str) -> Role:
    roles: tuple[Role, ...] = ("viewer", "operator", "admin")
    for role in roles:
        if role == text:
            return role
    raise SsdptError(f"there is no role '{text}'; choose {', '.join(roles)}")


def _password(path: Path | None) -> str:
    """Typed twice at a terminal; never an argument, which other users of the computer can see."""
    if path is None:
        if not sys.stdin.isatty():
            raise SsdptError("no terminal to type a password; use --password-file")
        typed: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
        return typed
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise SsdptError(f"{path}: the password is not UTF-8 text") from error
    return text.rstrip("\r\n")
