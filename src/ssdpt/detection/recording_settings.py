"""The settings that recordings themselves decide: sample rate, unit and full scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ssdpt.config.settings import AudioConfig
from ssdpt.config.tree import Config
from ssdpt.data.audio import AudioInfo, probe
from ssdpt.errors import SsdptError
from ssdpt.features.rate import at_rate
from ssdpt.scoring.fusion import spread_evenly
from ssdpt.types import VIBRATION_UNITS, Recording

LOWEST_RATE, HIGHEST_RATE = 2_000, 51_200
"""Hz; the own rates at which a model can work. Others are resampled to the nearest."""

_PROBED = 16  # recordings; a machine is measured in one way


def settings_for(recordings: Sequence[Recording], config: Config) -> Config:
    """The settings of a fit with these recordings of one machine.

    Unit and full scale are those of most recordings, and so is the rate where it is kept. The same
    settings come back where nothing is left to decide, or nothing can be read.
    """
    infos = [info for info in map(_info, _some(recordings)) if info is not None]
    if not infos:
        return config
    audio = config.audio
    if not audio.unit:
        measured = Counter((info.unit, info.full_scale) for info in infos)
        (unit, full_scale), _ = measured.most_common(1)[0]
        audio = audio.model_copy(update={"unit": unit, "full_scale": full_scale})
        config = config.model_copy(update={"audio": audio})
    rate, _ = Counter(info.sample_rate for info in infos).most_common(1)[0]
    return at_rate(config, _kept_rate(audio, rate))


def _kept_rate(audio: AudioConfig, rate: int) -> int:
    """The rate of a model for recordings of `rate` Hz."""
    keeps = audio.keep_rate == "always" or (
        audio.keep_rate == "auto" and (audio.unit in VIBRATION_UNITS or rate < audio.sample_rate)
    )
    return min(max(rate, LOWEST_RATE), HIGHEST_RATE) if keeps else audio.sample_rate


def _some(recordings: Sequence[Recording]) -> list[Recording]:
    return [recordings[place] for place in spread_evenly(len(recordings), _PROBED)]


def _info(recording: Recording) -> AudioInfo | None:
    try:
        return probe(recording)
    except SsdptError:
        return None  # the fit says what is wrong with it
