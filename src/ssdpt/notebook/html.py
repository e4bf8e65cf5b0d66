"""Pieces of HTML that look right in light and in dark notebooks.

Text and lines have the colour of the notebook's own text (`currentColor`); the other colours are
of middle brightness, so that they stand out on white and on black. Styles are inline: a notebook
may remove style elements, and several outputs on one page must not change each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

BLUE, ORANGE, RED = "#2f86c4", "#e0641e", "#d62f55"
LEVEL_COLOURS = {"normal": BLUE, "alert": ORANGE, "alarm": RED}

_BLOCK = "max-width:46em;margin:.4em 0;font:14px/1.45 system-ui,sans-serif;overflow-wrap:anywhere"
_TABLE = "border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;margin:.4em 0"
_CELL = "padding:.15em .7em .15em 0;vertical-align:top;border:0;background:none;color:inherit"


def block(title: str, *parts: str, colour: str = "") -> str:
    """A heading with what belongs to it; `parts` are HTML, empty ones are left out."""
    mark = f"border-left:4px solid {colour};padding-left:.7em;" if colour else ""
    heading = f'<div style="font-weight:600">{escape(title)}</div>'
    # Without empty lines: in Markdown, one would end the HTML.
    return f'<div style="{mark}{_BLOCK}">{heading}{"".join(parts)}</div>'


def line(text: str) -> str:
    """A line of text."""
    return f"<div>{escape(text)}</div>" if text else ""


def small(text: str) -> str:
    """A line in small print."""
    return f'<div style="font-size:12px;opacity:.75">{escape(text)}</div>' if text else ""


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first column is text, the others are numbers. No headings: a list of facts."""

    def cell(kind: str, text: str, column: int) -> str:
        right = bool(headings) and column > 0
        style = f"{_CELL};text-align:{'right' if right else 'left'}"
        if kind == "th":
            style += ";font-weight:600"
        if column == 0:
            style += ";white-space:nowrap"
        if headings:  # numbers and the words above them stay whole; the table scrolls
            style += ";overflow-wrap:normal"
        return f'<{kind} style="{style}">{escape(text)}</{kind}>'

    def row(kind: str, texts: Sequence[str]) -> str:
        cells = "".join(cell(kind, text, column) for column, text in enumerate(texts))
        return f'<tr style="background:none">{cells}</tr>'

    head = f"<thead>{row('th', headings)}</thead>" if headings else ""
    body = "".join(row("td", texts) for texts in rows)
    whole = f'<table class="ssdpt" style="{_TABLE}">{head}<tbody>{body}</tbody></table>'
    return f'<div style="overflow-x:auto">{whole}</div>'


def table_of(rows: Sequence[dict[str, str]]) -> str:
    """A table of rows whose keys are the headings."""
    return table(list(rows[0]), [list(row.values()) for row in rows]) if rows else ""
