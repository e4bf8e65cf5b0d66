"""Sound texture: hand-made views of a clip, each with the distance to the nearest normal clip.

Nothing is trained. What spectrum, roughness, modulation and envelope spectrum a clip has is
compared with the normal clips of its machine ID, in a space where the ordinary differences
between clips of one machine count alike; the views' scores, each on the scale of normal clips,
are averaged.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from ssdpt.config.system_settings import TextureConfig
from ssdpt.config.tree import Config
from ssdpt.data.split import divided
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureView
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import LEAST_FRAMES, clips_of, views_of
from ssdpt.scoring.aggregate import ClipScore, aggregate
from ssdpt.scoring.calibrate import Scores
from ssdpt.scoring.normal_map import NormalSound
from ssdpt.scoring.section_model import ByDomain, SectionModel, Vectors, View, view_of
from ssdpt.scoring.section_score import SectionScore
from ssdpt.systems.base import Arrays, FitContext, System, arrays_under
from ssdpt.systems.shared_reference import SharedReference
from ssdpt.types import Domain, Floats, Recording

_FOLDS = 20  # in which clips are left out to see how unheard ones score

ClipViews = list[tuple[Recording, Vectors]]  # clips, and what the views say of them
Measure = Callable[..., dict[str, dict[str, View]]]  # `weighed_views` with all but the clips given

_DOMAINS: tuple[Domain, ...] = ("source", "target")


class Texture(System):
    """One portrait for every machine ID."""

    name: ClassVar[str] = "texture"
    origin: ClassVar[str] = "Hand-made views and nearest normal clips (not in the paper)"
    hears_others: ClassVar[bool] = True
    tells_own_scores: ClassVar[bool] = True
    needs_torch: ClassVar[bool] = False

    def __init__(
        self, config: Config, portraits: Mapping[str, SectionModel], background: SharedReference
    ) -> None:
        super().__init__(config, tuple(portraits))
        self.portraits = dict(portraits)  # by section
        self.background = background
        self._unheard: Scores = {}  # of the clips it was fitted on, by views made without them

    @classmethod
    def front_end_of(cls, config: Config) -> FrontEnd:
        return TextureFrames(config.features, config.audio.sample_rate)

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        """Of the whitening; the normal clips themselves are kept as well."""
        sizes = _sizes(config)
        return sections * sum(sizes[view] ** 2 for view in config.texture.views)

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        background = context.background or SharedReference.learn([clips], config, context)
        front_end = TextureFrames(config.features, config.audio.sample_rate)
        heard: ClipViews = []
        with context.reporter.task(context.name, total=len(clips)) as task:
            for recording, frames in clips.clips():
                heard.append((recording, cls.views(frames, front_end, config, background)))
                task.advance()
        measure = partial(
            weighed_views, shares=cls.shares(config, background), settings=config.texture
        )
        system = cls(
            config,
            {
                section: SectionModel(views, _normal(clips, section, front_end))
                for section, views in measure(_by_section(heard), spread=background.spread).items()
            },
            background,
        )
        system._unheard = _scores_of_unheard(heard, measure, background, config, context)
        return system

    @classmethod
    def views(
        cls, frames: Floats, front_end: TextureFrames, config: Config, background: SharedReference
    ) -> Vectors:
        """A clip, (frames, values), in every view."""
        found = views_of(frames, front_end)
        return {view: found[view] for view in config.texture.views}

    @classmethod
    def shares(cls, config: Config, background: SharedReference) -> dict[str, float]:
        """The views there are, and how much each counts before siblings weigh them."""
        return dict.fromkeys(config.texture.views, 1.0)

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        return self.score_sections(lambda: frames)(section)

    def score_sections(self, frames: Callable[[], Iterable[Floats]]) -> SectionScore:
        """What the views say of a clip is worked out once for all sections."""
        heard = list(self._heard(frames()))
        return partial(self._score_as, heard)

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """Where the log-mel of a clip is odd, (frames, mel bins), in squared deviations."""
        assert isinstance(self.front_end, TextureFrames)
        return self.portraits[section].normal.anomaly_map(self.front_end.log_mels(frames))

    def own_scores(self) -> Scores:
        return self._unheard

    def add_normals(self, clips: Iterable[Iterable[Floats]], section: str, domain: Domain) -> int:
        heard = [vectors for frames in clips for _, vectors in self._heard(frames)]
        known = self.portraits[section]
        background_clips = self.config.texture.background_clips
        self.portraits[section] = known.with_more(heard, domain, background_clips)
        return len(heard)

    def arrays(self) -> dict[str, np.ndarray]:
        # Numbers, not names: a section may be called anything.
        arrays = {
            f"section-{number}/{name}": value
            for number, portrait in enumerate(self.portraits.values())
            for name, value in portrait.arrays().items()
        }
        return arrays | {
            f"background/{name}": value for name, value in self.background.arrays().items()
        }

    def description(self) -> dict[str, Any]:
        portraits = {
            section: portrait.description() for section, portrait in self.portraits.items()
        }
        matrices = [
            view.matrix.size
            for portrait in self.portraits.values()
            for view in portrait.views.values()
        ]
        networks = self.background.ears.parameters if self.background.ears else 0
        return {
            "portraits": portraits,
            "background": self.background.description(),
            "parameters": sum(matrices) + networks,
        }

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        portraits = {
            section: SectionModel.restore(
                arrays_under(arrays, f"section-{number}/"), description["portraits"][section]
            )
            for number, section in enumerate(sections)
        }
        sizes = _sizes(config)
        for portrait in portraits.values():
            for name, view in portrait.views.items():
                if len(view.matrix) != sizes.get(name, len(view.matrix)):
                    raise ValueError("the views are of another front end")
        told = description["background"]
        background = SharedReference.restore(config, arrays_under(arrays, "background/"), told)
        return cls(config, portraits, background)

    @property
    def segment_frames(self) -> int:
        return LEAST_FRAMES

    def _heard(self, frames: Iterable[Floats]) -> Iterator[tuple[int, Vectors]]:
        """The clips of a recording: how many frames each has, and what the views say of it."""
        assert isinstance(self.front_end, TextureFrames)
        length = round(self.config.audio.clip_seconds / self.hop_seconds)
        for clip in clips_of(frames, length):
            yield len(clip), self.views(clip, self.front_end, self.config, self.background)

    def _score_as(self, heard: list[tuple[int, Vectors]], section: str) -> ClipScore:
        portrait = self.portraits[section]
        along = {name: array("f") for name in portrait.views}
        for _, vectors in heard:
            for name, odd in portrait.z(vectors).items():
                along[name].append(odd)
        seconds = heard[0][0] * self.hop_seconds
        return aggregate(
            {name: np.array(values, np.float32) for name, values in along.items()},
            {name: view.weight for name, view in portrait.views.items()},
            hop_seconds=seconds,
            segment_seconds=seconds,
        )


def _by_section(heard: ClipViews) -> dict[str, dict[Domain, list[Vectors]]]:
    """What the views say of clips, by section and domain."""
    found: dict[str, dict[Domain, list[Vectors]]] = {}
    for recording, vectors in heard:
        domains = found.setdefault(recording.section, {})
        domains.setdefault(recording.domain, []).append(vectors)
    return found


def _scores_of_unheard(
    heard: ClipViews,
    measure: Measure,
    background: SharedReference,
    config: Config,
    context: FitContext,
) -> Scores:
    """How every clip scores by views made without it, by section and domain, in the clips' order.

    To leave a clip out as a reference is not enough: the spread that distances are measured with
    has then still seen it, and few clips bend it towards themselves. Networks have heard all
    clips; a network that had not heard some of them put limits too high on machines that go on
    as they were. The only clip of a section and domain tells nothing.
    """
    deviations = _deviations(heard, background.clips)
    parts = divided([recording for recording, _ in heard], _FOLDS, config.seed)
    by_place: dict[int, float] = {}
    with context.reporter.task("thresholds", total=len(parts)) as task:
        for part in parts:
            left_out = set(part)
            rest = [item for place, item in enumerate(heard) if place not in left_out]
            groups = _by_section(rest)
            gone = {view: values[part] for view, values in deviations.items()}
            views = measure(groups, spread=background.without(gone)) if part and rest else {}
            for place in part:
                recording, vectors = heard[place]
                own = views.get(recording.section, {})
                if recording.domain in groups.get(recording.section, {}):
                    odd = [
                        view.weight * float(view.z(vectors[name][None])[0])
                        for name, view in own.items()
                    ]
                    by_place[place] = sum(odd)
            task.advance()
    scores: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for place, score in sorted(by_place.items()):
        recording, _ = heard[place]
        scores[recording.section, recording.domain].append(score)
    return dict(scores)


def _deviations(heard: ClipViews, views: Iterable[str]) -> dict[str, np.ndarray]:
    """How far each clip lies from the mean of its section and domain, by view: (clips, d)."""
    places: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, (recording, _) in enumerate(heard):
        places[recording.section, recording.domain].append(place)
    found = {}
    for view in views:
        values = np.array([vectors[view] for _, vectors in heard])
        for own in places.values():
            # As in a covariance: a mean of few clips follows them.
            longer = np.sqrt(len(own) / max(len(own) - 1, 1))
            values[own] = (values[own] - values[own].mean(0)) * longer
        found[view] = values
    return found


def weighed_views(
    vectors: Mapping[str, Mapping[Domain, Sequence[Vectors]]],
    shares: Mapping[str, float],
    spread: Mapping[str, np.ndarray],
    settings: TextureConfig,
) -> dict[str, dict[str, View]]:
    """The views of every machine ID of one machine type, from what they say of its normal clips.

    `vectors` are by section and domain. A view counts by its share, and by how far siblings lie
    in it; the weights of a section sum to 1. `spread` (d, d) is the background's, by view.
    """
    if not shares:
        raise SsdptError(
            "no view is left to listen with: texture.views is empty and there are no networks, "
            "which need two machine IDs to be trained; name a view"
        )
    sections = sorted(vectors)
    by_siblings = settings.weights == "siblings"
    weighed: dict[str, dict[str, View]] = {}
    for section in sections:
        found = {
            view: view_of(
                _of_view(vectors[section], view),
                [_of_view(vectors[other], view) for other in sections if other != section],
                spread.get(view),
                settings,
                emphasised=settings.emphasis and view in settings.views,
            )
            for view in shares
        }
        raw = {
            view: shares[view] * (distance if by_siblings else 1.0)
            for view, (_, distance) in found.items()
        }
        total = sum(raw.values())
        weighed[section] = {
            view: replace(own, weight=raw[view] / total) for view, (own, _) in found.items()
        }
    return weighed


def _sizes(config: Config) -> dict[str, int]:
    """How many values each untrained view has."""
    front_end = TextureFrames(config.features, config.audio.sample_rate)
    silence = views_of(np.zeros((LEAST_FRAMES, front_end.bins), np.float32), front_end)
    return {view: len(values) for view, values in silence.items()}


def _of_view(by_domain: Mapping[Domain, Sequence[Vectors]], view: str) -> ByDomain:
    """The clips (clips, d) of one machine ID in one view, by domain."""
    return {
        domain: np.array([vectors[view] for vectors in by_domain[domain]])
        for domain in _DOMAINS
        if by_domain.get(domain)
    }


def _normal(clips: FeatureView, section: str, front_end: TextureFrames) -> NormalSound:
    """How the normal clips of a section sound."""
    return NormalSound.of(
        front_end.log_mels(frames)
        for recording, frames in clips.clips()
        if recording.section == section
    )
