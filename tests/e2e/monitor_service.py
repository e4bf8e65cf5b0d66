"""The real service as its own process, and a page of a real browser whose errors fail the test."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np
import yaml
from sqlalchemy import create_engine, make_url, text

from receivers import Broker as Broker
from receivers import Subscriber as Subscriber
from ssdpt.alarms.commissioning import ASK_AFTER
from ssdpt.monitor.learning.collector import CLIP_SECONDS
from waiting import wait_until

POSTGRES = os.environ.get("SSDPT_TEST_POSTGRES", "postgresql+psycopg://root@localhost/test")
WEB = Path(__file__).parents[2] / "web"
AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
SLOW = 180_000  # milliseconds that machines may take to learn, or to detect a fault
_ADDRESS = re.compile(r"listening; open (http://\S+)")
_PUSHED_RATE, _PIECE = 16000, 0.5  # Hz, seconds


@contextmanager
def postgres_schema():
    """The address of a schema of our own, gone afterwards."""
    server = create_engine(POSTGRES)
    name = f"ssdpt_{uuid.uuid4().hex}"
    with server.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    url = make_url(POSTGRES).update_query_dict({"options": f"-csearch_path={name}"})
    try:
        yield url.render_as_string(hide_password=False)
    finally:
        with server.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
        server.dispose()


def http_client():
    """Every request on a connection of its own: one that rests may be ended at the same moment."""
    return httpx.Client(timeout=60, limits=httpx.Limits(max_keepalive_connections=0))


class HttpService:
    """What answers at an address."""

    def __init__(self):
        self._client = http_client()
        self.address = ""

    def get(self, path):
        return self._answer(self._client.get(self.address + path))

    def post(self, path, **body):
        return self._answer(self._client.post(self.address + path, **body))

    def put(self, path, **body):
        return self._answer(self._client.put(self.address + path, **body))

    @staticmethod
    def _answer(reply):
        assert reply.is_success, reply.text
        return reply.json()

    def wait_until(self, condition, message="", **options):
        """As the function of this name, but with pauses that leave the service time to work."""
        return wait_until(condition, message, every=0.1, **options)


class Service(HttpService):
    """`ssdpt serve` with some arguments; it can be killed and started again where it was."""

    def __init__(self, command, folder, *arguments):
        super().__init__()
        self._command = [command, "serve", "--data", str(folder / "data"), *map(str, arguments)]
        self._log = folder / "serve.log"
        self._process = None
        self._before = 0  # bytes of the log before this start

    def start(self):
        self.launch()
        self.wait_until_listening()
        return self

    def launch(self, **environment):
        """Start the process; does not wait until it answers."""
        port = urlsplit(self.address).port if self.address else 0
        self._before = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [*self._command, "--port", str(port)],
                stdout=log,
                stderr=log,
                # Lines as they come, and one thread: there are few cores.
                env={
                    **os.environ,
                    "PYTHONUNBUFFERED": "1",
                    "OMP_NUM_THREADS": "1",
                    **environment,
                },
            )

    def wait_until_listening(self):
        self.address = wait_until(self._listening)

    def _listening(self):
        log = self.log
        assert self._process.poll() is None, log
        match = _ADDRESS.search(log)
        return match and match[1]

    @property
    def log(self):
        """What it has printed since its last start."""
        return self._log.read_text()[self._before :]

    @property
    def pid(self):
        return self._process.pid

    def kill(self):
        """As a power cut would."""
        self._process.kill()
        self._process.wait(60)

    def freeze(self):
        """As a computer that hangs: connections stay open, and nothing comes."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self._process.send_signal(signal.SIGCONT)

    def stop(self):
        """Stop it as an operator does; a traceback in its log fails the test."""
        log = self._log.read_text()
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            assert self._process.wait(60) == 0, self._log.read_text()
        assert "Traceback" not in log, log

    __enter__ = start

    def __exit__(self, *_):
        self.stop()

    def machine(self, id):
        return self.get(f"v1/machines/{id}")

    def events(self, machine):
        """Unusual sounds of a machine, newest first."""
        return self.get(f"v1/events?machine={machine}&kind=anomaly")

    def wait_for_state(self, machine, *states):
        return self.wait_until(
            lambda: (status := self.machine(machine))["state"] in states and status,
            lambda: f"{machine} is {' or '.join(states)}; {self._circumstances(machine)}",
        )

    def _circumstances(self, machine):
        """What tells why a machine is not in the state that was expected."""
        status = self.machine(machine)
        parts = ("state", "state_since", "smoothed", "thresholds", "question", "data_age", "drift")
        service = self.get("v1/status")
        return (
            f"it is { ({part: status[part] for part in parts}) }\nservice: now {service['now']}, "
            f"shedding {service['shedding']}, problems {service['problems']}\n{self.log[-2000:]}"
        )


class ConfiguredService(Service):
    """The service of a configuration file, which changes while it runs."""

    def __init__(self, command, folder, config):
        self.path = folder / "monitor.yaml"
        self.config = config
        self.write()
        super().__init__(command, folder, "--config", self.path)

    def write(self, **more):
        """Write the file, in one piece: the service reads it at any moment."""
        fresh = self.path.with_suffix(".fresh")
        fresh.write_text(yaml.safe_dump({**self.config, **more}))
        fresh.replace(self.path)

    def change(self, **settings):
        """Write other settings of the whole service into its file; does not wait."""
        self.config |= settings
        self.write()

    def learn(self, *machines):
        """Let machines learn a minute of their sound, unless they have.

        A change in the minute after that would be asked about instead of being an alarm.
        """
        new = [id for id in machines if self.machine(id)["thresholds"] is None]
        for id in new:
            self.wait_for_state(id, "starting")  # its sound arrives
            self.post(f"v1/machines/{id}/learn", json={"minutes": 1})
        for id in new:
            self.wait_for_state(id, "normal")
        for id in new:
            self.wait_until(lambda id=id: self._runs_normally(id), f"{id} runs normally")

    def _runs_normally(self, id):
        """Whether it has been normal for so long that what comes now is a change."""
        machine = self.machine(id)
        lasted = self.get("v1/status")["now"] - (machine["state_since"] or float("inf"))
        return machine["state"] == "normal" and lasted > ASK_AFTER + CLIP_SECONDS

    def heal(self, machine):
        """It runs as it did while it learned."""
        self._set_fault(machine, None)
        self.wait_for_state(machine, "normal")

    def break_down(self, machine):
        """From now on it has a fault; does not wait for the alarm."""
        self._set_fault(machine, 0.0)

    def alarm_of(self, machine):
        """The event of a machine that is broken, with its recording."""
        self.break_down(machine)
        self.wait_for_state(machine, "alert", "alarm")
        return self.wait_until(
            lambda: next((e for e in self.events(machine) if e["has_audio"] and not e["ended"]), 0),
            "its alarm is recorded",
        )

    def new_alarm_of(self, machine):
        """An active alarm, the only unacknowledged event of a machine."""
        event = self.alarm_of(machine)
        if event["state"] != "active":
            self.heal(machine)
            event = self.alarm_of(machine)
        for other in self.events(machine):
            if other["state"] == "active" and other["id"] != event["id"]:
                self.post(f"v1/events/{other['id']}/acknowledge", json={"comment": ""})
        return event

    def _set_fault(self, machine, after):
        settings = next(each for each in self.config["machines"] if each["id"] == machine)
        if settings["source"].get("fault_after") != after:
            settings["source"]["fault_after"] = after
            # A field of the machine that shows that the file was read.
            settings["site"] = "Hall C" if after is None else "Hall C, on trial"
            self.write()
            self.wait_until(
                lambda: self.machine(machine)["site"] == settings["site"], "the file is read"
            )


class MockService(HttpService):
    """The mock of the service that the page is developed with: its machines show everything."""

    def __init__(self, *arguments):
        super().__init__()
        node = shutil.which("node")
        assert node, "there is no Node; install it (Debian: apt install nodejs)"
        self._command = [node, str(WEB / "mock" / "server.mjs"), "--port", "0", *arguments]
        self._process = None

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        self.address = f"{self._process.stdout.readline().strip()}/"
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(60)
        self._process.stdout.close()


class Sender:
    """Sends the sound of a machine in pieces, faster than it was recorded, until it is left.

    Its times begin minutes ago, so that there is sound to catch up with.
    """

    def __init__(self, service, machine):
        self._url = f"{service.address}v1/machines/{machine}/audio"
        self._client = http_client()
        self._random = np.random.default_rng(5)
        self._begin = time.time() - 600.0
        self._sent = 0  # pieces
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self.failed = None

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self._client.close()
        assert self.failed is None, self.failed

    def _work(self):
        piece = self._piece()
        while not self._stop.wait(0.04):
            reply = self._client.post(
                self._url,
                params={"time": self._begin + self._sent * _PIECE},
                content=piece,
                headers={"Content-Type": f"audio/L16;rate={_PUSHED_RATE};channels=1"},
            )
            if reply.is_success:
                self._sent += 1
                piece = self._piece()
            elif "waiting" not in reply.text:
                self.failed = f"{reply.status_code} {reply.text}"
                return

    def _piece(self):
        """A hum and the air around it, as big-endian 16-bit samples."""
        count = round(_PIECE * _PUSHED_RATE)
        t = (self._sent * count + np.arange(count)) / _PUSHED_RATE
        hum = sum(np.sin(2 * np.pi * 50 * n * t) / n for n in (1, 2, 4, 7))
        wave = 0.05 * hum + 0.02 * self._random.standard_normal(count)
        return np.clip(wave * 32768, -32768, 32767).astype(">i2").tobytes()


def card(page, name, state=""):
    """The card of a machine on the overview, in some state."""
    return page.get_by_role("link", name=re.compile(rf"^{name}, .*{state}"))


def panel(page, title):
    return page.get_by_role("region", name=title, exact=True)


# WCAG 2.1, A and AA, and what is good practice beside it: headings in order, landmarks, one title.
_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")


def barriers(page):
    """Violations that axe-core reports for the page, of every impact: minor ones count too."""
    assert AXE.is_file(), "axe-core is not here; run: cd web && npm ci"
    # A page is loaded in parts; words of its title are in the navigation before.
    wait_until(page.get_by_role("heading", level=1).count, "the page has a heading")
    page.evaluate(AXE.read_text("utf-8"))  # a script tag would break the page's policy
    report = page.evaluate("rules => axe.run({runOnly: rules})", list(_RULES))
    assert len(report["passes"]) > 10, "the page was hardly looked at"
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:200]} {node['failureSummary']}"
        for rule in report["violations"]
        for node in rule["nodes"]
    ]


# Until nothing above has appeared for some frames, which would move the element.
_UNTIL_STILL = """async (element) => {
  for (let frames = 0, before; frames < 30; frames++) {
    await new Promise(requestAnimationFrame)
    const {x, y} = element.getBoundingClientRect()
    if (before !== `${x} ${y}`) frames = 0
    before = `${x} ${y}`
  }
}"""


class Fingers:
    """Touches of a page that Playwright does not offer: several fingers at once."""

    def __init__(self, page, target):
        self._session = page.context.new_cdp_session(page)
        self._target = target

    def drag(self, begin, end, steps=8):
        """From places to places, each a share of the target's width; one for every finger."""
        self._target.scroll_into_view_if_needed()
        self._target.evaluate(_UNTIL_STILL)
        for step in range(steps + 1):
            shares = [a + (b - a) * step / steps for a, b in zip(begin, end, strict=True)]
            self._touch("touchMove" if step else "touchStart", shares)
        self._touch("touchEnd", [])

    def tap_twice(self, share):
        for _ in range(2):
            self._touch("touchStart", [share])
            self._touch("touchEnd", [])

    def _touch(self, type, shares):
        box = self._target.bounding_box()
        y = box["y"] + box["height"] / 2
        points = [
            {"x": box["x"] + share * box["width"], "y": y, "id": number}
            for number, share in enumerate(shares)
        ]
        self._session.send("Input.dispatchTouchEvent", {"type": type, "touchPoints": points})


def in_page(page, expression):
    """Wait until it is true there; Playwright's own way needs eval, which the page forbids."""
    return wait_until(lambda: page.evaluate(expression))
