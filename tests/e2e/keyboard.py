"""A person without a mouse: what the Tab key reaches, and whether one sees where the focus is."""

from __future__ import annotations

import pytest

# Of a group of radio buttons the Tab key reaches the chosen one; arrows reach the others.
USABLE = ", ".join(
    f"{what}:not(:disabled, [tabindex='-1'])"
    for what in (
        "a[href]",
        "button",
        "input:not([type='radio'])",
        "select",
        "textarea",
        "summary",
        "[tabindex='0']",
    )
)
_BEGIN = """(usable) => {
  window.reached = []
  addEventListener('focusin', (event) => window.reached.push(event.target))
  window.wanted = [...document.querySelectorAll(usable)].filter((each) => each.checkVisibility())
  document.querySelector('.skip').focus()
}"""
_FOCUS = """() => {
  const element = document.activeElement
  if (!element || element === document.body) return null
  // The mark is on itself, or on what stretches it over its card.
  const marks = [null, '::after'].map((part) => getComputedStyle(element, part).outlineStyle)
  const {left, top, right, bottom} = element.getBoundingClientRect()
  const within = (least, most) => (Math.max(least, 0) + Math.min(most, 1)) / 2
  const seen = document.elementFromPoint(
    innerWidth * within(left / innerWidth, right / innerWidth),
    innerHeight * within(top / innerHeight, bottom / innerHeight),
  )
  return {
    html: element.outerHTML.slice(0, 160),
    marked: marks.some((style) => style !== 'none'),
    onScreen: bottom > 0 && top < innerHeight && right > 0 && left < innerWidth,
    covered: !seen || !(element.contains(seen) || seen.contains(element)),
  }
}"""
_MISSED = """() => window.wanted
  .filter((each) => each.isConnected && each.checkVisibility() && !window.reached.includes(each))
  .map((each) => each.outerHTML.slice(0, 160))"""
# Of those that are still there: lists change while one walks through them.
_OUT_OF_ORDER = """() => window.reached.filter((each) => each.isConnected)
  .filter((each, number, all) => number && each !== all[number - 1] &&
    !(all[number - 1].compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING))
  .map((each) => each.outerHTML.slice(0, 160))"""


def assert_focus_is_seen(page):
    """Whether anything has the focus; then it is marked, on the screen and below nothing."""
    focus = page.evaluate(_FOCUS)
    if focus:
        assert focus["marked"], f"nothing shows the focus of {focus['html']}"
        assert focus["onScreen"], f"out of sight: {focus['html']}"
        assert not focus["covered"], f"below something: {focus['html']}"
    return focus is not None


def tab_through(page):
    """Walk from the top to the end: all is reached, in order, and nothing holds the focus.

    Returns how many elements there are.
    """
    page.evaluate(_BEGIN, USABLE)
    count = page.evaluate("window.wanted.length")
    for _ in range(3 * count + 50):  # dates have several parts, and lists may grow
        page.keyboard.press("Tab")
        if not assert_focus_is_seen(page):
            break
    else:
        pytest.fail("the Tab key does not come to the end of the page")
    assert page.evaluate(_MISSED) == []
    assert page.evaluate(_OUT_OF_ORDER) == []
    return count


def has_focus(target):
    return target.evaluate("element => element === document.activeElement")


def tab_to(target, key="Tab"):
    """Reach something, from where the focus is; it is seen on the way."""
    for _ in range(120):
        if has_focus(target):
            return
        target.page.keyboard.press(key)
        assert_focus_is_seen(target.page)
    pytest.fail(f"the key {key} does not reach it")


def use(target, key="Enter"):
    """Reach something and press it."""
    tab_to(target)
    target.page.keyboard.press(key)


def enter(target, text):
    """Reach a field and write into it, in place of what is there."""
    tab_to(target)
    target.page.keyboard.press("ControlOrMeta+a")
    target.page.keyboard.type(text)
