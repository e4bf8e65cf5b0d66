"""Takes a picture of the page of `ssdpt bench quality`: its heading and its first plot.

    ssdpt bench quality dcase2022 dcase2023 --out quality --alone
    python docs/figures/benchmark.py quality/quality.html docs/images/benchmark.png

Needs Chromium.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

_WIDTH = 560  # pixels of the page, so that its letters can be read on a phone
_SCALE = 1.25


def draw(page_file: Path, out: Path) -> None:
    """Write the picture."""
    browser_program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program, args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": _WIDTH, "height": 2000},
            device_scale_factor=_SCALE,
            color_scheme="light",
        )
        page.goto(page_file.resolve().as_uri())
        figure = page.locator("figure").first.bounding_box()
        assert figure is not None
        height = figure["y"] + figure["height"] + 8
        taken = page.screenshot(clip={"x": 0, "y": 0, "width": _WIDTH, "height": height})
        browser.close()
    few = Image.open(io.BytesIO(taken)).convert("RGB")
    few.quantize(128, Image.Quantize.MAXCOVERAGE).save(out, optimize=True)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
