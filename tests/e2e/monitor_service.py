"""The real service as its own process, and a page of a real browser whose errors fail the test."""

from __future__ import annotations

import os
import re
import shutil
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
from waiting import wait_until

POSTGRES = os.environ.get("SSDPT_TEST_POSTGRES", "postgresql+psycopg://root@localhost/test")
IMAGES = Path(__file__).parents[2] / "docs" / "images"
WEB = Path(__file__).parents[2] / "web"
AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
SLOW = 60_000  # milliseconds that machines take to learn, or to detect a fault
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


class Service:
    """`ssdpt serve` with some arguments; it can be killed and started again where it was."""

    def __init__(self, command, folder, *arguments):
        self._command = [command, "serve", "--data", str(folder / "data"), *map(str, arguments)]
        self._log = folder / "serve.log"
        self._process = None
        self.address = ""

    def start(self):
        port = urlsplit(self.address).port if self.address else 0
        before = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [*self._command, "--port", str(port)],
                stdout=log,
                stderr=log,
                # Lines as they come, and one thread: there are few cores.
                env={**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"},
            )
        self.address = wait_until(lambda: self._listening(before))
        return self

    def _listening(self, before):
        log = self._log.read_text()[before:]
        assert self._process.poll() is None, log
        match = _ADDRESS.search(log)
        return match and match[1]

    def kill(self):
        """As a power cut would."""
        self._process.kill()
        self._process.wait(60)

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

    def get(self, path):
        return httpx.get(self.address + path, timeout=60).raise_for_status().json()

    def post(self, path, **body):
        return httpx.post(self.address + path, timeout=60, **body).raise_for_status().json()

    def put(self, path, **body):
        return httpx.put(self.address + path, timeout=60, **body).raise_for_status().json()

    def machine(self, id):
        return self.get(f"v1/machines/{id}")

    def events(self, machine):
        """Unusual sounds of a machine, newest first."""
        return self.get(f"v1/events?machine={machine}&kind=anomaly")

    def wait_for_state(self, machine, *states):
        return wait_until(lambda: (status := self.machine(machine))["state"] in states and status)


class ConfiguredService(Service):
    """The service of a configuration file, which changes while it runs."""

    def __init__(self, command, folder, config):
        self.path = folder / "monitor.yaml"
        self._config = config
        self._write()
        super().__init__(command, folder, "--config", self.path)

    def _write(self):
        # In one piece: the service reads it at any moment.
        fresh = self.path.with_suffix(".fresh")
        fresh.write_text(yaml.safe_dump(self._config))
        fresh.replace(self.path)

    def learn(self, *machines):
        """Let machines learn a minute of their sound, unless they have."""
        new = [id for id in machines if self.machine(id)["thresholds"] is None]
        for id in new:
            self.wait_for_state(id, "starting")  # its sound arrives
            self.post(f"v1/machines/{id}/learn", json={"minutes": 1})
        for id in new:
            self.wait_for_state(id, "normal")

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
        return wait_until(
            lambda: next((e for e in self.events(machine) if e["has_audio"] and not e["ended"]), 0)
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
        settings = next(each for each in self._config["machines"] if each["id"] == machine)
        if settings["source"].get("fault_after") != after:
            settings["source"]["fault_after"] = after
            # A field of the machine that shows that the file was read.
            settings["site"] = "Hall C" if after is None else "Hall C, on trial"
            self._write()
            wait_until(lambda: self.machine(machine)["site"] == settings["site"])


class MockService:
    """The mock of the service that the page is developed with: its machines show everything."""

    def __init__(self, *arguments):
        node = shutil.which("node")
        assert node, "there is no Node; install it (Debian: apt install nodejs)"
        self._command = [node, str(WEB / "mock" / "server.mjs"), "--port", "0", *arguments]
        self._process = None
        self.address = ""

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        self.address = f"{self._process.stdout.readline().strip()}/"
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(60)
        self._process.stdout.close()

    def get(self, path):
        return httpx.get(self.address + path, timeout=60).raise_for_status().json()


class Sender:
    """Sends the sound of a machine in pieces, faster than it was recorded, until it is left.

    Its times begin minutes ago, so that there is sound to catch up with.
    """

    def __init__(self, service, machine):
        self._url = f"{service.address}v1/machines/{machine}/audio"
        self._client = httpx.Client(timeout=60)
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


class PageWatch:
    """Everything a page must not do: strange hosts, errors on the console, broken policy."""

    def __init__(self, context, address):
        self._host = urlsplit(address).netloc
        self._expected = []
        self.wrong = []
        # A violation of the policy is an event of the page; it goes to the console.
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (violation) => console.error("
            "'policy', violation.effectiveDirective, violation.blockedURI))"
        )
        context.on("request", self._asked)
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self.wrong.append(f"uncaught: {error.error}"))

    def expect(self, pattern):
        """Accept console messages that match `pattern`: the test provokes them."""
        self._expected.append(re.compile(pattern))

    def _asked(self, request):
        asked = urlsplit(request.url)
        if asked.scheme not in ("blob", "data") and asked.netloc != self._host:
            self.wrong.append(f"asked {request.url}")

    def _on_console(self, message):
        if message.type not in ("error", "warning"):
            return
        message_text = f"{message.text} ({message.location.get('url', '')})"
        if not any(pattern.search(message_text) for pattern in self._expected):
            self.wrong.append(f"{message.type}: {message_text}")


def browser_program():
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    assert browser, "there is no Chromium; install it (Debian: apt install chromium)"
    return browser


def card(page, name, state=""):
    """The card of a machine on the overview, in some state."""
    return page.get_by_role("link", name=re.compile(rf"^{name}, .*{state}"))


def panel(page, title):
    return page.get_by_role("region", name=title, exact=True)


def barriers(page):
    """Serious violations of WCAG 2.1, A and AA, that axe-core reports for the page."""
    assert AXE.is_file(), "axe-core is not here; run: cd web && npm ci"
    page.evaluate(AXE.read_text("utf-8"))  # a script tag would break the page's policy
    report = page.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})")
    assert len(report["passes"]) > 10, "the page was hardly looked at"
    return [
        f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in report["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


class Fingers:
    """Touches of a page that Playwright does not offer: several fingers at once."""

    def __init__(self, page, target):
        self._session = page.context.new_cdp_session(page)
        self._target = target

    def drag(self, begin, end, steps=8):
        """From places to places, each a share of the target's width; one for every finger."""
        self._target.scroll_into_view_if_needed()
        wait_until(self._is_still, "the page has stopped moving")
        for step in range(steps + 1):
            shares = [a + (b - a) * step / steps for a, b in zip(begin, end, strict=True)]
            self._touch("touchMove" if step else "touchStart", shares)
        self._touch("touchEnd", [])

    def _is_still(self):
        """Whether nothing above has appeared for half a second, which would move the target."""
        before = self._target.bounding_box()
        time.sleep(0.5)
        return self._target.bounding_box() == before

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
