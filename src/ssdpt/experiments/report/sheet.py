"""A sheet with boxes and arrows, as SVG that follows light and dark by itself."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

LETTER = 7.4  # pixels of an average letter of a box's title, 13 px
SMALL_LETTER = 6.4  # of a line in it, and of an arrow's label, 11.5 px
_STYLE = """
.drawing text { font: 11.5px system-ui, "Segoe UI", Roboto, sans-serif; fill: #16202a; }
.drawing .title { font-size: 13px; font-weight: 600; }
.drawing .label, .drawing .lane { fill: #5a6772; }
.drawing .lane { font-size: 13px; font-weight: 600; }
.drawing rect { fill: #ffffff; stroke: #8a949c; }
.drawing rect.network { fill: #d8ebf7; stroke: #0072b2; }
.drawing rect.outcome { fill: #fbe9cd; stroke: #b87a00; }
.drawing rect.frame { fill: none; stroke: #8a949c; stroke-dasharray: 4 3; }
.drawing path { fill: none; stroke: #5a6772; stroke-width: 1.3; }
.drawing path.tip { fill: #5a6772; stroke: none; }
@media (prefers-color-scheme: dark) {
.drawing text { fill: #e8edf1; }
.drawing .label, .drawing .lane { fill: #9fb0bd; }
.drawing rect { fill: #1f2932; stroke: #6b7883; }
.drawing rect.network { fill: #12354c; stroke: #58b4f0; }
.drawing rect.outcome { fill: #473410; stroke: #f0b849; }
.drawing rect.frame { fill: none; }
.drawing path { stroke: #9fb0bd; }
.drawing path.tip { fill: #9fb0bd; stroke: none; }
}
"""


@dataclass(frozen=True, slots=True)
class Box:
    """A step of the method; x and y are its middle, in pixels."""

    x: float
    y: float
    width: float
    title: str
    lines: tuple[str, ...] = ()
    kind: str = ""  # network, outcome, or plain

    @property
    def height(self) -> float:
        return 30.0 + 16 * len(self.lines)

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height / 2

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2

    @property
    def fits(self) -> bool:
        """Whether title and lines stay inside, by their length."""
        room = self.width - 10
        return len(self.title) * LETTER <= room and all(
            len(line) * SMALL_LETTER <= room for line in self.lines
        )


@dataclass(frozen=True, slots=True)
class Arrow:
    """A bent line with a tip at its end and the shape of what travels along it."""

    points: tuple[tuple[float, float], ...]
    label: str = ""
    at: tuple[float, float] = (0.0, 0.0)  # where the label stands
    anchor: str = "start"  # which end of the label stands there: start, middle, end


@dataclass(frozen=True, slots=True)
class Note:
    """Words beside the boxes."""

    x: float
    y: float
    text: str
    kind: str = "label"  # or lane
    anchor: str = "start"


@dataclass(frozen=True, slots=True)
class Drawing:
    """Boxes and arrows on a sheet of `width` × `height` pixels."""

    title: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    notes: tuple[Note, ...] = ()
    frames: tuple[tuple[float, float, float, float], ...] = ()  # x, y, width, height

    def svg(self) -> str:
        """The drawing as SVG text, whole in itself."""
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="img" '
            f'aria-label="{_safe(self.title)}" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'style="max-width: {self.width:g}px">',
            f"<title>{_safe(self.title)}</title>",
            f"<style>{_STYLE}</style>",
            *(
                f'<rect class="frame" x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="8"/>'
                for x, y, w, h in self.frames
            ),
            *(_arrow(arrow) for arrow in self.arrows),
            *(_box(box) for box in self.boxes),
            *(_text(n.x, n.y, n.text, n.kind, n.anchor) for n in self.notes),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"


def _arrow(arrow: Arrow) -> str:
    line = " L ".join(f"{x:g} {y:g}" for x, y in arrow.points)
    (x0, y0), (x1, y1) = arrow.points[-2:]
    length = max(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5, 1e-9)
    dx, dy = 7 * (x1 - x0) / length, 7 * (y1 - y0) / length
    tip = (
        f"M {x1:g} {y1:g} L {x1 - dx - dy / 2:.1f} {y1 - dy + dx / 2:.1f} "
        f"L {x1 - dx + dy / 2:.1f} {y1 - dy - dx / 2:.1f} Z"
    )
    drawn = f'<path d="M {line}"/><path class="tip" d="{tip}"/>'
    return drawn + (_text(*arrow.at, arrow.label, "label", arrow.anchor) if arrow.label else "")


def _box(box: Box) -> str:
    first = box.top + 20
    lines: Sequence[str] = [
        _text(box.x, first + 16 * (index + 1), line, "", "middle")
        for index, line in enumerate(box.lines)
    ]
    return (
        f'<rect class="{box.kind}" x="{box.left:g}" y="{box.top:g}" width="{box.width:g}" '
        f'height="{box.height:g}" rx="6"/>{_text(box.x, first, box.title, "title", "middle")}'
        + "".join(lines)
    )


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    # L_c is written with a lowered letter; a space of no width brings the line up again.
    lowered = r'\1<tspan dy="3" font-size="9">\2</tspan><tspan dy="-3">&#8203;</tspan>'
    words = re.sub(r"\b([A-Z])_([a-z])\b", lowered, _safe(text))
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{words}</text>'


def _safe(text: str) -> str:
    return html.escape(text, quote=True)
