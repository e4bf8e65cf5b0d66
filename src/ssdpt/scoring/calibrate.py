"""Scores of held-out normal clips to thresholds, p-values and levels.

The upper tail of the normal scores is kept as a table (tail probability → score), whichever way
it was found, so that a saved model needs no statistics library and its threshold can be moved
without retraining.

Fifty clips are enough by themselves: order statistics, and beyond the highest 15 % a generalised
Pareto tail. With fewer a gamma is fitted, which is what the paper does. Each domain's tail is found
apart and they are mixed as they were recorded: a few target clips that score high count as the few
they are and do not stretch the tail of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from ssdpt.config.settings import DecisionConfig
from ssdpt.errors import SsdptError
from ssdpt.types import Level

Method = Literal["gamma", "empirical"]

# From every clip to one in a million, evenly in the logarithm.
_TAIL = np.concatenate([[0.999, 0.99], np.logspace(np.log10(0.98), -6, 120)])
_BOOTSTRAP = 200
# A skewness estimated from few clips can be anything; the gamma turns into the normal
# distribution as it goes to 0, and into a spike with a long tail as it grows.
_LEAST_SKEW, _MOST_SKEW = 0.02, 3.0
# With this many clips the empirical tail and the gamma miss a rate equally often, whatever the
# distribution.
_ENOUGH_CLIPS = 50
_TOP = 0.15  # share of the clips that the Pareto tail is fitted to
_LEAST_TOP = 5
# The shape is averaged with 0, that of an exponential tail, which counts as this many clips. It
# lies between the bounded tail of a bell and the heavy one of a machine that is rarely unusual.
# Chosen for the smallest error in the rate.
_EXPONENTIAL_CLIPS = 30
_MOST_PARETO = 0.5  # |shape|; beyond it the variance is infinite, or the end nearly reached
# p-value under which the models of a cross-fit are taken to score on different scales. Less strict,
# and luck would be taken for scale more often than it is worth.
_DIFFERENT = 0.001

Scores = Mapping[tuple[str, str], Sequence[float]]  # of clips, by section and domain


@dataclass(frozen=True, slots=True)
class Tail:
    """How high normal clips score: the share `probability` of them scores above `score`."""

    method: Method
    clips: int  # held-out normal clips it rests on
    fit_p_value: float  # of the gamma, by goodness of fit
    parameters: dict[str, float]  # shape, location, scale of the gamma
    probability: tuple[float, ...]  # falling
    score: tuple[float, ...]  # rising

    def threshold(self, rate: float) -> float:
        """The score that the share `rate` of normal clips exceeds."""
        return float(np.interp(-np.log(rate), -np.log(self.probability), self.score))

    def alert_and_alarm(self, rate: float, alarm_ratio: float) -> tuple[float, float]:
        """The two thresholds: `rate` of normal clips are above the first, fewer above the second.

        The one rule for both levels, of single clips and of live machines.
        """
        return self.threshold(rate), self.threshold(rate * alarm_ratio)

    def p_value(self, score: float) -> float:
        """The share of normal clips expected to score at least `score`; never below 1e-6."""
        if score < self.score[0]:
            return 1.0
        return float(np.exp(np.interp(score, self.score, np.log(self.probability))))

    @property
    def smallest_observed_rate(self) -> float:
        """Below this rate a threshold is extrapolated beyond what this number of clips can show."""
        return 1.0 / (self.clips + 1)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Thresholds of a model: one tail for all sections, and one for each that had enough clips."""

    false_alarm_rate: float
    alarm_ratio: float
    pooled: Tail
    sections: dict[str, Tail]
    cross_fitted: bool

    def tail(self, section: str | None) -> Tail:
        """The tail for clips of this section."""
        return self.sections.get(section or "", self.pooled)

    def thresholds(self, section: str | None = None) -> tuple[float, float]:
        """The alert and the alarm threshold."""
        return self.tail(section).alert_and_alarm(self.false_alarm_rate, self.alarm_ratio)

    def level(self, score: float, section: str | None = None) -> Level:
        """normal, alert or alarm; a score at a threshold is still below it."""
        alert, alarm = self.thresholds(section)
        return "alarm" if score > alarm else "alert" if score > alert else "normal"

    def to_json(self) -> dict[str, Any]:
        """Plain values for calibration.json."""
        return asdict(self)

    @classmethod
    def from_json(cls, tree: dict[str, Any]) -> Calibration:
        """The reverse of `to_json`; raises KeyError, TypeError or ValueError on foreign content."""
        rate, ratio = float(tree["false_alarm_rate"]), float(tree["alarm_ratio"])
        if not (0 < rate < 1 and 0 < ratio <= 1):
            raise ValueError("the rates are not shares")
        return cls(
            false_alarm_rate=rate,
            alarm_ratio=ratio,
            pooled=_tail_from_json(tree["pooled"]),
            sections={name: _tail_from_json(tail) for name, tail in tree["sections"].items()},
            cross_fitted=bool(tree["cross_fitted"]),
        )


def _tail_from_json(tree: dict[str, Any]) -> Tail:
    probability, score = (np.array(tree[name], np.float64) for name in ("probability", "score"))
    if not (
        len(probability) == len(score) > 1
        and np.isfinite(score).all()
        and (np.diff(score) >= 0).all()
        and ((probability > 0) & (probability < 1)).all()
        and (np.diff(probability) < 0).all()
    ):
        raise ValueError("the table of tail probabilities is not whole")
    return Tail(
        **{
            **tree,
            "clips": int(tree["clips"]),
            "fit_p_value": float(tree["fit_p_value"]),
            "probability": tuple(probability.tolist()),
            "score": tuple(score.tolist()),
        }
    )


def calibrate(
    scores: Scores, config: DecisionConfig, *, cross_fitted: bool, seed: int
) -> Calibration:
    """`scores`: of held-out normal clips."""

    def tail(section: str | None) -> Tail:
        domains: dict[str, list[float]] = {}
        for (name, domain), group in sorted(scores.items()):
            if section in (None, name):
                domains.setdefault(domain, []).extend(group)
        return fit_tail([np.array(group) for group in domains.values()], config, seed)

    clips: dict[str, int] = {}
    for (section, _), group in sorted(scores.items()):
        clips[section] = clips.get(section, 0) + len(group)
    return Calibration(
        false_alarm_rate=config.false_alarm_rate,
        alarm_ratio=config.alarm_ratio,
        pooled=tail(None),
        sections={name: tail(name) for name, size in clips.items() if size >= config.section_clips},
        cross_fitted=cross_fitted,
    )


def aligned(folds: Sequence[Scores], kept: int | None) -> dict[tuple[str, str], list[float]]:
    """The scores of all folds together, as if the model of fold `kept` had given them.

    None: as if the mean of the folds' models had.

    Two trainings of one recipe can score on scales that lie apart. Where an F-test says that the
    folds' means differ by more than the luck of their clips, the models' part of the difference
    is taken away (a random effect, by its best linear unbiased predictor). Nothing is done for a
    system that learns alike every time.
    """
    everything = [np.concatenate([list(group) for group in fold.values()]) for fold in folds]
    offsets = np.zeros(len(folds))
    if min(map(len, everything)) > 1 and len(folds) > 1:
        means = np.array([fold.mean() for fold in everything])
        luck = np.array([fold.var(ddof=1) / len(fold) for fold in everything]).mean()
        quotient = float(means.var(ddof=1)) / max(float(luck), 1e-300)
        within = sum(len(fold) - 1 for fold in everything)
        from scipy.stats import f

        if f.sf(quotient, len(folds) - 1, within) < _DIFFERENT:
            offsets = (means - means.mean()) * (1 - 1 / quotient)
    kept_offset = 0.0 if kept is None else float(offsets[kept])
    together: dict[tuple[str, str], list[float]] = {}
    for fold, offset in zip(folds, offsets, strict=True):
        for key, group in fold.items():
            together.setdefault(key, []).extend(
                float(score - offset + kept_offset) for score in group
            )
    return together


def fit_tail(groups: Sequence[np.ndarray], config: DecisionConfig, seed: int) -> Tail:
    """The tail of normal scores, one array (clips,) per domain, mixed by their numbers of clips.

    Method and parameters named are those of the domain with the most clips.
    """
    largest_first = sorted((group for group in groups if len(group)), key=len, reverse=True)
    if not largest_first or not all(np.isfinite(group).all() for group in largest_first):
        raise SsdptError("thresholds need the finite scores of at least one held-out normal clip")
    tails = [_domain_tail(group, config, seed) for group in largest_first]
    if len(tails) == 1:
        return tails[0]
    return replace(
        tails[0], clips=sum(tail.clips for tail in tails), score=tuple(_mixed(tails).tolist())
    )


def block_tail(scores: np.ndarray) -> Tail:
    """The tail of the highest scores of many blocks, (blocks,), without a fitted distribution."""
    return _table(scores, "empirical", fit=1.0)


def _domain_tail(scores: np.ndarray, config: DecisionConfig, seed: int) -> Tail:
    """The tail of one domain's `scores` (clips,)."""
    fit = 1.0 if len(scores) < 3 else gamma_fit_p_value(scores, seed)
    not_gamma = len(scores) >= _ENOUGH_CLIPS or fit < config.rejection
    method: Method = "gamma"
    if config.method == "empirical" or (config.method == "auto" and not_gamma):
        method = "empirical"
    return _table(scores, method, fit)


def _table(scores: np.ndarray, method: Method, fit: float) -> Tail:
    shape, location, scale = gamma_by_moments(scores)
    if method == "gamma":
        from scipy.stats import gamma

        table = gamma.isf(_TAIL, shape, location, scale)
    else:
        table = empirical_tail(scores, _TAIL)
    return Tail(
        method=method,
        clips=len(scores),
        fit_p_value=round(fit, 4),
        parameters={"shape": shape, "location": location, "scale": scale},
        probability=tuple(_TAIL.tolist()),
        score=tuple(np.maximum.accumulate(table).tolist()),
    )


def _mixed(tails: Sequence[Tail]) -> np.ndarray:
    """Scores exceeded with the probabilities of `_TAIL` by the clips of all tails together."""
    grid = np.unique(np.concatenate([tail.score for tail in tails]))
    exceeded = np.zeros(len(grid))
    for tail in tails:
        exceeded += tail.clips * np.array([tail.p_value(score) for score in grid])
    exceeded /= sum(tail.clips for tail in tails)
    # From the highest score down, so that the probabilities rise as interpolation wants them.
    return np.interp(np.log(_TAIL), np.log(exceeded[::-1]), grid[::-1])


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
    from scipy.stats import gamma

    def distance(sample: np.ndarray, parameters: tuple[float, float, float]) -> float:
        expected = (np.arange(len(sample)) + 0.5) / len(sample)
        return float(np.sum((gamma.cdf(np.sort(sample), *parameters) - expected) ** 2))

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
