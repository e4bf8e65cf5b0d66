"""Checks settings that a person has written, and says what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, TypeGuard, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ssdpt.config.kinds import KindSettings
from ssdpt.errors import SsdptError

# What is wrong with a value, by pydantic's name of the mistake.
_WRONG = {
    "missing": "is missing",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must name at least {min_length}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "has characters that are not allowed",
    "finite_number": "must be a finite number",
    "extra_forbidden": "is not known",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    "string_type": "must be text; put it in quotes",
    "invalid_key": "names must be text; put it in quotes",
    "path_type": "must be a path",
    "tuple_type": "must be a list, with - before each part",
    **dict.fromkeys(("model_type", "model_attributes_type"), "must be lines of `name: value`"),
}
_MOST_MISTAKES = 5  # that are named at once

# What libyaml says, what a person has most likely done, and whether libyaml notices it late: then
# the line where it began is named.
_YAML = (
    ("'\\t'", "a tab; indent with spaces", False),
    ("<block end>", "does not line up with what is above it; look at the indentation", False),
    ("mapping values", "a second `:`; look at the indentation, or put the value in quotes", False),
    ("end of stream", "a quote is not closed", True),
    ("stream end", "a bracket is not closed", True),
    ("expected ':'", "a `:` is missing; look at the indentation", True),
)

_Expected = TypeVar("_Expected", bound=BaseModel)


def read_yaml(text: str, where: str) -> Any:
    """What a text says; SsdptError names the line that is no YAML."""
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        problem, mark = error.problem or "no YAML", error.problem_mark
        reason = f"{problem}; look at the indentation"
        for theirs, ours, late in _YAML:
            if theirs in problem:
                reason = ours
                mark = error.context_mark or mark if late else mark
                break
        last = len(text.splitlines())
        line = "" if mark is None else f"line {min(mark.line + 1, last)}: "
        raise SsdptError(f"{where}: not valid YAML: {line}{reason}") from error
    except (yaml.YAMLError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise SsdptError(f"{where}: not valid YAML: {reason}") from error


def checked(expected: type[_Expected], content: Any, where: str) -> _Expected:
    """`content` as the settings that are expected; SsdptError says what is wrong, and `where`."""
    try:
        return expected.model_validate(content)
    except ValidationError as error:
        message = f"{where}: {_explain(error, expected, content)}"
        raise SsdptError(message) from error


def _explain(error: ValidationError, expected: type[BaseModel], content: Any) -> str:
    """All mistakes in one line."""
    mistakes = [_mistake(one, expected, content) for one in error.errors()]
    if len(mistakes) == 1:
        return mistakes[0]
    named = [f"({number}) {text}" for number, text in enumerate(mistakes[:_MOST_MISTAKES], 1)]
    more = len(mistakes) - len(named)
    return "; ".join([*named, *([f"and {more} more"] if more else [])])


def _mistake(error: ErrorDetails, expected: type[BaseModel], content: Any) -> str:
    """What is wrong in one place."""
    *above, last = error["loc"] or ("",)
    names = _follow(expected, content, error["loc"])[0]
    holder = _follow(expected, content, above)[1]
    owner, names = _owner(content, error["loc"], names)
    match error["type"]:
        case "extra_forbidden":
            reason, names = _unknown(names, holder), []
        case "string_pattern_mismatch" if _is_settings(holder):
            reason = f"does not fit; {holder.model_fields[str(last)].description}"
        case _:
            reason = plain_reason(error)
    name = ".".join(names)
    if owner:
        return f"{owner}: setting {name}: {reason}" if name else f"{owner}: {reason}"
    return f"setting {name}: {reason}" if name else reason


def plain_reason(error: ErrorDetails) -> str:
    """What is wrong with a value in plain words, without its name."""
    context = error.get("ctx", {})
    match error["type"]:
        case "literal_error":
            choices = context["expected"].replace("'", "")
            return f"'{error['input']}' is not valid; choose {choices}"
        case wrong if error["input"] is None and wrong in _WRONG:
            return "is empty"
        case wrong if wrong in _WRONG:
            return _WRONG[wrong].format_map(
                {name: _bound(value) for name, value in context.items()}
            )
    return error["msg"].removeprefix("Value error, ")


def _owner(content: Any, place: tuple[int | str, ...], names: list[str]) -> tuple[str, list[str]]:
    """Whose setting it is, such as `machine pump-2`, and the names from there on."""
    match place:
        case (str(group), int(number), *_) if isinstance(content, Mapping):
            items = content[group]
        case _:
            return "", names
    one = items[number] if isinstance(items, list | tuple) else None
    id = one.get("id") if isinstance(one, Mapping) else None
    called = id if isinstance(id, str) else f"number {number + 1}"
    return f"{group.removesuffix('s')} {called}", names[2:]


def _unknown(names: list[str], holder: type[BaseModel]) -> str:
    """There is no such setting; which one was most likely meant, or which there are."""
    *above, name = names
    sentence = f"there is no setting '{'.'.join(names)}'"
    fields = holder.model_fields
    deeper = [
        f"{branch}.{name}"
        for branch, field in fields.items()
        if _is_settings(field.annotation) and name in field.annotation.model_fields
    ]
    near = deeper if len(deeper) == 1 else get_close_matches(name, fields, 1)
    if near:
        return f"{sentence}; did you mean '{'.'.join([*above, *near])}'?"
    return f"{sentence}; there are {', '.join(fields)}"


def _follow(
    expected: type[BaseModel], content: Any, place: Iterable[int | str]
) -> tuple[list[str], Any]:
    """The names that lead to a place as a person writes them, and what is expected there."""
    names: list[str] = []
    here: Any = expected
    for part in place:
        names.append(str(part))
        content = _item(content, part)
        if _is_settings(here):
            field = here.model_fields.get(str(part))
            here = None if field is None else field.annotation
        else:
            here = next(iter(get_args(here)), None)  # of a list
        if get_origin(here) is Annotated:
            here = get_args(here)[0]
        if _is_settings(here) and issubclass(here, KindSettings):
            here = here.class_of(content)
    return names, here


def _item(content: Any, part: int | str) -> Any:
    """One value of a mapping or a list; None where there is none."""
    try:
        return content[part]
    except (KeyError, IndexError, TypeError):
        return None


def _is_settings(kind: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _bound(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
