"""Help topics: every error has one, every topic is named by an error, and what they say is true."""

from __future__ import annotations

import ast
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from typer.testing import CliRunner

from ssdpt.cli import app
from ssdpt.help import Topic, topic_of, topics
from ssdpt.monitor.config import MonitorConfig
from ssdpt.sentences.catalogue import PLACEHOLDER, template, templates

SOURCE = Path(__file__).parents[1] / "src"
ERRORS = {"SsdptError", "AudioError", "StoreUnavailable", "UnknownNote"}
TOPICS = [pytest.param(topic, id=topic.name) for topic in topics().values()]


def _literal(node: ast.expr) -> str:
    """A message as written, with … for every value in it; empty if it is made elsewhere."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_literal(v) if isinstance(v, ast.Constant) else "…" for v in node.values)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "Sentence":
        code = ast.literal_eval(node.args[0])
        # Those in common only join others.
        return "" if code.startswith("common.") else PLACEHOLDER.sub("…", template(code, count=2))
    return ""


@cache
def _nodes() -> list[ast.AST]:
    files = sorted(SOURCE.rglob("*.py"))
    return [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]


def _error_sentences() -> Iterator[str]:
    for node in _nodes():
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ERRORS
            and node.args
            and (sentence := _literal(node.args[-1]))
        ):
            yield sentence


def _commands(topic: Topic) -> Iterator[str]:
    """Commands of a topic: in blocks, where columns of explanation follow, and in backquotes."""
    advice = " ".join(error.advice for error in topic.errors)
    for command in re.findall(r"^ {4}(ssdpt .+)$", topic.text, re.MULTILINE):
        yield re.split(r"\s{2,}(?!-)", command)[0]
    yield from re.findall(r"`(ssdpt [^`]+)`", " ".join(f"{topic.text} {advice}".split()))


def test_every_error_sentence_has_a_topic() -> None:
    sentences = set(_error_sentences())
    assert len(sentences) > 300
    without = [sentence for sentence in sorted(sentences) if topic_of(sentence) is None]
    assert without == [], "add these to a topic in src/ssdpt/help"


def test_topics_list_no_error_that_cannot_come() -> None:
    strings = [_literal(n) for n in _nodes() if isinstance(n, ast.Constant | ast.JoinedStr)]
    strings += [PLACEHOLDER.sub("…", text) for text in templates().values()]
    said = "\n".join(strings)
    parts = [part for topic in topics().values() for error in topic.errors for part in error.parts]
    assert [part for part in parts if part not in said] == []
    assert [part for part, count in Counter(parts).items() if count > 1] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_short_and_explains_an_error(topic: Topic) -> None:
    assert topic.errors
    assert 5 <= len(topic.text.splitlines()) <= 25
    file = SOURCE / "ssdpt" / "help" / f"{topic.name}.md"
    assert max(map(len, file.read_text("utf-8").splitlines())) <= 100


@pytest.mark.parametrize("topic", TOPICS)
def test_commands_of_a_topic_exist(topic: Topic) -> None:
    for text in _commands(topic):
        here: Any = typer.main.get_command(app)
        words = shlex.split(text)[1:]
        if words[0] == "help" and words[1:]:
            assert words[1] in {"TOPIC", *topics()}, text
        while hasattr(here, "commands") and words and not words[0].startswith("-"):
            assert words[0] in here.commands, text
            here = here.commands[words.pop(0)]
        options = {"--help"} | {option for parameter in here.params for option in parameter.opts}
        asked = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert asked <= options, text


def test_configurations_of_topics_are_valid() -> None:
    configuration = _block("configuration", "name:")
    machine = {"id": "pump-1"}
    sources = [yaml.safe_load(line) for line in _block("sources", "{kind").splitlines()]
    assert len(sources) == 7
    MonitorConfig.model_validate(yaml.safe_load(configuration))
    for source in sources:
        sensor = {"snapshots": source["kind"] == "mqtt"}
        MonitorConfig.model_validate(
            {"machines": [{**machine, "source": source, "sensor": sensor}]}
        )
    MonitorConfig.model_validate(yaml.safe_load(_block("outputs", "outputs:")))
    data = yaml.safe_load(_block("diagnosis", "machine_data:"))
    MonitorConfig.model_validate({"machines": [{**machine, "source": {"kind": "pushed"}, **data}]})


def test_the_longest_part_decides() -> None:
    assert topic_of("pump: its model cannot be used: model: damaged; copy it again") == (
        "configuration"
    )
    assert topic_of("nothing that any topic knows") is None


def test_help_lists_and_prints_topics() -> None:
    listed = CliRunner().invoke(app, ["help"]).output
    assert [line.split()[0] for line in listed.splitlines()[: len(topics())]] == [*topics()]
    printed = CliRunner().invoke(app, ["help", "thresholds"]).output
    assert printed.startswith("Thresholds and false alarms\n")
    assert "    ssdpt threshold model --false-alarm-rate 0.01\n" in printed
    assert "-> 0.01 means one in a hundred" in printed
    assert "Usage: ssdpt fit" in CliRunner().invoke(app, ["help", "fit"]).output


def test_help_finds_topics_by_a_word() -> None:
    result = CliRunner().invoke(app, ["help", "microphone"])
    assert result.exit_code == 2
    assert "no help topic 'microphone'; these speak of it: recording" in result.output
    assert "choose one of baselines" in CliRunner().invoke(app, ["help", "xyzzy"]).output


def test_an_error_names_its_topic(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent")
    result = CliRunner().invoke(app, ["info", absent])
    assert result.stderr.splitlines() == [
        f"error: {absent}: no such model",
        "more: ssdpt help models",
    ]
    assert "more:" not in CliRunner().invoke(app, ["--quiet", "info", absent]).stderr
    again = CliRunner().invoke(app, ["datasets", "inspect", absent])
    assert "more: ssdpt help folders" in again.stderr


def _block(name: str, start: str) -> str:
    """The indented block of a topic that begins so."""
    blocks = re.findall(r"(?:^ {4}.*\n?)+", topics()[name].text, re.MULTILINE)
    (block,) = [block for block in blocks if block.lstrip().startswith(start)]
    return re.sub(r"^ {4}", "", str(block), flags=re.MULTILINE)
