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
import torch
from torch import Tensor

from ssdpt.config import Config, GaussianConfig
from ssdpt.features.cache import FeatureView
from ssdpt.features.segments import gathered_segments, whole_segments
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.scoring.gaussian import Gaussians
from ssdpt.systems.base import Arrays, FitContext, GraphOutput, System, SystemGraph
from ssdpt.types import Floats

_AT_ONCE = 256  # segments
_FLOOR = 1e-2  # dB², smallest variance in any direction: a few clips can look too alike


class GaussianMixture(System):
    """One Gaussian, or a mixture of several, for every section."""

    name: ClassVar[str] = "gmm"

    def __init__(
        self,
        config: Config,
        sections: tuple[str, ...],
        gaussians: Gaussians,
    ) -> None:
        super().__init__(config, sections)
        self.gaussians = gaussians

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
            Gaussians(np.array(means), np.array(precisions), np.array(log_weights), tuple(owners)),
        )

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        settings: GaussianConfig = self.config.gmm
        total, count = np.zeros(self.gaussians.means.shape[1]), 0
        along = array("f")

        def counted(blocks: Iterable[Floats]) -> Iterable[Floats]:
            nonlocal total, count
            for block in blocks:
                total = total + block.sum(0, dtype=np.float64)
                count += len(block)
                yield block

        for segments in whole_segments(counted(frames), settings.frames, settings.hop, _AT_ONCE):
            along.extend(self.gaussians.surprise(segments.mean(1).numpy(), section).tolist())
        return self.gaussians.clip_score(
            total / count,
            along,
            section,
            hop_seconds=settings.hop * self.hop_seconds,
            segment_seconds=settings.frames * self.hop_seconds,
        )

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """How far every point lies from the normal mean of its bin, in squared deviations."""
        known = self.gaussians
        deviation = [
            (frames - known.means[place]) ** 2 * np.diag(known.precisions[place])
            for place in known.of(section)
        ]
        return np.min(deviation, axis=0).astype(np.float32)

    @property
    def segment_frames(self) -> int:
        return self.config.gmm.frames

    def graph(self) -> SystemGraph:
        return _Graph(self)

    def arrays(self) -> dict[str, np.ndarray]:
        known = self.gaussians
        return {
            "means": known.means,
            "precisions": known.precisions,
            "log_weights": known.log_weights,
        }

    def description(self) -> dict[str, Any]:
        count = sum(array.size for array in self.arrays().values())
        return {"owners": list(self.gaussians.owners), "parameters": count}

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        means = np.asarray(arrays["means"])
        owners = tuple(str(owner) for owner in description["owners"])
        if means.shape != (len(owners), config.features.n_mels):
            raise ValueError("the Gaussians are of another front end")
        known = Gaussians(means, arrays["precisions"], arrays["log_weights"], owners)
        return cls(config, sections, known)


class _Graph(SystemGraph):
    """The surprise of every segment and of the whole clip's mean spectrum, in float64."""

    means: Tensor  # (gaussians, 1, bins)
    precisions: Tensor
    log_weights: Tensor  # (gaussians, 1)

    def __init__(self, system: GaussianMixture) -> None:
        settings, known = system.config.gmm, system.gaussians
        super().__init__({"surprise": 1.0}, settings.hop, _AT_ONCE)
        self.references = known
        self.frames = settings.frames
        self.own = [known.of(section) for section in system.sections]
        self.register_buffer("means", torch.from_numpy(known.means)[:, None])
        self.register_buffer("precisions", torch.from_numpy(known.precisions))
        self.register_buffer("log_weights", torch.from_numpy(known.log_weights)[:, None])

    def forward(self, frames: Tensor) -> GraphOutput:
        spectra = gathered_segments(frames, self.frames, self.segment_hop).mean(1)
        clip = self._surprise(frames.double().mean(0, keepdim=True))
        return GraphOutput((self._surprise(spectra.double()).float(),), spectra, clip[0].float())

    def _surprise(self, spectra: Tensor) -> Tensor:
        """(spectra, bins) to (spectra, sections), as `Gaussians.surprise`."""
        deviation = spectra - self.means  # (gaussians, spectra, bins)
        distance = ((deviation @ self.precisions) * deviation).sum(2)
        terms = self.log_weights - 0.5 * distance  # (gaussians, spectra)
        best = torch.stack([terms[own].amax(0) for own in self.own])  # (sections, spectra)
        return (
            -torch.stack(
                [
                    best[place] + (terms[own] - best[place]).exp().sum(0).log()
                    for place, own in enumerate(self.own)
                ],
                dim=1,
            )
            / spectra.shape[1]
        )


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
