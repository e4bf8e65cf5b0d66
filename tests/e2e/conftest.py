"""A real browser, and pages whose errors fail the test."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="module")
def browser():
    from monitor_service import browser_program
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=15_000)  # the cores are shared with the service
    with sync_playwright() as playwright:
        sandbox = [] if os.getuid() else ["--no-sandbox"]  # it refuses to have one as root
        browser = playwright.chromium.launch(executable_path=browser_program(), args=sandbox)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Opens pages of a service, each in a browser profile of its own.

    A page that asks another host, breaks its policy or writes errors to the console fails the test.
    """
    from monitor_service import PageWatch

    watched = []

    def opened(service, path="", **options):
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 800}, "color_scheme": "light", **options}
        )
        page = context.new_page()
        page.watch = PageWatch(context, service.address)
        watched.append((context, page.watch))
        page.goto(service.address + path)
        return page

    yield opened
    wrong = []
    for context, watch in watched:
        context.close()
        wrong += watch.wrong
    assert not wrong
