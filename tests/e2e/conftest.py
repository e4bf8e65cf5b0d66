"""A real browser, and pages whose errors fail the test."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="module")
def browser():
    from browser_pages import browser_program
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)  # only ends what has failed; the cores may be busy
    with sync_playwright() as playwright:
        sandbox = [] if os.getuid() else ["--no-sandbox"]  # it refuses to have one as root
        browser = playwright.chromium.launch(executable_path=browser_program(), args=sandbox)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Opens pages of a service; one that does what it must not do fails the test."""
    from browser_pages import Pages

    with Pages(browser) as pages:
        yield pages.open
