"""Writes the generated pages of docs/reference: `python docs/generate.py` (or `make docs`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer.main
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ssdpt.cli import app
from ssdpt.config.tree import config_type, load_config, preset_names
from ssdpt.help import topics

FOLDER = Path(__file__).parent / "reference"
_COMMON = ("--quiet", "--verbose", "--version", "--help")

_SETTINGS = """\
# Settings of models

One tree, `ssdpt.config.tree.Config`. Start from a preset (`--preset fast`), a YAML file of your own
(`--preset mine.yaml`, holding only what it changes), or change single settings
(`--set ssdpt.training.epochs=5`). In Python: `load_config("fast", {"ssdpt.training.epochs": 5})`.
A name that does not exist is an error. The defaults are the paper's.

Three environment variables belong to the machine rather than to the model: `SSDPT_CACHE` is the
folder for cached log-mels (default `~/.cache/ssdpt/features`), `SSDPT_CACHE_GB` the size at which
the least recently used are dropped (default 20). `SSDPT_NATIVE=0` keeps the network on torch's own
operations where a C compiler (`CC`, else `cc`) would make faster ones for the CPU.
"""

_COMMAND_LINE = """\
# Commands

`--quiet`, `--verbose`, `--version` and `--help` work with every command. Results go to standard
output; progress, remarks and errors to standard error. Exit codes: 0 done (for `score`: all
normal), 1 for `score`: something above its threshold, 2 an error, 130 interrupted.
"""


def settings_page() -> str:
    """Every setting with its default and meaning, by part, and what each preset changes."""
    rows = list(_settings(config_type(), ()))
    parts: dict[str, list[str]] = {}
    for name, field, default in rows:
        part = name.partition(".")[0] if "." in name else "The whole tree"
        parts.setdefault(part, []).append(f"| `{name}` | {_value(default)} | {_meaning(field)} |")
    lines = [_SETTINGS]
    for part, table in parts.items():
        lines += [f"## {part}", "", "| setting | default | meaning |", "| --- | --- | --- |"]
        lines += [*table, ""]
    lines += ["## Presets", "", "What each changes:", ""]
    for preset in preset_names():
        values = _flat(load_config(preset))
        changed = [
            f"`{name}` {_value(values[name])}"
            for name, _, default in rows
            if values[name] != default and name != "preset"
        ]
        lines.append(f"- **{preset}**: {', '.join(changed) or 'nothing, it is the default'}.")
    return "\n".join([*lines, ""])


def commands_page() -> str:
    """Every command with its arguments and options."""
    commands = _commands(typer.main.get_command(app), ("ssdpt",))
    return "\n\n".join([_COMMAND_LINE.rstrip(), *commands]) + "\n"


def help_page() -> str:
    """The topics of `ssdpt help`, as the package has them."""
    lines = [
        "# Help topics and errors",
        "",
        "What `ssdpt help TOPIC` prints. Below an error the command line names its topic.",
        "In the tables “…” stands for what varies.",
    ]
    for topic in topics().values():
        lines += ["", f"## {topic.name}", "", f"**{topic.title}**", "", topic.text, ""]
        lines += ["| the sentence says | what to do |", "| --- | --- |"]
        for error in topic.errors:
            said = ", ".join(f"`{part}`" for part in error.parts)
            lines.append(f"| {said} | {error.advice} |")
    return "\n".join([*lines, ""])


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "commands.md": commands_page,
    "help.md": help_page,
}


def _settings(
    model: type[BaseModel], path: tuple[str, ...]
) -> Iterator[tuple[str, FieldInfo, Any]]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _settings(kind, (*path, name))
        else:
            yield ".".join((*path, name)), _described(model, name, field), field.default


def _described(model: type[BaseModel], name: str, field: FieldInfo) -> FieldInfo:
    """A field that only changes a default takes its description from the class it comes from."""
    for owner in model.__mro__:
        fields: dict[str, FieldInfo] = getattr(owner, "model_fields", {})
        if name in fields and fields[name].description:
            return fields[name]
    return field


def _meaning(field: FieldInfo) -> str:
    meaning = _joined(field.description or "").replace("|", "\\|")
    if get_origin(field.annotation) is Literal:
        meaning += f" ({', '.join(map(_value, get_args(field.annotation)))})"
    return meaning


def _flat(config: BaseModel, path: tuple[str, ...] = ()) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in type(config).model_fields:
        value = getattr(config, name)
        if isinstance(value, BaseModel):
            values |= _flat(value, (*path, name))
        else:
            values[".".join((*path, name))] = value
    return values


def _value(value: Any) -> str:
    if value is None:
        return "not set"
    if value == "":
        return "empty"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    children = getattr(command, "commands", None)
    if children:
        for name, child in children.items():
            yield from _commands(child, (*path, name))
        return
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    shown = [f"{p.name.upper()}{'…' if p.nargs == -1 else ''}" for p in arguments]
    lines = [f"## `{' '.join([*path, *shown])}`", "", _joined(command.help or ""), ""]
    lines += [f"- `{p.name.upper()}`: {_joined(p.help or '')}" for p in arguments]
    for option in options:
        if option.opts[0] in _COMMON:
            continue
        names = ", ".join(f"`{name}`" for name in option.opts)
        default = option.default
        silent = option.required or default is None or default is False or default == ""
        default_text = "" if silent else f" Default: `{default}`."
        lines.append(
            f"- {names}: {_joined(option.help or '')}{default_text}"
            + " Required." * option.required
        )
    yield "\n".join(lines)


def _joined(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), "utf-8")
