"""The built site is whole by itself: it loads nothing from another host, and its search works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
LOADS = {"src", "srcset", "poster", "data"}
SLOW = 180_000  # milliseconds; only ends what has failed
# Pictures load when they are near the window; here all of them must.
_LOOK = """async () => {
  const images = [...document.images];
  images.forEach((image) => (image.loading = "eager"));
  await Promise.all(images.map((image) => image.decode().catch(() => {})));
  const width = document.documentElement.scrollWidth;
  return [
    ...(width > innerWidth ? [`wider than the window: ${width}`] : []),
    ...images.filter((image) => !image.naturalWidth).map((image) => `no picture: ${image.src}`),
  ];
}"""

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly as by `make docs`: not quietly, since that hides warnings."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [str(Path(sys.executable).with_name("mkdocs")), "build", "--strict", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


class _Loaded(HTMLParser):
    """What a page loads: not where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.addresses += [values[name] for name in LOADS & values.keys()]
        if tag == "link":
            self.addresses.append(values.get("href", ""))
        self.addresses += re.findall(r"url\(([^)]*)\)", values.get("style", ""))


def _outside(address: str) -> bool:
    return re.match(r"""["']?(?:https?:)?//""", address.strip()) is not None


def test_pages_load_nothing_from_another_host(site: Path) -> None:
    loaded = []
    for page in site.rglob("*.html"):
        parser = _Loaded()
        parser.feed(page.read_text("utf-8"))
        loaded += parser.addresses
    for sheet in site.rglob("*.css"):
        loaded += re.findall(r"(?:url\(|@import\s+)([^);]+)", sheet.read_text("utf-8"))
    assert len(loaded) > 100
    assert [address for address in loaded if _outside(address)] == []


@contextmanager
def _browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.mark.needs_browser
def test_search_works_from_a_folder(site: Path) -> None:
    with _browser() as browser:
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        box = page.get_by_placeholder("Search").first
        box.press_sequentially("quiet hours")
        found = page.locator(".md-search-result__link").first

        def pressed_again() -> bool:
            box.press("End")  # the page looks at the words with each key, once it has begun to
            return found.is_visible()

        wait_until(pressed_again, "the search finds pages")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))] == []


@pytest.mark.needs_browser
@pytest.mark.parametrize("width", [375, 1280], ids=["phone", "desktop"])
def test_pages_fit_and_show_all_their_pictures(site: Path, width: int) -> None:
    with _browser() as browser:
        problems = _problems(browser, site, width)
    assert problems == {}


@pytest.mark.needs_browser
def test_what_is_wrong_with_a_page_is_found(tmp_path: Path) -> None:
    (tmp_path / "wrong.html").write_text(
        "<p style='width: 1300px'>wide</p><img src='absent.png'><script>fail()</script>"
    )
    (tmp_path / "right.html").write_text("<p>narrow</p>")
    with _browser() as browser:
        found = _problems(browser, tmp_path, 1280)
    (listed,) = found.values()
    assert listed[0] == "wider than the window: 1308"
    assert listed[1].endswith("absent.png")
    assert any("fail is not defined" in one for one in listed)


def _problems(browser: Browser, site: Path, width: int) -> dict[str, list[str]]:
    """What a person would see, or the console says, by page; empty: nothing."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    said: list[str] = []
    page.on("console", lambda message: message.type == "error" and said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    problems = {}
    # A server sends 404.html, with addresses from its root.
    for file in sorted({*site.rglob("*.html")} - {site / "404.html"}):
        said.clear()
        page.goto(file.as_uri(), timeout=SLOW)
        listed = page.evaluate(_LOOK) + said
        if listed:
            problems[file.relative_to(site).as_posix()] = listed
    return problems
