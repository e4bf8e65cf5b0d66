"""Distributions of normal scores: a gamma by its moments, or order statistics and a Pareto tail."""

from __future__ import annotations

import numpy as np

_BOOTSTRAP = 200
# A skewness estimated from few clips can be anything; the gamma turns into the normal
# distribution as it goes to 0, and into a spike with a long tail as it grows.
_LEAST_SKEW, _MOST_SKEW = 0.02, 3.0
_TOP = 0.15  # share of the clips that the Pareto tail is fitted to
_LEAST_TOP = 5
# The shape is averaged with 0, that of an exponential tail, which counts as this many clips. It
# lies between the bounded tail of a bell and the heavy one of a machine that is rarely unusual.
# Chosen for the smallest error in the rate.
_EXPONENTIAL_CLIPS = 30
_MOST_PARETO = 0.5  # |shape|; beyond it the variance is infinite, or the end nearly reached


def gamma_by_moments(scores: np.ndarray) -> tuple[float, float, float]:
    """Shape, location and scale of the gamma with the mean, spread and skewness of `scores`.

    Unlike maximum likelihood this has one answer for every sample, however small; the location
    is free because log-odds of normal clips are mostly negative.
    """
    mean = float(np.mean(scores))
    spread = float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0
    spread = max(spread, 1e-9 * max(1.0, abs(mean)))
    skew = float(np.mean(((scores - mean) / spread) ** 3))
    skew = min(max(skew, _LEAST_SKEW), _MOST_SKEW)
    shape = 4.0 / skew**2
    scale = spread * skew / 2.0
    return shape, mean - shape * scale, scale


def gamma_fit_p_value(scores: np.ndarray, seed: int) -> float:
    """Goodness of fit (Cramér–von Mises) of the fitted gamma.

    The parameters come from the same scores, so that the textbook p-value would be too high: the
    statistic is compared with that of samples drawn from the fitted gamma and fitted again.
    """
    from scipy.special import gammainc  # scipy.stats does the same, and takes 60 MB of memory

    def distance(sample: np.ndarray, parameters: tuple[float, float, float]) -> float:
        shape, location, scale = parameters
        expected = (np.arange(len(sample)) + 0.5) / len(sample)
        fitted = gammainc(shape, np.maximum(np.sort(sample) - location, 0.0) / scale)
        return float(np.sum((fitted - expected) ** 2))

    parameters = gamma_by_moments(scores)
    observed = distance(scores, parameters)
    rng = np.random.default_rng(seed)
    shape, location, scale = parameters
    draws = location + scale * rng.standard_gamma(shape, (_BOOTSTRAP, len(scores)))
    worse = sum(distance(draw, gamma_by_moments(draw)) >= observed for draw in draws)
    return (worse + 1) / (_BOOTSTRAP + 1)


def empirical_tail(scores: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Scores exceeded with these probabilities: order statistics, then a generalised Pareto tail.

    The k-th highest of n clips stands for (k − ½) / n. The tail's scale and shape are those of the
    L-moments of the highest clips' excess (Hosking and Wallis, 1987), the shape drawn towards 0.
    """
    ordered = np.sort(scores)[::-1]
    clips = len(ordered)
    body = np.interp(np.log(probabilities), np.log((np.arange(clips) + 0.5) / clips), ordered)
    top = max(_LEAST_TOP, round(_TOP * clips))
    if clips <= top:
        return body
    base = (ordered[top] + ordered[top - 1]) / 2
    excess = ordered[:top] - base
    mean = max(float(excess.mean()), 1e-12)
    rank = np.arange(top)[::-1] / (top - 1)  # of the highest clip: 1
    half_difference = max(2 * float(np.mean(rank * excess)) - mean, 1e-12)  # the second L-moment
    shape = top * (2 - mean / half_difference) / (top + _EXPONENTIAL_CLIPS)
    shape = min(max(shape, -_MOST_PARETO), _MOST_PARETO)
    beyond = np.log(top / clips / probabilities)
    if abs(shape) > 1e-6:
        beyond = np.expm1(shape * beyond) / shape
    tail = base + mean * (1 - shape) * beyond
    return np.where(probabilities < top / clips, tail, body)
