"""Runs the blocks of a page in their order, in the current folder.

`sh`: a line that begins with `ssdpt` runs in this process, any other in a shell. `python`: all
blocks of a page share their names. A block with `title="NAME"` is written to that file instead.
`yaml` and `json` are parsed: YAML by the first class of settings that has its keys. A `text` block
after an `sh` block is what the command prints; it is compared where outputs are asked for.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from page_blocks import Block, blocks_of, name_of
from pydantic import BaseModel
from typer.testing import CliRunner

from ssdpt.cli import app
from ssdpt.config.encoder import EncoderSidecar
from ssdpt.config.tree import parse_config
from ssdpt.config.validation import checked
from ssdpt.data.sensor import Sensor
from ssdpt.monitor.config import MachineSettings, MonitorConfig

# YAML without a title is settings of this program, YAML with another title is not.
SETTINGS_FILES = {"", "monitor.yaml", "sensor.yaml", "encoder.yaml"}
MAY_SAY_NO = {"score", "doctor"}  # 1 is their answer to an unusual clip, to a lack
SETTINGS: tuple[type[BaseModel], ...] = (MonitorConfig, MachineSettings, Sensor, EncoderSidecar)
SECONDS = 120
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
_SHELL = re.compile(r"[|<>;&$`*]")


def run_page(
    page: Path, replacements: Mapping[str, str], typed: str = "", *, outputs: bool = False
) -> int:
    """Run all blocks of `page` and return how many ran; what fails names page and line.

    `replacements`: what is replaced in code, such as an address by that of a stand-in. `typed`:
    what a person types at the questions of a command. `outputs`: commands print what the page says.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    ran, printed = 0, ""
    for block in blocks_of(page):
        if block.reason:
            continue
        code = block.code
        for old, new in replacements.items():
            code = code.replace(old, new)
        where = f"{name_of(page)}, line {block.line}"
        try:
            if block.language == "sh":
                printed = run_shell(code, typed)
                ran += 1
            elif block.language == "text" and outputs:
                check_output(code, printed)
            else:
                ran += _run(block, code, names)
        except (Exception, SystemExit) as error:
            raise AssertionError(f"{where}: {error}\n{block.code}") from error
    return ran


def _run(block: Block, code: str, names: dict[str, Any]) -> bool:
    if block.title:
        path = Path(block.title)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, "utf-8")
    if block.language == "python":
        compiled = compile(code, block.title or "page.py", "exec")
        if not block.title:
            exec(compiled, names)
    elif block.language == "yaml":
        content = yaml.safe_load(code)
        if block.title in SETTINGS_FILES:
            check_yaml(content)
    elif block.language == "json":
        json.loads(code)
    elif block.language == "toml":
        tomllib.loads(code)
    else:
        return False
    return True


def check_output(shown: str, printed: str) -> None:
    """Every line that is shown was printed, in this order; last digits may differ."""
    lines = iter(printed.splitlines())
    for line in shown.splitlines():
        if line.strip() != "…" and not any(_same(line, other) for other in lines):
            raise AssertionError(f"not printed, or not in this order: {line}\n{printed}")


def _same(line: str, other: str) -> bool:
    """The same words and spaces, and numbers that are the same but for the processor."""
    words, others = _NUMBER.split(line), _NUMBER.split(other)
    return words == others and all(
        math.isclose(float(a), float(b), rel_tol=0.02, abs_tol=1e-4)
        for a, b in zip(_NUMBER.findall(line), _NUMBER.findall(other), strict=True)
    )


def run_shell(code: str, typed: str = "") -> str:
    """Run the lines of a block; what they print."""
    printed = []
    for line in re.sub(r"\\\n\s*", " ", code).splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] == "cd" and len(words) == 2:
            os.chdir(words[1])
        elif words[0] == "ssdpt" and not any(map(_SHELL.search, words)):
            printed.append(_run_command(words[1:], typed))
        else:
            printed.append(_run_process(line, typed))
    return "\n".join(printed)


def _run_command(arguments: list[str], typed: str) -> str:
    result = CliRunner().invoke(app, arguments, input=typed)
    fine = {0, 1} if arguments and arguments[0] in MAY_SAY_NO else {0}
    raised = result.exception is not None and not isinstance(result.exception, SystemExit)
    if raised or result.exit_code not in fine:
        raise AssertionError(f"exit code {result.exit_code}\n{result.output}") from result.exception
    return result.output


def _run_process(line: str, typed: str) -> str:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-ec", line],
        input=typed,
        env={**os.environ, "PATH": programs},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    # 28: curl has stopped at the time that it was given, as at a stream without an end.
    if done.returncode not in ({0, 28} if "--max-time" in line else {0}):
        raise AssertionError(f"exit code {done.returncode}: {line}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def check_yaml(content: Any) -> None:
    """Settings of the program: of the class that has all their keys."""
    if isinstance(content, list):
        for machine in content:
            checked(MachineSettings, machine, "the page")
        return
    keys = set(content)
    for kind in SETTINGS:
        if keys <= set(kind.model_fields):
            if kind is MachineSettings:
                content = {"id": "m", "source": {"kind": "pushed"}, **content}
            checked(kind, content, "the page")
            return
    parse_config(content, "the page")
