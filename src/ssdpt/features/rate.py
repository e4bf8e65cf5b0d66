"""The settings of a front end at another sample rate: as long in time, no finer than it can be.

Settings are meant for the configured rate. At the own rate of a sensor, windows and hops last as
long, so that segments, modulation and thresholds of time mean the same; mel bins go up to half the
rate, and there are no more of them than the transform can tell apart.
"""

from __future__ import annotations

from ssdpt.config.settings import FeatureConfig
from ssdpt.config.tree import Config, with_overrides
from ssdpt.features.logmel import resolved_filters
from ssdpt.features.texture import ENVELOPES_A_FRAME

_MEL_STEP = 8  # mel bins: what attention heads divide


def at_rate(config: Config, sample_rate: int) -> Config:
    """The same settings for recordings that keep a rate of `sample_rate` Hz."""
    if sample_rate == config.audio.sample_rate:
        return config
    features = _features(config.features, config.audio.sample_rate, sample_rate)
    changes = {f"features.{name}": value for name, value in features.model_dump().items()}
    changes |= {"audio.sample_rate": sample_rate, "audio.keep_rate": "never"}
    return with_overrides(config, changes)


def _features(features: FeatureConfig, meant_for: int, sample_rate: int) -> FeatureConfig:
    step = ENVELOPES_A_FRAME  # envelopes divide a hop
    hop = max(step, features.hop_length * sample_rate // meant_for // step * step)
    n_fft = round(features.n_fft * hop / features.hop_length)
    half = sample_rate / 2
    f_max = features.f_max if features.f_max is not None and features.f_max < half else None
    most = resolved_filters(features.f_min, f_max or half, sample_rate / n_fft)
    mels = min(features.n_mels, max(_MEL_STEP, most // _MEL_STEP * _MEL_STEP))
    return features.model_copy(
        update={"hop_length": hop, "n_fft": n_fft, "f_max": f_max, "n_mels": mels}
    )
