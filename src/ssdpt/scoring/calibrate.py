"""Scores of held-out normal clips to thresholds, p-values and levels.

The upper tail of the normal scores is kept as a table (tail probability → score), whichever way
it was found, so that a saved model needs no statistics library and its threshold can be moved
without retraining.

Fifty clips are enough by themselves: order statistics, and beyond the highest 15 % a generalised
Pareto tail. With fewer a gamma is fitted, which is what the paper does. Each domain's tail is found
apart and they are mixed as they were recorded: a few target clips that score high count as the few
they are and do not stretch the tail of the source.

Clips of one recording resemble each other. Where it is known which clips were recorded together,
thresholds lie higher by what the next recording may differ (`ssdpt.scoring.recordings`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import log
from operator import neg
from typing import Any, Literal

import numpy as np

from ssdpt.config.settings import DecisionConfig
from ssdpt.errors import SsdptError
from ssdpt.scoring.distributions import empirical_tail, gamma_by_moments, gamma_fit_p_value
from ssdpt.scoring.recordings import MARGIN_RATE, recording_margin
from ssdpt.types import Level

Method = Literal["gamma", "empirical", "prediction"]

# From every clip to one in a million, evenly in the logarithm.
TAIL_PROBABILITIES = np.concatenate([[0.999, 0.99], np.logspace(np.log10(0.98), -6, 120)])
# With this many clips the empirical tail and the gamma miss a rate equally often, whatever the
# distribution.
_ENOUGH_CLIPS = 50
_LOW_QUANTILE = 1.2816  # of a normal distribution: one in ten lies so many deviations below
_ENOUGH_RECORDINGS = 5  # at other times: from so many on a threshold is not provisional
# p-value under which the models of a cross-fit are taken to score on different scales. Less strict,
# and luck would be taken for scale more often than it is worth.
_DIFFERENT = 0.001

Scores = Mapping[tuple[str, str], Sequence[float]]  # of clips, by section and domain
RecordingNumbers = Mapping[tuple[str, str], Sequence[int]]  # which recording each clip belongs to


@dataclass(frozen=True, slots=True)
class Commissioned:
    """When and by what a threshold was confirmed after the fit."""

    date: str  # of the day, as ISO 8601 writes it
    clips: int
    alert_before: float
    alarm_before: float


@dataclass(frozen=True, slots=True)
class KnownRecordings:
    """How clips score that belong to a recording the model knows, without the clips themselves.

    `spread` is that of the lower half of the scores, as a standard deviation: the upper half is
    stretched by conditions of which hardly any clips are known.
    """

    median: float
    spread: float

    @classmethod
    def of(cls, scores: Sequence[float]) -> KnownRecordings:
        """From the scores of clips that were left out one by one."""
        low, median = np.quantile(np.asarray(scores, np.float64), [0.1, 0.5])
        return cls(float(median), float(median - low) / _LOW_QUANTILE)


@dataclass(frozen=True, slots=True)
class Tail:
    """How high normal clips score: the share `probability` of them scores above `score`."""

    method: Method
    clips: int  # held-out normal clips it rests on
    fit_p_value: float  # of the gamma, by goodness of fit
    parameters: dict[str, float]  # shape, location, scale of the gamma
    probability: tuple[float, ...]  # falling
    score: tuple[float, ...]  # rising
    # Not part of the representation, by which models of older formats are told apart.
    recordings: int | None = field(default=None, repr=False)  # independent ones; None: unknown
    provisional: bool = field(default=False, repr=False)  # no other day has confirmed it yet
    known_recordings: KnownRecordings | None = field(default=None, repr=False)
    commissioned: Commissioned | None = field(default=None, repr=False)

    def threshold(self, rate: float) -> float:
        """The score that the share `rate` of normal clips exceeds."""
        # Interpolated without arrays: live machines ask many times per second.
        after = bisect_right(self.probability, -rate, key=neg)
        if after in (0, len(self.score)):
            return float(self.score[min(after, len(self.score) - 1)])
        left, right = self.probability[after - 1], self.probability[after]
        low, high = self.score[after - 1], self.score[after]
        return float(low + (high - low) * log(left / rate) / log(left / right))

    def alert_and_alarm(self, rate: float, alarm_ratio: float) -> tuple[float, float]:
        """The two thresholds: `rate` of normal clips are above the first, fewer above the second.

        The one rule for both levels, of single clips and of live machines.
        """
        return self.threshold(rate), self.threshold(rate * alarm_ratio)

    def p_value(self, score: float) -> float:
        """The share of normal clips expected to score at least `score`; never below 1e-6."""
        if score < self.score[0]:
            return 1.0
        after = bisect_right(self.score, score)
        if after == len(self.score):
            return float(self.probability[-1])
        left, right = self.probability[after - 1], self.probability[after]
        low, high = self.score[after - 1], self.score[after]
        return float(left * (right / left) ** ((score - low) / (high - low)))

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
    if int(tree["clips"]) < 1:
        raise ValueError("no clips stand behind the table of tail probabilities")
    known, commissioned = tree.get("known_recordings"), tree.get("commissioned")
    return Tail(
        **{
            **tree,
            "clips": int(tree["clips"]),
            "fit_p_value": float(tree["fit_p_value"]),
            "probability": tuple(probability.tolist()),
            "score": tuple(score.tolist()),
            "known_recordings": KnownRecordings(**known) if known else None,
            "commissioned": Commissioned(**commissioned) if commissioned else None,
        }
    )


def calibrate(
    scores: Scores,
    config: DecisionConfig,
    *,
    cross_fitted: bool,
    seed: int,
    recordings: RecordingNumbers | None = None,
    at_other_times: bool = False,
    known: Scores | None = None,
) -> Calibration:
    """`scores`: of held-out normal clips.

    `recordings` says which of them were recorded together, and `at_other_times` whether they are
    known to be of different times. `known` are scores with only the clip itself left out.
    """

    def tail(section: str | None) -> Tail:
        keys = [key for key in sorted(scores) if section in (None, key[0])]
        domains: dict[str, list[float]] = {}
        numbers: dict[str, list[int]] = {}
        for key in keys:
            domains.setdefault(key[1], []).extend(scores[key])
            numbers.setdefault(key[1], []).extend((recordings or {}).get(key, ()))
        fitted = fit_tail(
            [np.array(group) for group in domains.values()],
            config,
            seed,
            None if recordings is None else [numbers[domain] for domain in domains],
        )
        if recordings is None:
            return fitted
        main = max(domains, key=lambda domain: len(domains[domain]))
        of_known = [score for key in keys if key[1] == main for score in (known or {}).get(key, ())]
        count = len({number for key in keys for number in recordings[key]})
        sections = len({name for name, _ in keys})
        return replace(
            fitted,
            recordings=count,
            provisional=not at_other_times or count < _ENOUGH_RECORDINGS * sections,
            known_recordings=KnownRecordings.of(of_known) if len(of_known) > 1 else None,
        )

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
        from scipy.special import fdtrc

        if fdtrc(len(folds) - 1, within, quotient) < _DIFFERENT:
            offsets = (means - means.mean()) * (1 - 1 / quotient)
    kept_offset = 0.0 if kept is None else float(offsets[kept])
    together: dict[tuple[str, str], list[float]] = {}
    for fold, offset in zip(folds, offsets, strict=True):
        for key, group in fold.items():
            together.setdefault(key, []).extend(
                float(score - offset + kept_offset) for score in group
            )
    return together


def fit_tail(
    groups: Sequence[np.ndarray],
    config: DecisionConfig,
    seed: int,
    recordings: Sequence[Sequence[int]] | None = None,
) -> Tail:
    """The tail of normal scores, one array (clips,) per domain, mixed by their numbers of clips.

    `recordings` are the numbers of the recordings that the clips belong to. Method and parameters
    named are those of the domain with the most clips.
    """
    numbers = [None] * len(groups) if recordings is None else recordings
    domains = [pair for pair in zip(groups, numbers, strict=True) if len(pair[0])]
    if not domains or not all(np.isfinite(group).all() for group, _ in domains):
        raise SsdptError("thresholds need the finite scores of at least one held-out normal clip")
    domains.sort(key=lambda pair: -len(pair[0]))
    tails = []
    for group, of_clips in domains:
        tail = _domain_tail(group, config, seed)
        margin = 0.0 if of_clips is None else recording_margin(group, of_clips)
        tails.append(_raised(tail, margin) if margin else tail)
    if len(tails) == 1:
        return tails[0]
    return replace(
        tails[0], clips=sum(tail.clips for tail in tails), score=tuple(_mixed(tails).tolist())
    )


def _raised(tail: Tail, margin: float) -> Tail:
    """The tail with a higher upper half: by the whole margin from `MARGIN_RATE` on."""
    share = np.interp(-np.log(tail.probability), -np.log([0.5, MARGIN_RATE]), [0.0, 1.0])
    return replace(tail, score=tuple((np.array(tail.score) + margin * share).tolist()))


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
        from scipy.special import gammainccinv

        table = location + scale * gammainccinv(shape, TAIL_PROBABILITIES)
    else:
        table = empirical_tail(scores, TAIL_PROBABILITIES)
    return Tail(
        method=method,
        clips=len(scores),
        fit_p_value=round(fit, 4),
        parameters={"shape": shape, "location": location, "scale": scale},
        probability=tuple(TAIL_PROBABILITIES.tolist()),
        score=tuple(np.maximum.accumulate(table).tolist()),
    )


def _mixed(tails: Sequence[Tail]) -> np.ndarray:
    """Scores that the clips of all tails together exceed with `TAIL_PROBABILITIES`."""
    grid = np.unique(np.concatenate([tail.score for tail in tails]))
    exceeded = np.zeros(len(grid))
    for tail in tails:
        exceeded += tail.clips * np.array([tail.p_value(score) for score in grid])
    exceeded /= sum(tail.clips for tail in tails)
    # From the highest score down, so that the probabilities rise as interpolation wants them.
    return np.interp(np.log(TAIL_PROBABILITIES), np.log(exceeded[::-1]), grid[::-1])
