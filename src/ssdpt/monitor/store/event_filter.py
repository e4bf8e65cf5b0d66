"""Which events are asked for, as conditions of a query that both databases understand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from sqlalchemy import ColumnElement, and_, case, exists, or_

from ssdpt.monitor.store.base import storable
from ssdpt.monitor.store.tables import comments, events, machines

_MOST_WORDS = 8  # of a search; the others are ignored

# The fault that a person has named, or else the one that was recognised; '' where there is none.
FAULT: ColumnElement[str] = case(
    (events.c.fault != "", events.c.fault),
    (events.c.looks_like_rejected, ""),
    else_=events.c.looks_like,
)


class EventConditions(TypedDict, total=False):
    """Every condition that is given must hold; None is none."""

    machine: str | None
    open_only: bool  # not cleared
    kind: str | None
    level: str | None
    label: str | None  # "": without a label
    fault: str | None  # named or recognised; "": neither
    text: str  # each of its words occurs in what is written about the event
    machines_named: Mapping[str, str]  # names of machines by id, for `text`
    begin: float | None  # with `end`: overlaps this time range
    end: float | None
    before: float | None  # began earlier


def matching(conditions: EventConditions) -> list[ColumnElement[bool]]:
    """For rows of events that are joined with their machines."""
    column, wanted = events.c, conditions.get
    given: list[ColumnElement[bool]] = []
    if (machine := wanted("machine")) is not None:
        given.append(machines.c.name == machine)
    if wanted("open_only"):
        given.append(or_(column.acknowledged_at.is_(None), column.ended.is_(None)))
    for name in ("kind", "level", "label"):
        if (value := wanted(name)) is not None:
            given.append(column[name] == value)
    fault = conditions.get("fault")
    if fault is not None:
        given.append(FAULT.is_not_distinct_from(storable(fault)))
    if (begin := wanted("begin")) is not None:
        given.append(or_(column.ended.is_(None), column.ended >= begin))
    if (end := wanted("end")) is not None:
        given.append(column.began < end)
    if (before := wanted("before")) is not None:
        given.append(column.began < before)
    words = storable(conditions.get("text", "")).split()[:_MOST_WORDS]
    names = conditions.get("machines_named", {})
    return given + [_mentions(word, names) for word in words]


def _mentions(word: str, names: Mapping[str, str]) -> ColumnElement[bool]:
    column = events.c
    named = [id for id, name in names.items() if word.casefold() in name.casefold()]
    written = [
        *(machines.c.name, column.message, column.cause, column.work_order),
        *(FAULT, column.acknowledged_by),
    ]
    commented = exists().where(and_(comments.c.event == column.id, _has(comments.c.text, word)))
    return or_(machines.c.name.in_(named), commented, *(_has(each, word) for each in written))


def _has(column: ColumnElement[Any], word: str) -> ColumnElement[bool]:
    """Whether a text contains a word, in capitals or not; % and _ stand for themselves."""
    # SQLite knows the capitals of ASCII only.
    forms = {word} if word.isascii() else {word, word.lower(), word.upper(), word.capitalize()}
    return or_(*(column.icontains(form, autoescape=True) for form in sorted(forms)))
