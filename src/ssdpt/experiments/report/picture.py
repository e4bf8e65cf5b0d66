"""A finished figure as PNG and SVG files, and inline for a page with light and dark colours."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from ssdpt.common.files import atomic_path, write_text
from ssdpt.evaluation.plots import style
from ssdpt.evaluation.web_page import inline_svg
from ssdpt.experiments.claims.claims import SMOKE

INK, MUTED, GRID, PANEL = "#16202a", "#5a6772", "#e3e8ec", "#ffffff"
_VARIABLES = {INK: "--ink", MUTED: "--muted", GRID: "--grid", PANEL: "--panel"}

_STYLE = {
    **style(INK, MUTED, GRID),
    "axes.facecolor": PANEL,
    "figure.facecolor": PANEL,
    "hatch.linewidth": 0.6,
}
_DOTS_PER_INCH = 160


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished figure."""

    name: str  # of its files, without extension
    title: str
    caption: str
    svg: str
    png: bytes

    def save(self, folder: Path) -> None:
        """Write NAME.svg and NAME.png to `folder`, each atomically."""
        write_text(folder / f"{self.name}.svg", self.svg)
        with atomic_path(folder / f"{self.name}.png") as path:
            path.write_bytes(self.png)

    @property
    def inline(self) -> str:
        """SVG for the page: with its colours, no fixed size, and the title as alternative text."""
        return inline_svg(self.svg, self.title, _VARIABLES)


def make_picture(
    name: str,
    title: str,
    caption: str,
    draw: Callable[[Figure], None],
    inches: tuple[float, float],
    smoke: bool,
) -> Picture:
    """Draw a figure as SVG and PNG; `inches`: width and height. Equal input gives equal bytes."""
    # The salt makes names inside the SVG reproducible and unique on a page.
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=inches, layout="constrained")
        draw(figure)
        heading = f"{title} ({SMOKE})" if smoke else title
        figure.suptitle(heading, fontsize=11, x=0.01, ha="left")
        vector, raster = io.StringIO(), io.BytesIO()
        figure.savefig(vector, format="svg", metadata={"Date": None})
        figure.savefig(raster, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
    return Picture(name, title, caption, vector.getvalue(), raster.getvalue())
