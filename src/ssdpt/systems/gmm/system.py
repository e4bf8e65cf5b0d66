"""Gaussians on time-weighted log-mels: the classical reference, fitted in seconds.

Within a segment every mel bin is pooled over time with its loud frames weighing more; a clip is the
mean of its segments' spectra. Clips of the target domain, of which there are few, are made as many
as those of the source domain by points between neighbours (SMOTE). The score is the negative
log-likelihood under the mixture of the clip's section, per mel bin; with one component the
covariance is Ledoit-Wolf's.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from ssdpt.common.arrays import Arrays
from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureView
from ssdpt.features.segments import gathered_segments, whole_segments
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.scoring.distances import distances
from ssdpt.scoring.gaussian import Gaussians
from ssdpt.systems.base import FitContext, System
from ssdpt.systems.gmm import GaussianConfig
from ssdpt.systems.parts.graph import GraphOutput, SystemGraph
from ssdpt.types import Floats

_AT_ONCE = 256  # segments
_NEIGHBOURS = 5  # of a target clip, between which and itself others are added
_LEAST_CLIPS = 10  # per component; a section with fewer has one Gaussian
_FLOOR = 1e-2  # dB², smallest variance in any direction: a few clips can look too alike


class GaussianMixture(System):
    """One Gaussian, or a mixture of several, for every section."""

    name: ClassVar[str] = "gmm"
    origin: ClassVar[str] = "Gaussian mixture on time-weighted log-mels (not in the paper)"
    exports: ClassVar[bool] = True

    def __init__(
        self,
        config: Config,
        sections: tuple[str, ...],
        gaussians: Gaussians,
    ) -> None:
        super().__init__(config, sections)
        self.gaussians = gaussians

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        bins = config.features.n_mels
        return sections * config.part(GaussianConfig).components * (bins * bins + bins + 1)

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        by_domain: defaultdict[str, defaultdict[str, list[np.ndarray]]]
        by_domain = defaultdict(lambda: defaultdict(list))
        with context.reporter.task(context.name, total=len(clips)) as task:
            for recording, frames in clips.clips():
                spectra = np.concatenate(list(_spectra([frames], config.part(GaussianConfig))))
                by_domain[recording.section][recording.domain].append(spectra.mean(0))
                task.advance()
        random = np.random.default_rng(config.seed)
        pooled = {
            section: _balanced(
                domains["source"], domains["target"], config.part(GaussianConfig), random
            )
            for section, domains in sorted(by_domain.items())
        }
        spread = _covariance(np.concatenate([group - group.mean(0) for group in pooled.values()]))
        means, precisions, log_weights, owners = [], [], [], []
        for section, vectors in pooled.items():
            for weight, mean, covariance in _mixture(vectors, spread, config):
                _, log_determinant = np.linalg.slogdet(covariance)
                size = len(mean) * np.log(2 * np.pi)
                means.append(mean)
                precisions.append(np.linalg.inv(covariance))
                log_weights.append(np.log(weight) - 0.5 * (log_determinant + size))
                owners.append(section)
        return cls(
            config,
            tuple(pooled),
            Gaussians(np.array(means), np.array(precisions), np.array(log_weights), tuple(owners)),
        )

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        settings: GaussianConfig = self.config.part(GaussianConfig)
        total = np.zeros(self.gaussians.means.shape[1])
        along = array("f")
        for spectra in _spectra(frames, settings):
            total = total + spectra.sum(0)
            along.extend(self.gaussians.surprise(spectra, section).tolist())
        return self.gaussians.clip_score(
            total / len(along),
            along,
            section,
            hop_seconds=settings.hop * self.hop_seconds,
            segment_seconds=settings.frames * self.hop_seconds,
        )

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """How far every point lies from the normal mean of its bin, in squared deviations."""
        gaussians = self.gaussians
        deviation = [
            (frames - gaussians.means[number]) ** 2 * np.diag(gaussians.precisions[number])
            for number in gaussians.of(section)
        ]
        return np.min(deviation, axis=0).astype(np.float32)

    @property
    def segment_frames(self) -> int:
        return self.config.part(GaussianConfig).frames

    def graph(self) -> SystemGraph:
        return _Graph(self)

    def arrays(self) -> dict[str, np.ndarray]:
        gaussians = self.gaussians
        return {
            "means": gaussians.means,
            "precisions": gaussians.precisions,
            "log_weights": gaussians.log_weights,
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
        gaussians = Gaussians(means, arrays["precisions"], arrays["log_weights"], owners)
        return cls(config, sections, gaussians)


class _Graph(SystemGraph):
    """The surprise of every segment's spectrum and of their mean, in float64."""

    means: Tensor  # (gaussians, 1, bins)
    precisions: Tensor
    log_weights: Tensor  # (gaussians, 1)

    def __init__(self, system: GaussianMixture) -> None:
        settings, gaussians = system.config.part(GaussianConfig), system.gaussians
        super().__init__({"surprise": 1.0}, settings.hop, _AT_ONCE)
        self.references = gaussians
        self.settings = settings
        self.section_gaussians = [gaussians.of(section) for section in system.sections]
        self.register_buffer("means", torch.from_numpy(gaussians.means)[:, None])
        self.register_buffer("precisions", torch.from_numpy(gaussians.precisions))
        self.register_buffer("log_weights", torch.from_numpy(gaussians.log_weights)[:, None])

    def forward(self, frames: Tensor) -> GraphOutput:
        segments = gathered_segments(frames, self.settings.frames, self.segment_hop)
        spectra = _pooled(segments.double(), self.settings)
        clip = self._surprise(spectra.mean(0, keepdim=True))
        return GraphOutput((self._surprise(spectra).float(),), spectra.float(), clip[0].float())

    def _surprise(self, spectra: Tensor) -> Tensor:
        """(spectra, bins) to (spectra, sections), as `Gaussians.surprise`."""
        deviation = spectra - self.means  # (gaussians, spectra, bins)
        distance = ((deviation @ self.precisions) * deviation).sum(2)
        terms = self.log_weights - 0.5 * distance  # (gaussians, spectra)
        # Shape (sections, spectra).
        best = torch.stack([terms[chosen].amax(0) for chosen in self.section_gaussians])
        return (
            -torch.stack(
                [
                    best[section] + (terms[chosen] - best[section]).exp().sum(0).log()
                    for section, chosen in enumerate(self.section_gaussians)
                ],
                dim=1,
            )
            / spectra.shape[1]
        )


def _spectra(frames: Iterable[Floats], settings: GaussianConfig) -> Iterator[np.ndarray]:
    """Blocks of frames to the spectra of the segments, some at a time: (segments, bins) in dB."""
    for segments in whole_segments(frames, settings.frames, settings.hop, _AT_ONCE):
        yield _pooled(segments.double(), settings).numpy()


def _pooled(segments: Tensor, settings: GaussianConfig) -> Tensor:
    """(segments, P, bins) to (segments, bins): the louder a frame of a bin, the more it weighs."""
    if settings.time_weight == 1:
        return segments.mean(1)
    rank = torch.arange(settings.frames, dtype=torch.float64)
    weights = settings.time_weight**rank
    loudest_first = segments.sort(dim=1, descending=True).values
    return (loudest_first * (weights / weights.sum())[:, None]).sum(1)


def _balanced(
    source: list[np.ndarray],
    target: list[np.ndarray],
    settings: GaussianConfig,
    random: np.random.Generator,
) -> np.ndarray:
    """All clips of a section, (clips, bins); target clips oversampled to as many as source."""
    if not settings.oversample or not target or len(target) >= len(source):
        return np.array(source + target)
    few = np.array(target)
    missing = len(source) - len(few)
    nearest = distances(few, few).argsort(axis=1)[:, : 1 + _NEIGHBOURS]  # itself among them
    one = random.integers(len(few), size=missing)
    other = nearest[one, random.integers(nearest.shape[1], size=missing)]
    share = random.uniform(size=(missing, 1))
    between = few[one] + share * (few[other] - few[one])
    return np.concatenate([source, few, between])


def _mixture(
    vectors: np.ndarray, spread: np.ndarray, config: Config
) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """Weight, mean and covariance of every component for one section's clips (clips, bins)."""
    components = min(config.part(GaussianConfig).components, len(vectors) // _LEAST_CLIPS)
    if components <= 1:
        # A section with hardly any clips borrows the spread of all sections.
        covariance = _covariance(vectors - vectors.mean(0)) if len(vectors) > 2 else spread
        return [(1.0, vectors.mean(0), covariance)]
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
