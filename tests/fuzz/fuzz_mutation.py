"""Mutations of documents: JSON or YAML stays readable, and its values become strange."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

from ssdpt.config.validation import read_yaml
from ssdpt.errors import SsdptError

STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e-300, 1e308),
    *(
        float("inf"),
        float("-inf"),
        float("nan"),
        "",
        " ",
        "0",
        "-1",
        "1e999",
        "null",
        "\x00",
        "...",
    ),
    *("../../outside", "/etc/passwd", "a" * 300, "\x1b[31mred", "two\nlines", "\u2028", "\ud800"),
    *("<b>bold</b>", "%s%n", "{{ 1 }}", "2026-01-31", "1:2:3", "٣", "ｆａｎ", "e\u0301"),
    *([], {}, [[]], [None], {"": ""}, [0] * 50, [[[[[[]]]]]], {"a": {"a": {"a": {}}}}),
)
_MOST_CHANGES = 4


def mutate_document(data: bytes, longest: int, seed: int) -> bytes | None:
    """A changed document; None where `data` is none, or would become too long."""
    try:
        tree = read_yaml(data.decode("utf-8"), "")
    except (UnicodeDecodeError, SsdptError):
        return None
    if not isinstance(tree, dict | list):
        return None
    chance = random.Random(seed)
    for _ in range(chance.randint(1, _MOST_CHANGES)):
        chance.choice(_CHANGES)(tree, chance)
    text = json.dumps(tree, ensure_ascii=chance.random() < 0.5, default=str, skipkeys=True)
    changed = text.encode("utf-8", "replace")
    return changed if len(changed) <= longest else None


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every holder with a key or number in it."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting and len(found) < 2000:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
    return found


def _replace(tree: Any, chance: random.Random) -> None:
    if places := _places(tree):
        holder, key = chance.choice(places)
        holder[key] = copy.deepcopy(chance.choice(STRANGE))


def _remove(tree: Any, chance: random.Random) -> None:
    if places := _places(tree):
        holder, key = chance.choice(places)
        del holder[key]


def _repeat(tree: Any, chance: random.Random) -> None:
    """A value of another place."""
    if places := _places(tree):
        (holder, key), (other, there) = chance.choice(places), chance.choice(places)
        holder[key] = copy.deepcopy(other[there])


def _rename(tree: Any, chance: random.Random) -> None:
    holders = [(holder, key) for holder, key in _places(tree) if isinstance(holder, dict)]
    if holders:
        holder, key = chance.choice(holders)
        names = [str(name) for _, name in holders]
        strange = [one for one in STRANGE if isinstance(one, str)]
        holder[chance.choice([*names, *strange])] = holder.pop(key)


def _scale(tree: Any, chance: random.Random) -> None:
    numbers = [
        (holder, key)
        for holder, key in _places(tree)
        if isinstance(holder[key], int | float) and not isinstance(holder[key], bool)
    ]
    if numbers:
        holder, key = chance.choice(numbers)
        factor = chance.choice((-1, 2, 0.5, 10, 1000, 1e6, 1e12, 1e-9))
        holder[key] = type(holder[key])(holder[key] * factor) if abs(holder[key]) < 1e12 else 0


def _grow(tree: Any, chance: random.Random) -> None:
    lists = [
        holder[key]
        for holder, key in _places(tree)
        if isinstance(holder[key], list) and holder[key] and len(holder[key]) < 500
    ]
    if lists:
        one = chance.choice(lists)
        one += copy.deepcopy(one[: chance.choice((1, len(one)))])


_CHANGES: tuple[Callable[[Any, random.Random], None], ...] = (
    *(_replace, _replace, _remove, _repeat, _rename, _scale, _grow),
)
