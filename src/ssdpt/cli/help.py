"""ssdpt help: a topic, and the errors that it explains."""

from __future__ import annotations

from typing import Annotated

import typer

from ssdpt.cli.command import command
from ssdpt.cli.completion import topic_names
from ssdpt.cli.console import STDOUT
from ssdpt.errors import SsdptError


def register(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "help")(help_)


def help_(
    context: typer.Context,
    topic: Annotated[
        str | None,
        typer.Argument(
            help="A topic or a command; without it all topics are listed.",
            autocompletion=topic_names,
        ),
    ] = None,
) -> None:
    """Explain a topic: recording, thresholds, export, … Errors name theirs."""
    from ssdpt.help import topics

    if topic is None:
        width = max(map(len, topics()))
        for one in topics().values():
            STDOUT.print(f"{one.name:<{width}}  {one.title}", markup=False)
        STDOUT.print("\nssdpt help TOPIC prints one; for a command: ssdpt COMMAND --help")
    elif topic in topics():
        _show(topic)
    elif _shown_command(context, topic):
        pass
    else:
        raise SsdptError(f"there is no help topic '{topic}'; {_suggestion(topic)}")


def _show(name: str) -> None:
    from ssdpt.help import topics

    topic = topics()[name]
    STDOUT.print(topic.title, style="bold", markup=False)
    STDOUT.print(f"\n{topic.text}", markup=False)
    STDOUT.print("\nErrors, … stands for what varies", style="bold", markup=False)
    for error in topic.errors:
        STDOUT.print()
        for part in error.parts:
            STDOUT.print(f"  {part}", markup=False)
        STDOUT.print(f"    -> {error.advice}", markup=False)


def _shown_command(context: typer.Context, name: str) -> bool:
    """Print the help of a command; False if there is none of this name."""
    group = context.find_root()
    found = getattr(group.command, "commands", {}).get(name)
    if found is None:
        return False
    with typer.Context(found, info_name=name, parent=group) as inner:
        found.get_help(inner)
    return True


def _suggestion(word: str) -> str:
    from ssdpt.help import topics

    word = word.lower()
    titles = [one.name for one in topics().values() if word in one.title.lower()]
    texts = [one.name for one in topics().values() if word in one.text.lower()]
    if titles or texts:
        return f"these speak of it: {', '.join(titles or texts)}"
    return f"choose one of {', '.join(topics())}"
