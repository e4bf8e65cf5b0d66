"""What the benchmarks share: options, settings, and how results are printed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdpt.cli.console import STDOUT

if TYPE_CHECKING:
    from ssdpt.config.tree import Config

Seconds = Annotated[float, typer.Option(help="Seconds spent on every row.")]
Preset = Annotated[str, typer.Option(help="paper, fast, tiny, or a YAML file.")]
Machines = Annotated[
    list[str] | None, typer.Option("--machine", help="Only this machine (may be repeated).")
]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="Any setting: ssdpt.training.epochs=5.")
]


def print_result(result: dict[str, Any], as_json: bool) -> None:
    """As lines of names and values, or as JSON."""
    if as_json:
        STDOUT.print(json.dumps(result, indent=2), markup=False)
        return
    for line in _lines(result, ""):
        STDOUT.print(line, markup=False)


def _lines(tree: dict[str, Any], indent: str) -> list[str]:
    lines = []
    for name, value in tree.items():
        if isinstance(value, dict):
            lines += [f"{indent}{name}", *_lines(value, indent + "  ")]
        else:
            shown = f"{value:.4g}" if isinstance(value, float) else str(value)
            lines.append(f"{indent}{name}  {shown}")
    return lines


def bench_config(
    preset: str,
    set_: list[str] | None,
    *,
    defaults: Mapping[str, Any] = {},
    fixed: Mapping[str, Any] = {},
) -> Config:
    """A preset with `defaults`, then the settings of --set, then `fixed` ones."""
    from ssdpt.config.tree import load_config, parse_override

    overrides = dict(parse_override(text) for text in set_ or [])
    return load_config(preset, {**defaults, **overrides, **fixed})


def share_text(value: float | None) -> str:
    """A share for a table; a dash where there is none."""
    return "–" if value is None else f"{100 * value:.1f} %"
