"""Photographs the page of the live service when its only machine is in alarm, and then the event.

    cd PUMP && python docs/figures/alarm_page.py docs/tutorials/images

PUMP is the folder that the tutorial docs/tutorials/pump.md makes, with `model` and `monitor.yaml`.
Needs Chromium, and two minutes: the simulated pump breaks a minute after the start.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

MINUTES = 60_000  # milliseconds of a minute; what is waited for comes after two
IN_ALARM = 30_000  # milliseconds; so that the trend shows the alarm, not only its beginning
RECORDED = 15_000  # milliseconds; the recording ends some seconds after the event has begun
SIZE = ViewportSize(width=1000, height=720)


def photograph(out: Path) -> None:
    """Write pump-alarm.png (the machine in alarm) and pump-event.png (the event) to `out`."""
    with tempfile.TemporaryDirectory() as data:
        command = ["ssdpt", "serve", "--config", "monitor.yaml", "--data", data, "--port", "0"]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as service:
            assert service.stdout is not None
            try:
                address = next(
                    match[0] for line in service.stdout if (match := re.search(r"http://\S+", line))
                )
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(
                        executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
                        args=[] if os.getuid() else ["--no-sandbox"],
                    )
                    page = browser.new_page(viewport=SIZE, color_scheme="light")
                    _photograph(page, address, out)
                    browser.close()
            finally:
                service.terminate()


def _photograph(page: Page, address: str, out: Path) -> None:
    page.set_default_timeout(3 * MINUTES)
    page.goto(address)
    page.get_by_role("link", name=re.compile("^Coolant pump 1, .*Alarm, score")).click()
    expect(page.get_by_role("heading", name="Coolant pump 1")).to_be_visible()
    page.wait_for_timeout(IN_ALARM)
    _save(page, out / "pump-alarm.png")
    page.goto(f"{address}#/events")
    page.locator("td a[href^='#/event/']").first.click()
    expect(page.get_by_role("button", name="Acknowledge")).to_be_visible()
    page.wait_for_timeout(RECORDED)
    _save(page, out / "pump-event.png")


def _save(page: Page, path: Path) -> None:
    page.screenshot(path=path)
    Image.open(path).convert("RGB").quantize(96).save(path, optimize=True)


if __name__ == "__main__":
    photograph(Path(sys.argv[1]).resolve())
