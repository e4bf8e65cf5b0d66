"""The Gaussian: its likelihood is scipy's, and few clips do not break it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ssdpt.config import load_config
from ssdpt.features.cache import FeatureSet
from ssdpt.systems.base import FitContext
from ssdpt.systems.gmm import GaussianMixture
from ssdpt.types import Recording

BINS = 8


def clips(sections, frames=20, seed=0):
    rng = np.random.default_rng(seed)
    count = len(sections)
    recordings = tuple(Recording(Path(f"{n}"), "fan", s) for n, s in enumerate(sections))
    levels = (
        rng.normal(-40, 5, (count, 1, BINS))
        + 10 * np.array([int(s) for s in sections])[:, None, None]
    )
    array = (levels + rng.normal(0, 1, (count, frames, BINS))).reshape(-1, BINS)
    return FeatureSet(recordings, array.astype(np.float32), np.arange(count + 1) * frames).all()


def fitted(view, **changes):
    config = load_config("tiny", {"features.n_mels": BINS, "system": "gmm", **changes})
    return GaussianMixture.fit(view, config, FitContext(Path("unused"), "x"))


def test_the_score_is_minus_the_log_likelihood_per_bin():
    view = clips(["00"] * 30)
    system = fitted(view)
    covariance = np.linalg.inv(system.gaussians.precisions[0])
    truth = stats.multivariate_normal(system.gaussians.means[0], covariance)
    clip = view.source.clip(3)
    expected = -truth.logpdf(clip.mean(0, dtype=np.float64)) / BINS
    assert system.score([clip], "00").value == pytest.approx(expected)


def test_ledoit_wolf_with_one_component():
    from sklearn.covariance import LedoitWolf

    view = clips(["00"] * 30)
    pooled = np.array([frames.mean(0, dtype=np.float64) for _, frames in view.clips()])
    system = fitted(view)
    np.testing.assert_allclose(system.gaussians.means[0], pooled.mean(0))
    expected = LedoitWolf().fit(pooled).covariance_ + 1e-2 * np.eye(BINS)
    np.testing.assert_allclose(np.linalg.inv(system.gaussians.precisions[0]), expected, rtol=1e-6)


def test_each_section_has_its_own():
    view = clips(["00", "01"] * 20)
    system = fitted(view)
    for number in (0, 1):
        own = system.score([view.source.clip(number)], f"0{number}").value
        other = system.score([view.source.clip(number)], f"0{1 - number}").value
        assert own < other


def test_a_section_of_one_clip_borrows_the_spread():
    system = fitted(clips(["00"] * 20 + ["01"]))
    assert system.sections == ("00", "01")
    assert np.isfinite(system.gaussians.precisions).all()
    assert np.isfinite(system.score([np.full((20, BINS), -30, np.float32)], "01").value)


def test_several_components_are_a_mixture():
    view = clips(["00"] * 30 + ["01"])
    system = fitted(view, **{"gmm.components": 3})
    assert system.gaussians.owners == ("00", "00", "00", "01")
    clip = view.source.clip(0)
    mean = clip.mean(0, dtype=np.float64)
    covariances = np.linalg.inv(system.gaussians.precisions[:3])
    parts = [
        stats.multivariate_normal(m, c).logpdf(mean)
        for m, c in zip(system.gaussians.means[:3], covariances, strict=True)
    ]
    # the weights stand in log_weights together with the normalisation
    normal = [-0.5 * (BINS * np.log(2 * np.pi) + np.linalg.slogdet(c)[1]) for c in covariances]
    weights = system.gaussians.log_weights[:3] - normal
    assert np.exp(weights).sum() == pytest.approx(1)
    expected = -np.logaddexp.reduce(weights + np.array(parts)) / BINS
    assert system.score([clip], "00").value == pytest.approx(expected)
