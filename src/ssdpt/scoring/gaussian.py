"""Gaussians on mean spectra: the arithmetic of system gmm, in numpy alone.

The system and its exported form score with this one piece of code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdpt.scoring.aggregate import ClipScore
from ssdpt.types import Floats, Timeline


@dataclass(frozen=True, slots=True)
class Gaussians:
    """The Gaussians of every section.

    `log_weights` holds the mixture weight and the normalisation together, so that a
    log-likelihood is log Σ exp(log_weight − ½ (x − µ)ᵀ Λ (x − µ)).
    """

    means: np.ndarray  # (gaussians, bins) dB
    precisions: np.ndarray  # (gaussians, bins, bins)
    log_weights: np.ndarray  # (gaussians,)
    owners: tuple[str, ...]  # the section of every Gaussian

    def __post_init__(self) -> None:
        count, bins = len(self.owners), self.means.shape[-1] if self.means.ndim else 0
        shapes = (self.means.shape, self.precisions.shape, self.log_weights.shape)
        if shapes != ((count, bins), (count, bins, bins), (count,)):
            raise ValueError("the Gaussians do not belong together")

    def of(self, section: str) -> list[int]:
        """Which of them are this section's."""
        return [place for place, owner in enumerate(self.owners) if owner == section]

    def surprise(self, spectra: np.ndarray, section: str) -> np.ndarray:
        """−log likelihood of (spectra, bins) under the section's Gaussians, per bin: (spectra,)."""
        terms = []
        for place in self.of(section):
            deviation = spectra - self.means[place]
            distance = np.einsum("vi,ij,vj->v", deviation, self.precisions[place], deviation)
            terms.append(self.log_weights[place] - 0.5 * distance)
        with np.errstate(invalid="ignore"):  # a score that is no number is refused later
            return -np.logaddexp.reduce(terms, axis=0) / spectra.shape[1]

    def clip_score(
        self,
        mean: np.ndarray,
        along: Sequence[float],
        section: str,
        *,
        hop_seconds: float,
        segment_seconds: float,
    ) -> ClipScore:
        """A clip is its mean spectrum (bins,); `along` holds the surprise of its segments."""
        value = float(self.surprise(mean[None], section)[0])
        timeline: Floats = np.array(along, np.float32)
        return ClipScore(
            value=value,
            parts={"surprise": value},
            timeline=Timeline(
                start=(np.arange(len(timeline)) * hop_seconds).astype("f4"),
                duration=segment_seconds,
                value=timeline,
                parts={"surprise": timeline},
            ),
        )
