"""A finished figure, as PNG, as SVG, and for a page that has light and dark colours."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from ssdpt.common.files import atomic_path, write_text
from ssdpt.evaluation.plots import style
from ssdpt.experiments.claims.claims import SMOKE

INK, MUTED, GRID, PANEL = "#16202a", "#5a6772", "#e3e8ec", "#ffffff"
_VARIABLES = {INK: "--ink", MUTED: "--muted", GRID: "--grid", PANEL: "--panel"}

_STYLE = {
    **style(INK, MUTED, GRID),
    "axes.facecolor": PANEL,
    "figure.facecolor": PANEL,
    "hatch.linewidth": 0.6,
}
_DOTS_AN_INCH = 160


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished figure."""

    name: str  # of its files
    title: str
    caption: str
    svg: str
    png: bytes

    def save(self, folder: Path) -> None:
        """NAME.svg and NAME.png in `folder`, each whole or not at all."""
        write_text(folder / f"{self.name}.svg", self.svg)
        with atomic_path(folder / f"{self.name}.png") as path:
            path.write_bytes(self.png)

    @property
    def inline(self) -> str:
        """For a page: its colours, no fixed size, and its title as alternative text."""
        text = self.svg[self.svg.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->\s*", "", text, flags=re.DOTALL)
        text = re.sub(r'(?<=<g) id="[^"]*"| id="image[^"]*"', "", text)  # unused, and not unique
        text = re.sub(
            r"<svg[^>]*?viewBox=\"([^\"]*)\"[^>]*>",
            f'<svg role="img" aria-label="{html.escape(self.title)}" viewBox="\\1">',
            text,
            count=1,
            flags=re.DOTALL,
        )
        for colour, variable in _VARIABLES.items():
            text = text.replace(colour, f"var({variable})")
        return text


def make_picture(
    name: str,
    title: str,
    caption: str,
    draw: Callable[[Figure], None],
    inches: tuple[float, float],
    smoke: bool,
) -> Picture:
    """Draw once, save twice; `inches` is width and height. Equal input gives equal bytes."""
    # The salt fixes the names inside the SVG and keeps those of two pictures on a page apart.
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=inches, layout="constrained")
        draw(figure)
        heading = f"{title} ({SMOKE})" if smoke else title
        figure.suptitle(heading, fontsize=11, x=0.01, ha="left")
        vector, raster = io.StringIO(), io.BytesIO()
        figure.savefig(vector, format="svg", metadata={"Date": None})
        figure.savefig(raster, format="png", dpi=_DOTS_AN_INCH, metadata={"Software": None})
    return Picture(name, title, caption, vector.getvalue(), raster.getvalue())
