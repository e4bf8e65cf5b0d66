"""Everything that the service says has a code, and every code has a text in every language."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ssdpt.sentences.catalogue import PLACEHOLDER, templates

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "ssdpt"
LANGUAGES = ROOT / "web" / "src" / "i18n"

# What people see on the page comes from these packages.
SPEAKING = ("alarms", "diagnosis", "monitor", "server")
# Exceptions and functions whose texts reach people.
SAY = {
    *("SsdptError", "StoreUnavailable", "HTTPException", "error_reply", "ValueError"),
    *("SourceLost", "Unusable", "UnusableSnapshot", "ImplausibleValue", "TryAgain", "Refused"),
    *("note", "failure", "submit", "end", "_set_healthy", "_set_unhealthy", "_give_up"),
}
SAID_BY_NAME = {"message", "problem", "reason"}
# Modules that speak to whoever starts the service or runs a command, before there is a page.
BEFORE_THE_PAGE = {
    "monitor/first_config.py",
    "monitor/service/check.py",
    "monitor/store/attachments.py",
    "monitor/store/backup.py",
    "monitor/store/engine.py",
    "monitor/store/learned_models.py",
    "monitor/store/lock.py",
    "monitor/store/restored_files.py",
    "monitor/store/restored_rows.py",
    "monitor/store/schema.py",
    "monitor/store/upgrades.py",
    "server/run.py",
    "server/run_service.py",
    "server/settings.py",
    "server/tls.py",
}


def trees(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    for folder in folders:
        for path in sorted((SOURCE / folder).rglob("*.py")):
            yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text("utf-8"))


def name_of(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def values_of(code: str) -> set[str]:
    """The values that the text of a code names."""
    forms = [f"{code}_one", f"{code}_other"]
    texts = [templates()[name] for name in [code, *forms] if name in templates()]
    plural = {"count"} if forms[0] in templates() else set()
    return plural | {name for text in texts for name in PLACEHOLDER.findall(text)}


def base(code: str) -> str:
    return code.removesuffix("_one").removesuffix("_other")


USED = [
    (f"{module}:{call.lineno}", call)
    for module, tree in trees("")
    for call in calls(tree)
    if name_of(call) == "Sentence" and module != "sentences/sentence.py"
]


def test_every_sentence_is_in_the_catalogue_with_its_values():
    wrong = []
    for place, call in USED:
        code = call.args[0]
        if not isinstance(code, ast.Constant) or not values_of(str(code.value)) <= {
            keyword.arg for keyword in call.keywords
        }:
            wrong.append(place)
        elif base(str(code.value)) not in {base(known) for known in templates()}:
            wrong.append(f"{place} {code.value}")
    assert wrong == []


def test_every_text_of_the_catalogue_is_used():
    used = {str(call.args[0].value) for _, call in USED if isinstance(call.args[0], ast.Constant)}
    used |= {"common.clauses", "common.text"}  # of `clauses`
    assert {base(code) for code in templates()} - used == set()


def is_text(node: ast.expr) -> bool:
    """A sentence that is written at its place, without a code."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and " " in node.value
    if isinstance(node, ast.BinOp):
        return is_text(node.left) or is_text(node.right)
    return isinstance(node, ast.JoinedStr)


@pytest.mark.parametrize("folder", SPEAKING)
def test_nothing_is_said_without_a_code(folder):
    without = [
        f"{module}:{call.lineno}"
        for module, tree in trees(folder)
        if module not in BEFORE_THE_PAGE
        for call in calls(tree)
        if (name_of(call) in SAY and any(map(is_text, call.args)))
        or any(word.arg in SAID_BY_NAME and is_text(word.value) for word in call.keywords)
    ]
    assert without == []


def test_modules_that_need_no_codes_exist():
    assert [module for module in BEFORE_THE_PAGE if not (SOURCE / module).is_file()] == []


def flat(texts: dict[str, dict[str, str]]) -> dict[str, str]:
    return {f"{area}.{key}": text for area, part in texts.items() for key, text in part.items()}


@pytest.mark.parametrize("language", ["de", "es", "ja"])
def test_every_sentence_is_translated_with_its_values(language):
    content = (LANGUAGES / language / "sentences.json").read_text("utf-8")
    translated = flat(json.loads(content))
    assert {base(code) for code in translated} == {base(code) for code in templates()}
    for code, text in translated.items():
        assert text, code
        assert set(PLACEHOLDER.findall(text)) | {"count"} == values_of(base(code)) | {"count"}, code


def test_no_text_is_written_twice():
    """Two codes for one text would be translated twice, and might differ."""
    twice = [text for text, number in Counter(templates().values()).items() if number > 1]
    assert twice == []
