"""An SVG drawing with axes: bars and a picture over seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 640, 56, 12, 8, 34  # units of the drawing
_FONT = "font-size:11px;font-family:system-ui,sans-serif"

Tick = tuple[float, str]  # a value and how it is written


class Plot:
    """A drawing of `height` units whose x axis shows `x` and whose y axis `y` (first to last)."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], height: int) -> None:
        self.height = height
        self._x, self._y = x, y
        self._parts: list[str] = []

    def place_x(self, value: float) -> float:
        """Where a value of the x axis lies in the drawing."""
        first, last = self._x
        return LEFT + (value - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def place_y(self, value: float) -> float:
        """Where a value of the y axis lies in the drawing."""
        first, last = self._y
        inside = self.height - TOP - BOTTOM
        return TOP + inside - (value - first) / (last - first) * inside

    def bar(self, begin: float, end: float, value: float, colour: str) -> None:
        """From the lower edge, or from zero where it is in sight, to `value`."""
        ends = sorted((self.place_y(value), self.place_y(max(self._y[0], min(0.0, self._y[1])))))
        left, right = self.place_x(begin), self.place_x(end)
        self._parts.append(
            f'<rect x="{left:.1f}" y="{ends[0]:.1f}" width="{max(right - left, 0.5):.1f}" '
            f'height="{max(ends[1] - ends[0], 0.5):.1f}" fill="{colour}"/>'
        )

    def level(self, value: float) -> None:
        """A dashed line across the drawing."""
        y = self.place_y(value)
        self._parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
            'stroke="currentColor" stroke-width="1.5" stroke-dasharray="5 3"/>'
        )

    def picture(self, png: str) -> None:
        """A picture, as a data URI, that fills the space between the axes."""
        self._parts.append(
            f'<image href="{png}" x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" '
            f'height="{self.height - TOP - BOTTOM}" preserveAspectRatio="none"/>'
        )

    def x_axis(self, ticks: Sequence[Tick], name: str) -> None:
        """The lower edge with its ticks, and what it shows."""
        y = self.height - BOTTOM
        self._parts.append(_line(LEFT, y, WIDTH - RIGHT, y))
        for value, text in ticks:
            x = self.place_x(value)
            self._parts += [_line(x, y, x, y + 4), _text(x, y + 15, text, "middle")]
        self._parts.append(_text((LEFT + WIDTH - RIGHT) / 2, self.height - 4, name, "middle"))

    def y_axis(self, ticks: Sequence[Tick]) -> None:
        """The left edge with its ticks."""
        self._parts.append(_line(LEFT, TOP, LEFT, self.height - BOTTOM))
        for value, text in ticks:
            y = self.place_y(value)
            self._parts += [_line(LEFT - 4, y, LEFT, y), _text(LEFT - 7, y + 4, text, "end")]

    def svg(self, description: str) -> str:
        """The drawing; `description` is read to those who cannot see it."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
            f'role="img" aria-label="{escape(description)}" '
            f'style="display:block;width:100%;max-width:{WIDTH}px;height:auto">'
            f"{''.join(self._parts)}</svg>"
        )


def round_ticks(first: float, last: float, most: int) -> list[Tick]:
    """Round numbers from `first` to `last`, `most` of them at most."""
    step = 10.0 ** math.floor(math.log10((last - first) / most))
    while (last - first) / step > most:
        # 1, 2, 5, 10, …: the leading digit says which is next.
        step *= 2.5 if f"{step:e}"[0] == "2" else 2
    begin, end = math.ceil(first / step - 1e-9), math.floor(last / step + 1e-9)
    return [(number * step, f"{round(number * step, 9):g}") for number in range(begin, end + 1)]


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="currentColor" stroke-opacity="0.5"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="currentColor" style="{_FONT}">{escape(text)}</text>'
