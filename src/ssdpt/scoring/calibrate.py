"""Scores of held-out normal clips to thresholds, p-values and levels.

The upper tail of the normal scores is kept as a table (tail probability → score), whichever way
it was found, so that a saved model needs no statistics library and its threshold can be moved
without retraining.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from ssdpt.errors import SsdptError
from ssdpt.settings import DecisionConfig
from ssdpt.types import Level

Method = Literal["gamma", "empirical"]

# From every clip to one in a million, evenly in the logarithm.
_TAIL = np.concatenate([[0.999, 0.99], np.logspace(np.log10(0.98), -6, 120)])
_BOOTSTRAP = 200
# A skewness estimated from few clips can be anything; the gamma turns into the normal
# distribution as it goes to 0, and into a spike with a long tail as it grows.
_LEAST_SKEW, _MOST_SKEW = 0.02, 3.0


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

    def p_value(self, score: float) -> float:
        """The share of normal clips expected to score at least `score`; never below 1e-6."""
        if score < self.score[0]:
            return 1.0
        return float(np.exp(np.interp(score, self.score, np.log(self.probability))))

    @property
    def smallest_observed_rate(self) -> float:
        """Below this rate a threshold is extrapolated beyond what so many clips can show."""
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
        """The tail that judges clips of this section."""
        return self.sections.get(section or "", self.pooled)

    def thresholds(self, section: str | None = None) -> tuple[float, float]:
        """The alert and the alarm threshold."""
        tail = self.tail(section)
        rate = self.false_alarm_rate
        return tail.threshold(rate), tail.threshold(rate * self.alarm_ratio)

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
    scores: dict[str, list[float]], config: DecisionConfig, *, cross_fitted: bool, seed: int
) -> Calibration:
    """`scores`: of held-out normal clips, by section."""
    everything = np.array([score for group in scores.values() for score in group])
    return Calibration(
        false_alarm_rate=config.false_alarm_rate,
        alarm_ratio=config.alarm_ratio,
        pooled=fit_tail(everything, config, seed),
        sections={
            section: fit_tail(np.array(group), config, seed)
            for section, group in sorted(scores.items())
            if len(group) >= config.section_clips
        },
        cross_fitted=cross_fitted,
    )


def fit_tail(scores: np.ndarray, config: DecisionConfig, seed: int) -> Tail:
    """The tail of normal `scores` (clips,): gamma, or empirical where the gamma does not fit."""
    if len(scores) == 0 or not np.isfinite(scores).all():
        raise SsdptError("thresholds need the finite scores of at least one held-out normal clip")
    shape, location, scale = gamma_by_moments(scores)
    fit = 1.0 if len(scores) < 3 else gamma_fit_p_value(scores, seed)
    rejected = config.method == "auto" and fit < config.rejection
    method: Method = "empirical" if config.method == "empirical" or rejected else "gamma"
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
    """Scores exceeded with these probabilities: order statistics, then an exponential tail.

    The k-th highest of n clips stands for k / (n + 1). Beyond the tenth of the clips that scored
    highest the tail goes on as the mean excess of these clips over the rest says.
    """
    ordered = np.sort(scores)[::-1]
    ranks = np.arange(1, len(ordered) + 1) / (len(ordered) + 1)
    body = np.interp(np.log(probabilities), np.log(ranks), ordered)
    top = max(3, len(ordered) // 10)
    if len(ordered) <= top:
        return body
    base = ordered[top]
    excess = max(float(np.mean(ordered[:top] - base)), 1e-12)
    beyond = base + excess * np.log(ranks[top] / probabilities)
    return np.where(probabilities < ranks[0], np.maximum(beyond, ordered[0]), body)
