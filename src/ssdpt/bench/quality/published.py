"""Figures that others have published, from `published.yaml`, and those of the SSDPT paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import yaml

from ssdpt.evaluation.tables import harmonic
from ssdpt.experiments.claims.published import published as paper_values

ALL_CLIPS = "all training clips, about 1,000 per section"
_PAPER_METHODS = {
    "mnv2-lof": "MNv2-LOF",
    "wavenet-ensemble": "WaveNet-ensemble",
    "ssdpt": "SSDPT",
    "ssdpt-ensemble": "SSDPT-ensemble",
}


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A row of somebody else's table; fractions, None where it was not given."""

    method: str
    year: int  # of the DCASE development set
    machine: str = ""  # machine type; empty: all types of that year
    auc_source: float | None = None
    auc_target: float | None = None
    pauc: float | None = None
    h_auc: float | None = None  # 2021 definition
    h_pauc: float | None = None
    official_2021: float | None = None
    official_2022: float | None = None
    training: str = ALL_CLIPS
    chosen: str = ""  # what was chosen on test labels, if that is known
    pretrained: bool = False  # on other sound, AudioSet for example
    source: str = ""  # who published it where, with the year

    @property
    def official(self) -> float | None:
        """The official 2022 score: as given, or the harmonic mean of its three parts."""
        parts = (self.auc_source, self.auc_target, self.pauc)
        given = [part for part in parts if part is not None]
        if self.official_2022 is None and len(given) == len(parts):
            return float(harmonic(np.array([given]))[0])
        return self.official_2022

    @property
    def is_computed(self) -> bool:
        """Whether the official score was computed here from its parts."""
        return self.official_2022 is None and self.official is not None

    @property
    def measured_on(self) -> str:
        """What is behind the figure, so that nobody compares it with something else."""
        parts = [self.training, f"all test clips of the {self.year} development set"]
        parts += ["network pretrained on other sound"] if self.pretrained else []
        parts += [self.chosen] if self.chosen else []
        return "; ".join(parts)


@cache
def published_figures() -> tuple[PublishedFigure, ...]:
    """All of them, oldest data first."""
    text = resources.files("ssdpt.bench.quality").joinpath("published.yaml").read_text("utf-8")
    figures = [PublishedFigure(**entry) for entry in yaml.safe_load(text)]
    table_one = paper_values().table_one
    figures += [
        PublishedFigure(
            label,
            2021,
            h_auc=table_one[name].h_auc,
            h_pauc=table_one[name].h_pauc,
            chosen="epochs chosen on test labels" if name.startswith("ssdpt") else "",
            source="the SSDPT paper, Table I, Bai et al. 2022 (arXiv 2208.03421)",
        )
        for name, label in _PAPER_METHODS.items()
    ]
    return tuple(sorted(figures, key=lambda figure: (figure.year, figure.machine)))
