"""Own JSON documents for webhooks, written as templates of Jinja.

A text such as `{"text": "{{ event.message }}", "peak": {{ event.peak }}}`, or the same as a mapping
in YAML. Whatever is filled in is escaped as JSON demands, so that quotes in a name break nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from ssdpt.alarms.findings import Finding
from ssdpt.monitor.messages import Comment, Event, EventChanged, EventDelivery
from ssdpt.monitor.outputs import template_mistakes
from ssdpt.monitor.outputs.bounded_template import check_statements, template_environment
from ssdpt.monitor.outputs.context import MachineLabel, OutputContext
from ssdpt.monitor.outputs.digest import News, NewsStage
from ssdpt.monitor.outputs.notification_text import NotificationText
from ssdpt.sentences import Sentence

TemplateDocument = str | Mapping[str, Any]
_ONLY_VALUE = re.compile(r"\s*\{\{(?P<expression>(?:(?!\}\}).)+)\}\}\s*", re.DOTALL)
_LONGEST = 1_000_000  # characters of a rendered document


class JsonTemplate:
    """Turns changes of events into JSON. ValueError where the template has a mistake."""

    def __init__(self, document: TemplateDocument) -> None:
        self._render = _compile(document)
        for message, context in _examples():
            self.render(message, context)

    def render(self, message: EventChanged, context: OutputContext) -> bytes:
        """The document for one change; ValueError where it would not be JSON."""
        document = self._render(_values(message, context))
        try:
            return json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
        except TypeError as error:  # YAML has dates and sets, too
            raise ValueError(Sentence("outputs.notInJson")) from error


Render = Callable[[Mapping[str, Any]], Any]


def _compile(document: TemplateDocument) -> Render:
    if isinstance(document, str):
        return _text_document(document)
    return _part(document, "")


def _text_document(text: str) -> Render:
    """A whole document as text: values are filled in between the quotes that it has."""
    template = _compiled(text, "", _escaped)

    def render(values: Mapping[str, Any]) -> Any:
        rendered = _checked("", lambda: template.render(values))
        if len(rendered) > _LONGEST:
            raise ValueError(Sentence("outputs.documentTooLong", characters=_LONGEST))
        try:
            return json.loads(rendered, parse_constant=_no_constant)
        except RecursionError:
            raise ValueError(Sentence("outputs.nestedTooDeeply")) from None
        except json.JSONDecodeError as error:
            raise ValueError(template_mistakes.of_json(error, rendered)) from None

    return render


def _part(content: Any, place: str) -> Render:
    """A part of a document that is a mapping; `place`: the names that lead to it."""
    if isinstance(content, Mapping):
        parts = {str(key): _part(value, _join(place, str(key))) for key, value in content.items()}
        return lambda values: {key: render(values) for key, render in parts.items()}
    if isinstance(content, list | tuple):
        items = [_part(value, _join(place, str(number))) for number, value in enumerate(content, 1)]
        return lambda values: [render(values) for render in items]
    if not isinstance(content, str):
        return lambda values: content
    if match := _ONLY_VALUE.fullmatch(content):
        return _value(match["expression"], place)
    template = _compiled(content, place)
    return lambda values: _checked(place, lambda: template.render(values))


def _compiled(text: str, place: str, finalize: Callable[[Any], Any] | None = None) -> Any:
    """A template with statements."""
    environment = template_environment(finalize)
    _checked(place, lambda: check_statements(environment, text))
    return _checked(place, lambda: environment.from_string(text))


def _value(expression: str, place: str) -> Render:
    """One value alone keeps its type: a number stays a number."""
    environment = template_environment(None)
    compiled = _checked(
        place, lambda: environment.compile_expression(expression, undefined_to_none=False)
    )

    def render(values: Mapping[str, Any]) -> Any:
        value = _checked(place, lambda: compiled(values))
        if isinstance(value, _undefined()):
            _checked(place, lambda: str(value))  # raises, and names what is missing
        return str(value) if hasattr(value, "__html__") else value

    return render


def _checked(place: str, work: Callable[[], Any]) -> Any:
    """ValueError in place of the errors of Jinja; it names the place in the document."""
    import jinja2

    problem: str
    try:
        return work()
    except jinja2.TemplateSyntaxError as error:
        problem = template_mistakes.in_line(error.lineno, template_mistakes.of_syntax(error))
    except jinja2.UndefinedError as error:
        missing = template_mistakes.of_undefined(error)
        if place:
            raise ValueError(Sentence("outputs.noValueAt", place=place, name=missing)) from None
        raise ValueError(Sentence("outputs.noValue", name=missing)) from None
    except jinja2.TemplateError as error:
        problem = template_mistakes.of_jinja(error)
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        problem = template_mistakes.of_python(error)
    except (RecursionError, MemoryError):
        problem = Sentence("outputs.tooLarge")
    raise ValueError(template_mistakes.at(place, problem))


def _undefined() -> Any:
    from jinja2 import StrictUndefined

    return StrictUndefined


def _escaped(value: Any) -> Any:
    """As JSON: text without its quotes, for the template has them."""
    if hasattr(value, "__html__") or isinstance(value, _undefined()):
        return value  # the filter tojson was used; or it is missing, which raises
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text[1:-1] if isinstance(value, str) else text


def _no_constant(name: str) -> Any:
    raise ValueError(Sentence("outputs.isNotJson", name=name))


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _values(message: EventChanged, context: OutputContext) -> dict[str, Any]:
    """What templates can name."""
    event, words = message.event, NotificationText(context)
    label = context.label(event.machine)
    stage: NewsStage = "ended" if event.is_over else event.level
    news = News(stage, event, event.began)
    return {
        "event": EventDelivery.of(message).model_dump(mode="json"),
        "machine": {
            "id": event.machine,
            "name": label.name,
            "site": label.site,
            "group": label.group,
        },
        "plant": context.plant,
        "title": words.headline(news),
        "text": words.of([news], event.began).text,
        "time": words.time(event.began),
        "link": context.link(event.id),
    }


def _examples() -> list[tuple[EventChanged, OutputContext]]:
    """Events with everything and with hardly anything, and names with signs that JSON escapes."""
    machine = MachineLabel('Pump "3"\n\\', "Halle Süd", "night shift")
    context = OutputContext({"pump-3": machine}, public_url="https://monitor.example")
    least = Event(
        id="0" * 32, machine="pump-3", kind="signal", level="alert", began=1.79e9, message='"a"'
    )
    most = Event(
        id="1" * 32,
        machine="pump-3",
        kind="anomaly",
        level="alarm",
        began=1.79e9,
        ended=1.79e9 + 60,
        message="unusual",
        peak=12.5,
        threshold=4.0,
        comments=(Comment(who="ann", at=1.79e9, text="a\nb"),),
        findings=(Finding(code="tone", hz=130.0, db=30.0, new=True),),
    )
    return [(EventChanged(event=event, change=1), context) for event in (least, most)]
