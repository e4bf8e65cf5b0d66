"""A diagram of boxes and arrows as SVG, with light and dark colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ssdpt.evaluation.web_page import escape

LETTER = 7.4  # pixels of an average letter of a box's title, 13 px
SMALL_LETTER = 6.4  # of a line in it, and of an arrow's label, 11.5 px
_STYLE = """
.diagram text { font: 11.5px system-ui, "Segoe UI", Roboto, sans-serif; fill: #16202a; }
.diagram .title { font-size: 13px; font-weight: 600; }
.diagram .label, .diagram .lane { fill: #5a6772; }
.diagram .lane { font-size: 13px; font-weight: 600; }
.diagram rect { fill: #ffffff; stroke: #8a949c; }
.diagram rect.network { fill: #d8ebf7; stroke: #0072b2; }
.diagram rect.outcome { fill: #fbe9cd; stroke: #b87a00; }
.diagram rect.frame { fill: none; stroke: #8a949c; stroke-dasharray: 4 3; }
.diagram path { fill: none; stroke: #5a6772; stroke-width: 1.3; }
.diagram path.tip { fill: #5a6772; stroke: none; }
@media (prefers-color-scheme: dark) {
.diagram text { fill: #e8edf1; }
.diagram .label, .diagram .lane { fill: #9fb0bd; }
.diagram rect { fill: #1f2932; stroke: #6b7883; }
.diagram rect.network { fill: #12354c; stroke: #58b4f0; }
.diagram rect.outcome { fill: #473410; stroke: #f0b849; }
.diagram rect.frame { fill: none; }
.diagram path { stroke: #9fb0bd; }
.diagram path.tip { fill: #9fb0bd; stroke: none; }
}
"""


@dataclass(frozen=True, slots=True)
class Box:
    """A step of the method; x and y are its centre, in pixels."""

    x: float
    y: float
    width: float
    title: str
    lines: tuple[str, ...] = ()
    kind: str = ""  # network, outcome or empty

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
        """Whether title and lines fit into the box, estimated by their length."""
        available = self.width - 10
        return len(self.title) * LETTER <= available and all(
            len(line) * SMALL_LETTER <= available for line in self.lines
        )


@dataclass(frozen=True, slots=True)
class Arrow:
    """A polyline with a tip at its end, labelled with the shape of the data."""

    points: tuple[tuple[float, float], ...]
    label: str = ""
    at: tuple[float, float] = (0.0, 0.0)  # position of the label
    anchor: str = "start"  # alignment of the label: start, middle, end


@dataclass(frozen=True, slots=True)
class Note:
    """Text next to the boxes."""

    x: float
    y: float
    text: str
    kind: str = "label"  # or lane
    anchor: str = "start"


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes and arrows on an area of `width` × `height` pixels."""

    title: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    notes: tuple[Note, ...] = ()
    frames: tuple[tuple[float, float, float, float], ...] = ()  # x, y, width, height

    def svg(self) -> str:
        """The diagram as a complete SVG document."""
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="diagram" role="img" '
            f'aria-label="{escape(self.title)}" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'style="max-width: {self.width:g}px">',
            f"<title>{escape(self.title)}</title>",
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
    path = f'<path d="M {line}"/><path class="tip" d="{tip}"/>'
    return path + (_text(*arrow.at, arrow.label, "label", arrow.anchor) if arrow.label else "")


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
    # L_c becomes L with subscript c; a zero-width space returns to the base line.
    lowered = r'\1<tspan dy="3" font-size="9">\2</tspan><tspan dy="-3">&#8203;</tspan>'
    escaped = re.sub(r"\b([A-Z])_([a-z])\b", lowered, escape(text))
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escaped}</text>'
