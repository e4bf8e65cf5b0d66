"""Writes the generated parts of docs/api.md: `python docs/generate.py` (or `make docs`).

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer.main
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import ssdpt
from ssdpt.cli import app
from ssdpt.common.progress import Reporter
from ssdpt.config.tree import config_type, load_config, preset_names
from ssdpt.detection.frame_scorer import FrameScorer
from ssdpt.errors import SsdptError
from ssdpt.types import Clip, Recording, Score, Timeline

PAGE = Path(__file__).with_name("api.md")
_LINE = 96
_COMMON = ("--quiet", "--verbose", "--version", "--help")


def python_part() -> str:
    """The public names with their signatures and docstrings."""
    blocks = [_function("ssdpt.load", ssdpt.load)]
    for owner in (ssdpt.Detector, ssdpt.Fleet, FrameScorer):
        blocks += [f"### {owner.__name__}", inspect.getdoc(owner) or ""]
        for name, member in _members(owner):
            blocks.append(_member(owner.__name__, name, member))
    for record in (Clip, Score, Timeline, Recording):
        blocks += [f"### {record.__name__}", inspect.getdoc(record) or "", _fields(record)]
    blocks += [f"### {SsdptError.__name__}", inspect.getdoc(SsdptError) or ""]
    blocks.append(_function("ssdpt.config.tree.load_config", load_config))
    return "\n\n".join(blocks)


def settings_part() -> str:
    """Every setting with its default and meaning, and what each preset makes of it."""
    presets = {name: _flat(load_config(name)) for name in preset_names()}
    lines = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for name, field, default in _settings(config_type(), ()):
        lines.append(f"| `{name}` | {_value(default)} | {_meaning(field)} |")
    lines += ["", "What the presets change:", ""]
    for preset, values in presets.items():
        changed = [
            f"`{name}` {_value(values[name])}"
            for name, _, default in _settings(config_type(), ())
            if values[name] != default and name != "preset"
        ]
        lines.append(f"- **{preset}**: {', '.join(changed) or 'nothing, it is the default'}.")
    return "\n".join(lines)


def command_part() -> str:
    """Every command with its arguments and options."""
    return "\n\n".join(_commands(typer.main.get_command(app), ("ssdpt",)))


PARTS: dict[str, Callable[[], str]] = {
    "python": python_part,
    "settings": settings_part,
    "commands": command_part,
}


def generate(page: str) -> str:
    """The page with every generated part as it should be now."""
    for name, make in PARTS.items():
        begin, end = f"<!-- generated: {name} -->\n", "<!-- end -->"
        if page.count(begin) != 1:
            raise SystemExit(f"{PAGE.name}: the part {name} must be marked exactly once")
        head, tail = page.split(begin)
        page = f"{head}{begin}{make()}\n{end}{tail.partition(end)[2]}"
    return page


def _members(owner: type) -> Iterator[tuple[str, Any]]:
    """What a class offers: its own, then what it has from bases of ours."""
    seen: set[str] = set()
    for base in owner.__mro__:
        if base.__module__.startswith("ssdpt."):
            for name, member in vars(base).items():
                if not name.startswith("_") and name not in seen:
                    seen.add(name)
                    yield name, member


def _member(owner: str, name: str, member: Any) -> str:
    if isinstance(member, property | cached_property):
        getter = member.fget if isinstance(member, property) else member.func
        returns = inspect.signature(getter).return_annotation if getter else ""
        description = inspect.getdoc(member)
        text = f"#### `{owner.lower()}.{name}` → `{returns}`"
        return f"{text}\n\n{description}" if description else text
    head = owner if isinstance(member, classmethod) else owner.lower()
    return _function(f"{head}.{name}", getattr(member, "__func__", member))


def _function(title: str, function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    parts: list[str] = []
    for name, parameter in signature.parameters.items():
        if name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = parameter.default
        # An object has no short form of its own; its name in the source is one.
        value = "SILENT" if isinstance(default, Reporter) else repr(default)
        tail = "" if default is parameter.empty else f" = {value}"
        parts.append(f"{name}: {parameter.annotation}{tail}")
    call = f"{title}({', '.join(parts)}) -> {signature.return_annotation}"
    if len(call) > _LINE:
        call = f"{title}(\n    " + ",\n    ".join(parts) + f",\n) -> {signature.return_annotation}"
    return f"#### `{title}`\n\n```text\n{call}\n```\n\n{inspect.getdoc(function) or ''}"


def _fields(record: type) -> str:
    """The fields of a dataclass; a comment beside one in the source is its description."""
    lines = []
    for line in inspect.getsource(record).splitlines():
        if match := re.fullmatch(r"    (\w+): ([^=#]+?)(?: = [^#]+?)?(?:  # (.*))?", line):
            name, kind, comment = match.groups()
            lines.append(f"- `.{name}`: `{kind.strip()}`" + (f", {comment}" if comment else ""))
    for name, member in vars(record).items():
        if isinstance(member, property):
            lines.append(f"- `.{name}`: {_joined(inspect.getdoc(member) or '')}")
    return "\n".join(lines)


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
        meaning += f" ({', '.join(f'`{choice}`' for choice in get_args(field.annotation))})"
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
    lines = [f"#### `{' '.join([*path, *shown])}`", "", _joined(command.help or ""), ""]
    lines += [f"- `{p.name.upper()}`: {_joined(p.help or '')}" for p in arguments]
    for option in options:
        if option.opts[0] in _COMMON:
            continue
        names = ", ".join(f"`{name}`" for name in option.opts)
        default = option.default
        silent = option.required or default is None or default is False
        default_text = "" if silent else f" Default: `{default}`."
        lines.append(
            f"- {names}: {_joined(option.help or '')}{default_text}"
            + " Required." * option.required
        )
    yield "\n".join(lines)


def _joined(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    PAGE.write_text(generate(PAGE.read_text("utf-8")), "utf-8")
