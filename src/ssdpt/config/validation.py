"""Checks settings that a person has written, and says what is wrong with them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, TypeGuard, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ssdpt.config.kinds import KindSettings
from ssdpt.errors import SsdptError
from ssdpt.sentences import Sentence, clauses, said

_MOST_MISTAKES = 5  # that are named at once
_MOST_VALUES = 100_000  # of a file

_Expected = TypeVar("_Expected", bound=BaseModel)


def read_yaml(text: str, where: str) -> Any:
    """What a text says; SsdptError names the line that is no YAML."""
    try:
        tree = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        reason, late = _yaml_reason(error.problem or "no YAML")
        mark = error.context_mark or error.problem_mark if late else error.problem_mark
        # Without its cause, which quotes the line: it may hold a password.
        if mark is None:
            raise SsdptError(Sentence("settings.yaml", where=where, reason=reason)) from None
        line = min(mark.line + 1, len(text.splitlines()))
        raise SsdptError(
            Sentence("settings.yamlLine", where=where, line=line, reason=reason)
        ) from None
    except RecursionError as error:
        reason = Sentence("settings.yamlDeep")
        raise SsdptError(Sentence("settings.yaml", where=where, reason=reason)) from error
    except (TypeError, AttributeError, LookupError) as error:
        # PyYAML does not check everything that it converts.
        reason = Sentence("settings.yamlTag")
        raise SsdptError(Sentence("settings.yaml", where=where, reason=reason)) from error
    except ValueError:  # it quotes the value
        reason = Sentence("settings.yamlValue")
        raise SsdptError(Sentence("settings.yaml", where=where, reason=reason)) from None
    except yaml.YAMLError as error:
        first = str(error).splitlines()[0]
        raise SsdptError(Sentence("settings.yaml", where=where, reason=first)) from None
    if _count(tree, {}) > _MOST_VALUES:
        reason = Sentence("settings.yamlAnchors")
        raise SsdptError(Sentence("settings.yaml", where=where, reason=reason))
    return tree


def _count(tree: Any, counted: dict[int, float]) -> float:
    """How many values a tree holds; anchors make it large with a few lines, or endless."""
    if not isinstance(tree, dict | list | tuple | set):
        return 1.0
    if id(tree) not in counted:
        counted[id(tree)] = math.inf  # as long as it is being counted: what holds itself is endless
        inner = [*tree, *tree.values()] if isinstance(tree, dict) else list(tree)
        counted[id(tree)] = 1.0 + sum(_count(one, counted) for one in inner)
    return counted[id(tree)]


def _yaml_reason(problem: str) -> tuple[Sentence, bool]:
    """What a person has most likely done where libyaml says `problem`, and whether it is late.

    Where libyaml notices it late, the line where it began is named.
    """
    if "'\\t'" in problem:
        return Sentence("settings.yamlTab"), False
    if "<block end>" in problem:
        return Sentence("settings.yamlAlign"), False
    if "mapping values" in problem:
        return Sentence("settings.yamlColon"), False
    if "end of stream" in problem:
        return Sentence("settings.yamlQuote"), True
    if "stream end" in problem:
        return Sentence("settings.yamlBracket"), True
    if "expected ':'" in problem:
        return Sentence("settings.yamlNoColon"), True
    # These two quote the value, which may be a password.
    if "for the tag" in problem:
        return Sentence("settings.yamlExclamation"), False
    if "undefined alias" in problem:
        return Sentence("settings.yamlStar"), False
    return Sentence("settings.yamlIndentation", problem=problem), False


def checked(expected: type[_Expected], content: Any, where: str) -> _Expected:
    """`content` as the settings that are expected; SsdptError says what is wrong, and `where`."""
    try:
        return expected.model_validate(content)
    except ValidationError as error:
        reason = _explain(error, expected, content)
        raise SsdptError(Sentence("common.of", name=where, what=reason)) from error
    except UnicodeEncodeError as error:  # half a character, written as an escape
        raise SsdptError(Sentence("settings.notUnicode", where=where)) from error


def _explain(error: ValidationError, expected: type[BaseModel], content: Any) -> str:
    """All mistakes in one line."""
    mistakes = [_mistake(one, expected, content) for one in error.errors()]
    if len(mistakes) == 1:
        return mistakes[0]
    named = [
        Sentence("settings.numbered", number=number, what=text)
        for number, text in enumerate(mistakes[:_MOST_MISTAKES], 1)
    ]
    more = len(mistakes) - len(named)
    return clauses(*named, Sentence("settings.more", count=more) if more else "")


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
            description = holder.model_fields[str(last)].description
            reason = Sentence("settings.doesNotFit", description=description)
        case _:
            reason = plain_reason(error)
    name = ".".join(names)
    if name:
        reason = Sentence("settings.setting", name=name, reason=reason)
    return Sentence("common.of", name=owner, what=reason) if owner else reason


def plain_reason(error: ErrorDetails) -> str:
    """What is wrong with a value in plain words, without its name."""
    context = error.get("ctx", {})
    match error["type"]:
        case "literal_error":
            choices = context["expected"].replace("'", "")
            return Sentence("settings.notValid", value=str(error["input"]), choices=choices)
        case "wrong_kind":
            reason: str = context["reason"]
            return reason
        case "value_error":
            return said(context["error"])
    wrong = _bounds(error["type"], context) or _wrong_type(error["type"])
    if wrong is None:
        return error["msg"]
    return Sentence("settings.empty") if error["input"] is None else wrong


def _bounds(mistake: str, context: Mapping[str, Any]) -> Sentence | None:
    """What a value must be, by pydantic's name of the mistake; None where it is another one."""
    match mistake:
        case "greater_than":
            return Sentence("settings.moreThan", bound=context["gt"])
        case "greater_than_equal":
            return Sentence("settings.atLeast", bound=context["ge"])
        case "less_than":
            return Sentence("settings.lessThan", bound=context["lt"])
        case "less_than_equal":
            return Sentence("settings.atMost", bound=context["le"])
        case "too_short":
            return Sentence("settings.tooFew", count=context["min_length"])
        case "string_too_short":
            return Sentence("settings.tooShort", count=context["min_length"])
        case "string_too_long":
            return Sentence("settings.tooLong", count=context["max_length"])
    return None


def _wrong_type(mistake: str) -> Sentence | None:
    """What is wrong with a value, by pydantic's name of the mistake; None where it is another."""
    match mistake:
        case "missing":
            return Sentence("settings.missing")
        case "string_pattern_mismatch":
            return Sentence("settings.notAllowed")
        case "finite_number":
            return Sentence("settings.notFinite")
        case "extra_forbidden":
            return Sentence("settings.unknown")
        case "int_type" | "int_parsing" | "int_from_float":
            return Sentence("settings.notWhole")
        case "float_type" | "float_parsing":
            return Sentence("settings.notANumber")
        case "bool_type" | "bool_parsing":
            return Sentence("settings.notBoolean")
        case "string_type":
            return Sentence("settings.notText")
        case "invalid_key":
            return Sentence("settings.nameNotText")
        case "path_type":
            return Sentence("settings.notAPath")
        case "tuple_type":
            return Sentence("settings.notAList")
        case "model_type" | "model_attributes_type":
            return Sentence("settings.notAMapping")
    return None


def _owner(content: Any, place: tuple[int | str, ...], names: list[str]) -> tuple[str, list[str]]:
    """Whose setting it is, such as `machine pump-2`, and the names from there on."""
    match place:
        case (str(group), int(number), *_) if isinstance(content, Mapping):
            items = content[group]
        case _:
            return "", names
    one = items[number] if isinstance(items, list | tuple) else None
    id = one.get("id") if isinstance(one, Mapping) else None
    names_of_groups = {
        "machines": Sentence("settings.machine"),
        "outputs": Sentence("settings.output"),
    }
    kind = names_of_groups.get(group) or group.removesuffix("s")
    if isinstance(id, str):
        return Sentence("settings.called", kind=kind, id=id), names[2:]
    return Sentence("settings.numberOf", kind=kind, number=number + 1), names[2:]


def _unknown(names: list[str], holder: type[BaseModel]) -> str:
    """There is no such setting; which one was most likely meant, or which there are."""
    *above, name = names
    full = ".".join(names)
    fields = holder.model_fields
    deeper = [
        f"{branch}.{name}"
        for branch, field in fields.items()
        if _is_settings(field.annotation) and name in field.annotation.model_fields
    ]
    near = deeper if len(deeper) == 1 else get_close_matches(name, fields, 1)
    if near:
        meant = ".".join([*above, *near])
        return Sentence("settings.noSettingMeant", name=full, meant=meant)
    return Sentence("settings.noSetting", name=full, names=list(fields))


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
        here = _unwrapped(here)
        if _is_settings(here) and issubclass(here, KindSettings):
            here = here.class_of(content)
    return names, here


def _unwrapped(kind: Any) -> Any:
    """What may be given, without annotations and without None."""
    if get_origin(kind) is Annotated:
        return _unwrapped(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        parts = [part for part in get_args(kind) if part is not NoneType]
        return _unwrapped(parts[0]) if len(parts) == 1 else kind
    return kind


def _item(content: Any, part: int | str) -> Any:
    """One value of a mapping or a list; None where there is none."""
    try:
        return content[part]
    except (KeyError, IndexError, TypeError):
        return None


def _is_settings(kind: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
