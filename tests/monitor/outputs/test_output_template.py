"""Own JSON documents of webhooks."""

from __future__ import annotations

import json

import pytest
import yaml
from sample_messages import named

from receivers import WebReceiver, an_event
from ssdpt.alarms.findings import Finding
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import read_monitor_config
from ssdpt.monitor.messages import EventChanged
from ssdpt.monitor.outputs.json_template import JsonTemplate
from ssdpt.monitor.outputs.webhook_output import WebhookOutput, WebhookSettings
from ssdpt.sentences import said
from ssdpt.sentences.coded_sentence import coded
from waiting import wait_until

CONTEXT = named({"pump-3": 'Pump\n"3"'}, public_url="https://monitor.example", plant="Works")
TEXT = """{
  "text": "{{ title }} in {{ plant }}",
  "peak": {{ event.peak }},
  "quiet": {{ event.ended is none }},
  "tags": {{ event.findings | map(attribute="code") | list | tojson }},
  "link": "{{ link }}"{% if event.level == "alarm" %}, "urgent": true{% endif %}
}"""


def rendered(document, event):
    return json.loads(JsonTemplate(document).render(EventChanged(event=event), CONTEXT))


def test_values_are_filled_in_as_json_demands():
    event = an_event(peak=3.5, findings=(Finding(code="tone", hz=130.0, db=30.0, new=True),))
    assert rendered(TEXT, event) == {
        "text": 'Alarm: Pump "3": new tone at 130 Hz, 30 dB above normal in Works',
        "peak": 3.5,
        "quiet": True,
        "tags": ["tone"],
        "link": f"https://monitor.example/#/event/{event.id}",
        "urgent": True,
    }


def test_a_mapping_keeps_the_type_of_a_value_alone():
    document = {
        "summary": "{{ machine.name }}: {{ event.message }}",
        "fields": [{"peak": "{{ event.peak }}", "none": "{{ event.ended }}", "fixed": 7}],
    }
    assert rendered(document, an_event(message='a "b" \\ ä', peak=2.0)) == {
        "summary": 'Pump\n"3": a "b" \\ ä',
        "fields": [{"peak": 2.0, "none": None, "fixed": 7}],
    }


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ('\'{"a": "{{ evnt.message }}"}\'', "there is no value 'evnt'"),
        ('\'{"a": "{{ event.mesage }}"}\'', "there is no value 'mesage'"),
        ("'{\"a\": {{ event.message }}}'", "line 1 is not JSON: .*, near: "),
        ('\'{"a": "{{ event.message "}\'', "line 1: "),
        ("{a: {b: ['x', '{{ link | nosuch }}']}}", "at a.b.2: line 1: there is no filter 'nosuch'"),
        ("{a: '{{ machine.nmae }}'}", "at a: there is no value 'nmae'"),
        ("{a: \"{{ ''.__class__.__mro__ }}\"}", "at a: '__class__' cannot be used in a template"),
        ("'{\"a\": NaN}'", "NaN is not JSON"),
        ("{a: '{{ 9**9**9**9 }}'}", r"at a: '\*\*' is not available"),
        ("'{{ \"a\" * 10 }}'", r"'\*' is not available; only numbers are multiplied"),
        ("'{% macro m() %}{% endmacro %}1'", "line 1: {% macro %} is not available"),
        ("'{% for a in range(9999) %}{% endfor %}1'", "a range has at most 1000 numbers"),
        (
            f"'{'{% for a in range(9) %}' * 3}{'{% endfor %}' * 3}1'",
            "line 1: loops can be nested 2 deep",
        ),
        (
            "'{% for a in range(9) recursive %}{{ loop(range(9)) }}{% endfor %}1'",
            "line 1: loops can be nested 2 deep, and not recursive",
        ),
        ("{a: 2026-01-31}", "a value that JSON does not have; put it in quotes"),
        ("{a: !!set {b}}", "a value that JSON does not have; put it in quotes"),
        (f"'{'[' * 100_000}'", "is nested too deeply"),
    ],
)
def test_a_template_with_an_error_is_refused_with_place_and_field(tmp_path, template, reason):
    path = tmp_path / "monitor.yaml"
    hook = f"outputs:\n  - kind: webhook\n    url: https://host.example\n    template: {template}\n"
    path.write_text(hook)
    with pytest.raises(
        SsdptError, match=rf"monitor.yaml: output number 1: setting template: .*{reason}"
    ):
        read_monitor_config(path)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ("{{ link | nosuch }}", "noFilter"),
        ("{{ link is nosuch }}", "noTestNamed"),
        ("{% begin %}", "noTag"),
        ("{{ link title }}", "expected"),
        ("{{ (link }}", "expected"),
        ("{{ }}", "unexpected"),
        ("{{ link }", "unexpected"),
        ("{{ link $ }}", "unexpected"),
        ("{% if link %}", "endsTooEarly"),
        ("{# ", "endsTooEarly"),
        ("{{ link", "endsTooEarly"),
        ("", "jsonValue"),
        ("[1 2]", "jsonComma"),
        ('{"a"}', "jsonColon"),
        ("{a: 1}", "jsonName"),
        ("1 2", "jsonExtra"),
        ('"a', "jsonText"),
        ('"a\nb"', "jsonControl"),
        (r'"\x"', "jsonEscape"),
        ("{{ event.peak / 0 }}", "notComputed"),
    ],
)
def test_mistakes_of_a_template_have_codes(document, code):
    with pytest.raises(ValueError, match=r".") as error:
        JsonTemplate(document)
    reason = coded(said(error.value))
    inner = reason.values.get("what", reason)
    assert inner.code == f"outputs.{code}"


def test_a_webhook_posts_its_own_document_and_the_test_too():
    with WebReceiver() as web:
        settings = WebhookSettings(url=f"{web.url}/hook", template={"text": "{{ title }}"})
        output = WebhookOutput(settings, CONTEXT)
        output.start()
        output.publish(EventChanged(event=an_event()))
        wait_until(lambda: output.status.sent == 1)
        assert output.status.last_success is not None
        assert output.test(5.0) == "answers 200"
        output.close(1.0)
    assert web.taken == [
        {"text": 'Alarm: Pump "3": a bearing rattles'},
        {"text": 'Alert: Pump "3": Test: nothing has happened'},
    ]


def test_an_event_that_the_template_cannot_tell_is_given_up_with_a_sentence():
    template = '{"a": {% if event.label == "fault" %}oops{% else %}1{% endif %}}'
    with WebReceiver() as web:
        output = WebhookOutput(WebhookSettings(url=web.url, template=template))
        output.start()
        output.publish(EventChanged(event=an_event(label="fault")))
        output.publish(EventChanged(event=an_event()))
        wait_until(lambda: output.status.sent == 1)
        assert output.status.failed == 1
        output.close(1.0)
    assert web.taken == [{"a": 1}]


def test_a_mistake_can_be_told_in_every_language(tmp_path):
    """Which output it is and what is missing have codes, not only English words."""
    path = tmp_path / "monitor.yaml"
    template = {"summary": "{{ titel }}"}
    hook = {"kind": "webhook", "url": "http://127.0.0.1:9", "template": template}
    path.write_text(yaml.safe_dump({"machines": [], "outputs": [hook]}))
    with pytest.raises(SsdptError) as error:
        read_monitor_config(path)
    of_file = coded(said(error.value)).values["what"]
    assert of_file.values["name"].code == "settings.numberOf"
    reason = of_file.values["what"].values["reason"]
    assert (reason.code, reason.values) == (
        "outputs.noValueAt",
        {"place": "summary", "name": "titel"},
    )
