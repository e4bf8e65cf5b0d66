"""Own JSON documents of webhooks: a mapping, or a text."""

from __future__ import annotations

import json

from fuzz_target import FuzzTarget

from ssdpt.config.validation import checked
from ssdpt.monitor.outputs.json_template import JsonTemplate
from ssdpt.monitor.outputs.webhook_output import WebhookSettings


class Target(FuzzTarget):
    """Checks a template as the configuration file does; that renders examples."""

    share = 20
    longest = 512
    words = (
        *(
            b"{{ event.message }}",
            b"{{ machine.name }}",
            b"{% for i in range(9) %}",
            b"{% endfor %}",
        ),
        *(
            b"{% if 1 %}",
            b"{% endif %}",
            b"{{ 9**9 }}",
            b"| tojson",
            b"{% set a = 1 %}",
            b"{#",
            b"#}",
        ),
        *(b"'a' * 9", b".__class__", b"{% macro m() %}", b"{% include 'a' %}", b"| join", b"[0]"),
    )

    def __init__(self, folder):
        super().__init__(folder)
        JsonTemplate("1")  # loads the data of languages

    def run(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = text
        content = {"kind": "webhook", "url": "http://localhost/", "template": document}
        checked(WebhookSettings, content, "monitor.yaml")
