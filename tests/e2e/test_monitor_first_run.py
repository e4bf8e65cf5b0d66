"""The first run in a terminal: three questions, a configuration file, and the page."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from contextlib import suppress

import pytest
import yaml
from monitor_service import Service, card
from playwright.sync_api import expect

from ssdpt.monitor.config import read_monitor_config
from waiting import wait_until

pytestmark = pytest.mark.needs_browser


class Terminal:
    """A pseudo terminal in which a command runs and a person types."""

    def __init__(self, arguments, folder):
        self._master, end = pty.openpty()
        # Alone in its own session: Ctrl-C goes to it and not to the test.
        self.process = subprocess.Popen(
            arguments, stdin=end, stdout=end, stderr=end, cwd=folder, start_new_session=True,
            preexec_fn=_own_terminal, env={**os.environ, "TZ": "Europe/Berlin", "NO_COLOR": "1"},
        )  # fmt: skip
        os.close(end)
        os.set_blocking(self._master, False)
        self.text = ""

    def wait_for(self, text):
        wait_until(lambda: text in self._read(), f"the terminal says {text!r}")

    def type(self, text):
        os.write(self._master, text.encode())

    def _read(self):
        with suppress(OSError):
            self.text += os.read(self._master, 65536).decode()
        return self.text

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(60)
        os.close(self._master)


def _own_terminal():
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # A background job of a shell ignores Ctrl-C, and so would its children.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def terminal(command, tmp_path):
    opened = []

    def opened_in(*arguments):
        opened.append(Terminal([command, "serve", "--first-run", *arguments], tmp_path))
        return opened[-1]

    yield opened_in
    for each in opened:
        each.close()


def test_the_first_run_asks_three_questions_and_starts(terminal, tmp_path, open_page):
    asked = terminal("--port", "0")
    asked.wait_for("1. Name of the plant [Plant]")
    asked.type("Werk Süd\n")
    asked.wait_for("2. Time zone of the plant [Europe/Berlin]")
    asked.type("Berlin\n")
    asked.wait_for("'Berlin' is no time zone")
    asked.type("\n")
    asked.wait_for("3. Where does the sound of the first machine come from?")
    asked.wait_for("Number [1]")
    number = re.search(r"(\d)  simulated: a fan", asked.text)[1]
    asked.type("99\n")
    asked.wait_for("choose a number from 1 to")
    asked.type(f"{number}\n")
    asked.wait_for("listening; open http")
    config = read_monitor_config(tmp_path / "monitor.yaml")
    assert (config.name, config.timezone) == ("Werk Süd", "Europe/Berlin")
    assert config.machines == ()
    running = Service("", tmp_path)
    running.address = re.search(r"open (http://\S+)", asked.text)[1]
    page = open_page(running)
    card(page, "Machine 1").click()
    # Nobody knows it by this name: it is changed on the page like any other.
    page.get_by_role("link", name="Change settings…").click()
    page.get_by_label("Name", exact=True).fill("Exhaust fan 3")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Exhaust fan 3", level=1)).to_be_visible()
    machines = json.loads((tmp_path / "ssdpt-data" / "machines.json").read_text("utf-8"))
    assert [(each["name"], each["source"]["kind"]) for each in machines] == [
        ("Exhaust fan 3", "simulated")
    ]
    print(asked.text)


def test_the_first_run_never_overwrites_and_ctrl_c_leaves_nothing(command, terminal, tmp_path):
    stopped = terminal()
    stopped.wait_for("1. Name of the plant")
    stopped.type("Works\n")
    stopped.wait_for("2. Time zone")
    stopped.type("\x03")
    stopped.wait_for("stopped; nothing was written")
    assert stopped.process.wait(60) == 130
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "monitor.yaml").write_text(yaml.safe_dump({"name": "Mine"}))
    careful = terminal()
    careful.wait_for("monitor.yaml exists already. Replace it? [y/N]")
    careful.type("\n")
    careful.wait_for("monitor.yaml stays as it is")
    assert careful.process.wait(60) == 2
    assert (tmp_path / "monitor.yaml").read_text() == "name: Mine\n"
    script = subprocess.run(
        [command, "serve", "--first-run"], cwd=tmp_path, input="", text=True, capture_output=True
    )
    assert script.returncode == 2
    assert "--first-run asks questions and needs a terminal" in script.stderr
