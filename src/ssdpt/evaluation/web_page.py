"""The frame of a self-contained HTML page, its tables, and SVG figures that follow its colours."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence


def escape(text: object) -> str:
    """Text that is safe inside HTML, attributes included."""
    return html.escape(str(text), quote=True)


def web_page(title: str, style: str, body: Iterable[str]) -> str:
    """An HTML page without any request to other files or hosts; empty parts are left out."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body>\n</html>\n"
    )


def inline_svg(svg: str, title: str, variables: Mapping[str, str], style: str = "") -> str:
    """A matplotlib SVG for use inside a page: no fixed size, `title` as alternative text.

    `variables` maps colours of the figure to CSS variables of the page.
    """
    text = svg[svg.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'(?<=<g) id="[^"]*"| id="image[^"]*"', "", text)  # unused, and not unique
    attributes = f'role="img" aria-label="{escape(title)}" viewBox="\\1"'
    if style:
        attributes += f' style="{style}"'
    text = re.sub(
        r"<svg[^>]*?viewBox=\"([^\"]*)\"[^>]*>",
        f"<svg {attributes}>",
        text,
        count=1,
        flags=re.DOTALL,
    )
    for colour, variable in variables.items():
        text = text.replace(colour, f"var({variable})")
    return text


def figure_element(svg: str, caption: str) -> str:
    """A picture with its caption."""
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def table_element(
    caption: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    text_columns: int = 1,
    total: bool = False,
) -> str:
    """A table whose first column holds the row headings; wide tables scroll."""
    rows = list(rows)

    def kind(column: int) -> str:
        return ' class="text"' if column < text_columns else ""

    # Headings may wrap at spaces, but h-AUC must not wrap at its hyphen.
    head = "".join(
        f'<th scope="col"{kind(i)}>{escape(heading).replace("-", "&#8209;")}</th>'
        for i, heading in enumerate(headings)
    )
    lines = []
    for number, row in enumerate(rows):
        mark = ' class="total"' if total and number == len(rows) - 1 else ""
        cells = "".join(f"<td{kind(i)}>{_stacked(v)}</td>" for i, v in enumerate(row) if i > 0)
        lines.append(f'<tr{mark}><th scope="row" class="text">{escape(row[0])}</th>{cells}</tr>')
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _stacked(text: str) -> str:
    """A number with its interval in small print below, which keeps tables narrow."""
    value, bracket, interval = text.partition(" (")
    return escape(value) + (f"<br><small>{escape(interval.rstrip(')'))}</small>" if bracket else "")
