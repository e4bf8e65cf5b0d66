"""Configuration of the service, also of earlier releases."""

from __future__ import annotations

from fuzz_oracle import Violation, wrong_in
from fuzz_target import FuzzTarget

from ssdpt.monitor.config import read_current_form, read_monitor_config
from ssdpt.monitor.config_upgrade import rewrite_config
from ssdpt.monitor.outputs.json_template import JsonTemplate


class Target(FuzzTarget):
    """Reads a file; what an upgrade writes must say the same."""

    share = 50
    longest = 4096
    document = True
    words = (
        *(
            b"machines:\n",
            b"- id: ",
            b"source: ",
            b"kind: ",
            b"pushed",
            b"folder",
            b"mqtt",
            b"alarm",
        ),
        *(b"outputs:\n", b"webhook", b"notify", b"mail", b"template: ", b"zone: ", b"per_week: "),
        *(
            b"!!timestamp ",
            b"&a ",
            b"*a",
            b"<<: ",
            b"1e999",
            b".nan",
            b"[[[[",
            b"{{{{",
            b"\x1b[31m",
        ),
    )

    def __init__(self, folder):
        super().__init__(folder)
        JsonTemplate("1")  # loads the data of languages

    def run(self, data: bytes) -> None:
        self.empty("config")
        path = self.write("config/monitor.yaml", data)
        config = read_monitor_config(path)
        for text in config.upgrade_notes:
            if wrong := wrong_in(text, "a note"):
                raise Violation(wrong[0])
        if config.upgrades:
            rewrite_config(path, read_current_form(path)[1])
            again = read_monitor_config(path)
            if again.model_dump() != config.model_dump() or again.upgrades:
                raise Violation("the rewritten file says something else")
