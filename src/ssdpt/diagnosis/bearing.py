"""A rolling bearing: how often its parts meet, per turn of its shaft.

The formulas hold for a fixed outer ring, a turning inner ring and no slip. Real bearings slip by
one to two per cent.
"""

from __future__ import annotations

import math
from typing import Self

from pydantic import Field, model_validator

from ssdpt.config.settings import Settings
from ssdpt.sentences import Sentence


class BearingGeometry(Settings):
    """The dimensions that fault frequencies follow from."""

    elements: int = Field(ge=3, le=200, description="balls or rollers in one row")
    element_mm: float = Field(
        gt=0, allow_inf_nan=False, description="diameter of a ball or roller, mm"
    )
    pitch_mm: float = Field(
        gt=0, allow_inf_nan=False, description="diameter of the circle of their centres, mm"
    )
    contact_degrees: float = Field(0.0, ge=0, lt=90, description="contact angle, °")

    @model_validator(mode="after")
    def _elements_fit(self) -> Self:
        if self.element_mm >= self.pitch_mm:
            raise ValueError(Sentence("settings.elementTooLarge"))
        # Neighbours touch where the chord between their centres is their diameter.
        if self.element_mm > 1.01 * self.pitch_mm * math.sin(math.pi / self.elements):
            raise ValueError(
                Sentence(
                    "settings.elementsDoNotFit",
                    elements=self.elements,
                    element=self.element_mm,
                    pitch=self.pitch_mm,
                )
            )
        return self

    @property
    def bpfo(self) -> float:
        """Ball pass frequency, outer race, per turn of the shaft."""
        return self.elements / 2 * (1 - self._slope)

    @property
    def bpfi(self) -> float:
        """Ball pass frequency, inner race, per turn of the shaft."""
        return self.elements / 2 * (1 + self._slope)

    @property
    def bsf(self) -> float:
        """Ball spin frequency per turn of the shaft; a damaged ball hits a race twice per spin."""
        return self.pitch_mm / (2 * self.element_mm) * (1 - self._slope**2)

    @property
    def ftf(self) -> float:
        """Fundamental train frequency: turns of the cage per turn of the shaft."""
        return (1 - self._slope) / 2

    @property
    def _slope(self) -> float:
        return self.element_mm / self.pitch_mm * math.cos(math.radians(self.contact_degrees))
