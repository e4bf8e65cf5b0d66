"""Gaussians on time-pooled log-mels: the classical reference, fitted in seconds.

A clip is its mean spectrum. With one component the covariance is Ledoit-Wolf's; the score is the
negative log-likelihood under the section's Gaussians, per mel bin.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from ssdpt.config import Config, GaussianConfig
from ssdpt.features.cache import FeatureView
from ssdpt.features.segments import whole_segments
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.systems.base import Arrays, FitContext, System
from ssdpt.types import Floats, Timeline

_FLOOR = 1e-2  # dB², smallest variance in any direction: a few clips can look too alike


class GaussianMixture(System):
    """Gaussians of every section: `means` (gaussians, bins), `precisions` (gaussians, bins, bins).

    `log_weights` (gaussians,) holds the mixture weight and the normalisation together, so that a
    log-likelihood is log Σ exp(log_weight − ½ (x − µ)ᵀ Λ (x − µ)).
    """

    name: ClassVar[str] = "gmm"

    def __init__(
        self,
        config: Config,
        sections: tuple[str, ...],
        means: np.ndarray,
        precisions: np.ndarray,
        log_weights: np.ndarray,
        owners: tuple[str, ...],
    ) -> None:
        super().__init__(config, sections)
        self.means, self.precisions, self.log_weights = means, precisions, log_weights
        self.owners = owners  # the section of every Gaussian

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        pooled: defaultdict[str, list[np.ndarray]] = defaultdict(list)
        with context.reporter.task(context.name, total=len(clips)) as task:
            for recording, frames in clips.clips():
                pooled[recording.section].append(frames.mean(0, dtype=np.float64))
                task.advance()
        spread = _covariance(np.concatenate([np.array(g) - np.mean(g, 0) for g in pooled.values()]))
        means, precisions, log_weights, owners = [], [], [], []
        for section, vectors in sorted(pooled.items()):
            for weight, mean, covariance in _mixture(np.array(vectors), spread, config):
                _, log_determinant = np.linalg.slogdet(covariance)
                size = len(mean) * np.log(2 * np.pi)
                means.append(mean)
                precisions.append(np.linalg.inv(covariance))
                log_weights.append(np.log(weight) - 0.5 * (log_determinant + size))
                owners.append(section)
        return cls(
            config,
            tuple(sorted(pooled)),
            np.array(means),
            np.array(precisions),
            np.array(log_weights),
            tuple(owners),
        )

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        settings: GaussianConfig = self.config.gmm
        total, count = np.zeros(self.means.shape[1]), 0
        along = array("f")

        def counted(blocks: Iterable[Floats]) -> Iterable[Floats]:
            nonlocal total, count
            for block in blocks:
                total = total + block.sum(0, dtype=np.float64)
                count += len(block)
                yield block

        for segments in whole_segments(counted(frames), settings.frames, settings.hop, 256):
            along.extend(self._surprise(segments.mean(1).numpy(), section).tolist())
        value = float(self._surprise((total / count)[None], section)[0])
        timeline = np.array(along, np.float32)
        return ClipScore(
            value=value,
            parts={"surprise": value},
            timeline=Timeline(
                start=(np.arange(len(timeline)) * settings.hop * self.hop_seconds).astype("f4"),
                duration=settings.frames * self.hop_seconds,
                value=timeline,
                parts={"surprise": timeline},
            ),
        )

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """How far every point lies from the normal mean of its bin, in squared deviations."""
        own = [place for place, owner in enumerate(self.owners) if owner == section]
        deviation = [
            (frames - self.means[place]) ** 2 * np.diag(self.precisions[place]) for place in own
        ]
        return np.min(deviation, axis=0).astype(np.float32)

    @property
    def segment_frames(self) -> int:
        return self.config.gmm.frames

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            "means": self.means,
            "precisions": self.precisions,
            "log_weights": self.log_weights,
        }

    def description(self) -> dict[str, Any]:
        count = self.means.size + self.precisions.size + self.log_weights.size
        return {"owners": list(self.owners), "parameters": count}

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        means = np.asarray(arrays["means"])
        owners = tuple(str(owner) for owner in description["owners"])
        if means.shape != (len(owners), config.features.n_mels):
            raise ValueError("the Gaussians are of another front end")
        return cls(config, sections, means, arrays["precisions"], arrays["log_weights"], owners)

    def _surprise(self, vectors: np.ndarray, section: str) -> np.ndarray:
        """−log likelihood of (vectors, bins) under the section's Gaussians, per bin: (vectors,)."""
        terms = []
        for place, owner in enumerate(self.owners):
            if owner == section:
                deviation = vectors - self.means[place]
                distance = np.einsum("vi,ij,vj->v", deviation, self.precisions[place], deviation)
                terms.append(self.log_weights[place] - 0.5 * distance)
        return -np.logaddexp.reduce(terms, axis=0) / vectors.shape[1]


def _mixture(
    vectors: np.ndarray, spread: np.ndarray, config: Config
) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """Weight, mean and covariance of every component for one section's clips (clips, bins)."""
    components = min(config.gmm.components, len(vectors))
    if components == 1:
        # A section with hardly any clips borrows the spread of all sections.
        own = _covariance(vectors - vectors.mean(0)) if len(vectors) > 2 else spread
        return [(1.0, vectors.mean(0), own)]
    from sklearn.mixture import GaussianMixture as Mixture

    fitted = Mixture(components, reg_covar=_FLOOR, random_state=config.seed).fit(vectors)
    return list(zip(fitted.weights_, fitted.means_, fitted.covariances_, strict=True))


def _covariance(deviations: np.ndarray) -> np.ndarray:
    """Ledoit-Wolf covariance of (clips, bins) deviations from the mean, never degenerate."""
    from sklearn.covariance import ledoit_wolf

    floor = _FLOOR * np.eye(deviations.shape[1])
    if len(deviations) == 1:
        return floor  # a single clip shows no spread
    covariance, _ = ledoit_wolf(deviations, assume_centered=True)
    return np.asarray(covariance + floor)
