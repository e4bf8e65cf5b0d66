"""ssdpt serve --first-run: three questions, then a configuration file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ssdpt.cli.command import EXIT_INTERRUPTED
from ssdpt.cli.console import REPORTER, STDOUT
from ssdpt.errors import SsdptError

if TYPE_CHECKING:
    from ssdpt.monitor.setup_messages import Microphone

CONFIG = Path("monitor.yaml")


def first_run(path: Path, data: Path) -> None:
    """Ask, and write the file as a whole; whoever stops before has nothing changed."""
    from ssdpt.common.files import private_files, write_text
    from ssdpt.monitor.config_upgrade import keep_copy
    from ssdpt.monitor.first_config import add_first_machine, first_config
    from ssdpt.monitor.store.learned_models import MACHINES

    if not sys.stdin.isatty():
        raise SsdptError(
            "--first-run asks questions and needs a terminal; without one, write the "
            f"configuration file by hand and start with --config {path}"
        )
    try:
        _ask_to_replace(path)
        STDOUT.print(f"Three questions, then {path} is written. Ctrl-C leaves everything as it is.")
        plant = _ask("1. Name of the plant", "Plant")
        zone = _ask_timezone()
        source = _ask_source()
    except typer.Abort as stopped:
        REPORTER.say("stopped; nothing was written")
        raise typer.Exit(EXIT_INTERRUPTED) from stopped
    if path.exists():
        STDOUT.print(f"The file that was is kept as {keep_copy(path).name}.")
    write_text(path, first_config(plant, zone, path.name))
    with private_files():  # addresses of cameras hold passwords
        add_first_machine(data / MACHINES, source)
    STDOUT.print(f"{path} is written; the next time, start with: ssdpt serve --config {path}")


def _ask_to_replace(path: Path) -> None:
    if path.exists() and not typer.confirm(f"{path} exists already. Replace it?", default=False):
        raise SsdptError(f"{path} stays as it is; start with it: ssdpt serve --config {path}")


def _ask_timezone() -> str:
    from ssdpt.monitor.first_config import is_timezone, local_timezone

    return _ask(
        "2. Time zone of the plant",
        local_timezone(),
        lambda zone: "" if is_timezone(zone) else f"'{zone}' is no time zone, as Europe/Berlin is",
    )


def _ask_source() -> dict[str, Any]:
    """The source of the first machine."""
    choices: list[tuple[str, Callable[[], dict[str, Any]]]] = [
        *((_describe(one), lambda one=one: _microphone(one)) for one in _microphones()),
        ("network stream: a camera or an encoder", _network_stream),
        ("simulated: a fan, to try things out", lambda: {"kind": "simulated", "machine": "fan"}),
    ]
    STDOUT.print("3. Where does the sound of the first machine come from?")
    for number, (text, _) in enumerate(choices, 1):
        STDOUT.print(f"   {number}  {text}", markup=False)
    numbers = {str(number): choice for number, (_, choice) in enumerate(choices, 1)}
    chosen = _ask(
        "   Number",
        "1",
        lambda text: "" if text in numbers else f"choose a number from 1 to {len(numbers)}",
    )
    return numbers[chosen]()


def _microphones() -> tuple[Microphone, ...]:
    """Those of this computer; none where they cannot be listed, and then why."""
    from ssdpt.monitor.sources.microphones import microphones

    try:
        connected = microphones()
    except SsdptError as error:
        REPORTER.say(str(error))
        return ()
    if not connected:
        REPORTER.say("no microphone is connected to this computer")
    return connected


def _describe(microphone: Microphone) -> str:
    usual = ", the default" if microphone.is_default else ""
    return f"microphone: {microphone.name}{usual}"


def _microphone(microphone: Microphone) -> dict[str, Any]:
    return {"kind": "microphone", "device": "" if microphone.is_default else microphone.device}


def _network_stream() -> dict[str, Any]:
    from ssdpt.monitor.sources.network_source import STREAM_SCHEMES

    def wrong(address: str) -> str:
        scheme, separator, host = address.partition("://")
        known = separator and host and scheme in STREAM_SCHEMES
        return "" if known else f"an address begins with {'://, '.join(STREAM_SCHEMES[:4])}:// …"

    return {"kind": "network", "url": _ask("   Address of the stream, as rtsp://…", None, wrong)}


def _ask(
    question: str, default: str | None, wrong: Callable[[str], str] = lambda answer: ""
) -> str:
    """Ask until the answer is right; `wrong` gives what is wrong with it, empty for nothing."""
    while True:
        # Without a default, Enter alone is an answer too: the person is told what is wrong with it.
        shown = default is not None
        answer: str = typer.prompt(question, default=default or "", show_default=shown).strip()
        reason = wrong(answer)
        if not reason:
            return answer
        STDOUT.print(f"   {reason}", markup=False)
