"""The Gaussian: its likelihood is scipy's, and few clips do not break it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ssdpt.config.tree import load_config
from ssdpt.features.cache import FeatureSet
from ssdpt.systems.base import FitContext
from ssdpt.systems.gmm.system import GaussianMixture
from ssdpt.types import Recording

BINS = 8
FRAMES = 16  # of a clip, which then is one segment
PLAIN = {"gmm.time_weight": 1, "gmm.components": 1}


def clips(sections, frames=FRAMES, seed=0, targets=()):
    rng = np.random.default_rng(seed)
    count = len(sections)
    recordings = tuple(
        Recording(Path(f"{n}"), "fan", s, "target" if n in targets else "source")
        for n, s in enumerate(sections)
    )
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
    system = fitted(view, **PLAIN)
    covariance = np.linalg.inv(system.gaussians.precisions[0])
    truth = stats.multivariate_normal(system.gaussians.means[0], covariance)
    clip = view.source.clip(3)
    expected = -truth.logpdf(clip.mean(0, dtype=np.float64)) / BINS
    assert system.score([clip], "00").value == pytest.approx(expected)


def test_ledoit_wolf_with_one_component():
    from sklearn.covariance import LedoitWolf

    view = clips(["00"] * 30)
    pooled = np.array([frames.mean(0, dtype=np.float64) for _, frames in view.clips()])
    system = fitted(view, **PLAIN)
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
    system = fitted(view, **{"gmm.time_weight": 1, "gmm.components": 3})
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


def pooled(frames, weight):
    """The definition, bin by bin and frame by frame."""
    scores = []
    for values in frames.T:
        ranked = sorted(values.tolist(), reverse=True)
        weights = [weight**rank for rank in range(len(ranked))]
        scores.append(sum(w * v for w, v in zip(weights, ranked, strict=True)) / sum(weights))
    return np.array(scores)


def test_loud_frames_weigh_more():
    view = clips(["00"] * 30)
    system = fitted(view, **{"gmm.time_weight": 0.7, "gmm.components": 1})
    spectra = np.array([pooled(frames, 0.7) for _, frames in view.clips()])
    np.testing.assert_allclose(system.gaussians.means[0], spectra.mean(0), rtol=1e-6)
    assert (system.gaussians.means[0] > view.source.frames.mean(0)).all()


def test_a_clip_is_the_mean_of_its_segments():
    system = fitted(clips(["00"] * 30), **{"gmm.components": 1})
    two = clips(["00"], frames=2 * FRAMES).source.clip(0)
    weight = system.config.gmm.time_weight
    mean = (pooled(two[:FRAMES], weight) + pooled(two[FRAMES:], weight)) / 2
    expected = system.gaussians.surprise(mean[None], "00")[0]
    assert system.score([two], "00").value == pytest.approx(expected)


def test_few_target_clips_count_as_much_as_many_source_clips():
    """Three target clips, 20 dB louder, pull the mean half-way to theirs."""
    targets = (0, 1, 2)
    view = clips(["00"] * 40, targets=targets)
    view.source.frames[: 3 * FRAMES] += 20
    source = view.source.frames[3 * FRAMES :].mean(0)
    target = view.source.frames[: 3 * FRAMES].mean(0)
    even = fitted(view, **PLAIN).gaussians.means[0]
    # Points made up between three clips scatter around their mean.
    np.testing.assert_allclose(even, (source + target) / 2, atol=2.5)
    plain = fitted(view, **PLAIN, **{"gmm.oversample": False}).gaussians.means[0]
    np.testing.assert_allclose(plain, view.source.frames.mean(0), atol=1e-4)


def test_made_up_clips_lie_between_real_ones():
    from ssdpt.config.tree import load_config as load
    from ssdpt.systems.gmm.system import _balanced

    rng = np.random.default_rng(1)
    source, target = list(rng.normal(size=(50, 2))), list(rng.normal(9, 1, size=(4, 2)))
    balanced = _balanced(source, target, load("tiny").gmm, np.random.default_rng(0))
    assert len(balanced) == 100
    made_up = balanced[54:]
    for point in made_up:
        gaps = [
            np.linalg.norm(point - a) + np.linalg.norm(point - b) - np.linalg.norm(a - b)
            for a in target
            for b in target
        ]
        assert min(gaps) < 1e-9
    assert len(np.unique(made_up, axis=0)) > 30


@pytest.mark.parametrize("targets", [(), (0,), range(20)])
def test_any_number_of_target_clips(targets):
    system = fitted(clips(["00"] * 20, targets=targets))
    assert np.isfinite(system.gaussians.log_weights).all()
