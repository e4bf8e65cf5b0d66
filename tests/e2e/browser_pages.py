"""Pages of a real browser, and what they must not do."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from urllib.parse import urlsplit

SCREENSHOTS = os.environ.get("SSDPT_SCREENSHOTS", "")  # a folder for pictures of the pages
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def shot(page, name):
    """Keep a picture of a whole page, where pictures are asked for."""
    if SCREENSHOTS:
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)


class Pages:
    """Pages of services, each in a browser profile of its own.

    A page that asks another host, breaks its policy or writes errors to the console fails the test.
    """

    def __init__(self, browser):
        self._browser = browser
        self._opened = []  # (context, PageWatch)

    def open(self, service, path="", **options):
        context = self._browser.new_context(
            **{"viewport": {"width": 1280, "height": 800}, "color_scheme": "light", **options}
        )
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.watch = PageWatch(context, service.address)
        self._opened.append((context, page.watch))
        page.goto(service.address + path)
        return page

    def __enter__(self):
        return self

    def __exit__(self, *_):
        wrong = []
        for context, watch in self._opened:
            context.close()
            wrong += watch.wrong
        assert not wrong


class PageWatch:
    """Everything a page must not do: strange hosts, errors on the console, broken policy."""

    def __init__(self, context, address):
        self._host = urlsplit(address).netloc
        self._expected = []
        self._console, self._wrong = [], []
        # A violation of the policy is an event of the page; it goes to the console.
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (violation) => console.error("
            "'policy', violation.effectiveDirective, violation.blockedURI))"
        )
        context.on("request", self._asked)
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self._wrong.append(f"uncaught: {error.error}"))

    def expect(self, pattern):
        """Accept console messages that match `pattern`, earlier ones too: provoked by the test."""
        self._expected.append(re.compile(pattern))

    @property
    def wrong(self):
        return [
            *self._wrong,
            *(
                message
                for message in self._console
                if not any(pattern.search(message) for pattern in self._expected)
            ),
        ]

    def _asked(self, request):
        asked = urlsplit(request.url)
        if asked.scheme not in ("blob", "data") and asked.netloc != self._host:
            self._wrong.append(f"asked {request.url}")

    def _on_console(self, message):
        if message.type in ("error", "warning"):
            place = message.location.get("url", "")
            self._console.append(f"{message.type}: {message.text} ({place})")


def browser_program():
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    assert browser, "there is no Chromium; install it (Debian: apt install chromium)"
    return browser
