"""The frame of a self-contained HTML page, and SVG figures that follow its colours."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping


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
