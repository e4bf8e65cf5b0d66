"""Sound texture: hand-made views of a clip, each with the distance to the nearest normal clip.

Nothing is trained. What spectrum, roughness, modulation and envelope spectrum a clip has is
compared with the normal clips of its machine ID, in a space where the ordinary differences
between clips of one machine count alike; the views' scores, each on the scale of normal clips,
are averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ssdpt.common.arrays import Arrays, arrays_under
from ssdpt.config.tree import Config
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureView
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import LEAST_FRAMES, clips_of, longest_clip, views_of
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.scoring.calibrate import Scores
from ssdpt.scoring.fusion import spread_evenly
from ssdpt.scoring.normal_map import NormalSound
from ssdpt.scoring.section_model import ByDomain, SectionModel, View, ViewVectors, view_of
from ssdpt.scoring.section_score import SectionScore
from ssdpt.scoring.windows import ScoredClip, clip_by_clip
from ssdpt.systems.base import FitContext, System
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.systems.texture import TextureConfig
from ssdpt.systems.texture.held_out import HeldOutScores, by_section, held_out_scores
from ssdpt.systems.texture.windows import (
    MOST_CLIPS,
    DescribedClip,
    Scales,
    grid_of,
    normal_scales,
    scales_from_json,
    scales_to_json,
)
from ssdpt.types import Domain, Floats, Recording

if TYPE_CHECKING:
    from torch import nn

    from ssdpt.systems.parts.graph import SystemGraph

_FEW_RECORDINGS = 5  # fewer are left out in parts to see how the others score
_DOMAINS: tuple[Domain, ...] = ("source", "target")


class Texture(System):
    """One `SectionModel` for every machine ID."""

    name: ClassVar[str] = "texture"
    origin: ClassVar[str] = "Hand-made views and nearest normal clips (not in the paper)"
    adapts: ClassVar[bool] = True
    exports: ClassVar[bool] = True
    uses_shared_reference: ClassVar[bool] = True
    has_held_out_scores: ClassVar[bool] = True
    requires_torch: ClassVar[bool] = False

    shared_reference: SharedReference

    def __init__(
        self,
        config: Config,
        section_models: Mapping[str, SectionModel],
        shared_reference: SharedReference,
        window_scales: Mapping[str, Scales] | None = None,
    ) -> None:
        super().__init__(config, tuple(section_models))
        self.section_models = dict(section_models)
        self.shared_reference = shared_reference
        self.window_scales = dict(window_scales or {})  # by section; before format 5 there are none
        self._held_out = HeldOutScores({}, {})  # of the clips it was fitted on

    @classmethod
    def front_end_of(cls, config: Config) -> FrontEnd:
        return TextureFrames(config.features, config.audio.sample_rate)

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        """Of the whitening; the normal clips themselves are kept as well."""
        sizes = _sizes(config)
        return sections * sum(sizes[view] ** 2 for view in config.part(TextureConfig).views)

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        shared = context.shared_reference or SharedReference.learn([clips], config, context)
        front_end = TextureFrames(config.features, config.audio.sample_rate)
        shares = cls.shares(config, shared)
        rows: list[tuple[Recording, ViewVectors]] = []
        with context.reporter.task(context.name, total=len(clips)) as task:
            for recording, frames in clips.clips():
                views = shared.computed.take(frames)
                views = views or cls.views(frames, front_end, config, shared)
                rows.append((recording, {view: views[view] for view in shares}))
                task.advance()
        measure = partial(weighted_views, shares=shares, settings=config.part(TextureConfig))
        system = cls(
            config,
            {
                section: SectionModel(views, _normal(clips, section, front_end))
                for section, views in measure(by_section(rows), spread=shared.spread).items()
            },
            shared,
        )
        system._held_out = held_out_scores(rows, measure, shared, config.seed, context.reporter)
        system.window_scales = system._normal_windows(clips, [vectors for _, vectors in rows])
        return system

    @classmethod
    def views(
        cls, frames: Floats, front_end: TextureFrames, config: Config, shared: SharedReference
    ) -> ViewVectors:
        """A clip, (frames, values), in every view."""
        views = views_of(frames, front_end)
        return {view: views[view] for view in config.part(TextureConfig).views}

    @classmethod
    def shares(cls, config: Config, shared: SharedReference) -> dict[str, float]:
        """The views there are, and the weight of each before siblings are compared."""
        return dict.fromkeys(config.part(TextureConfig).views, 1.0)

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        return self.score_sections(lambda: frames)(section)

    def score_sections(self, frames: Callable[[], Iterable[Floats]]) -> SectionScore:
        """The views of a clip are computed once for all sections."""
        earlier: list[dict[str, ScoredClip]] = []  # clips of a long recording: only their scores
        clips = self._clips(frames())
        latest = DescribedClip(next(clips), grid_of(self.front_end), self._describe)
        for clip in clips:
            scored = {section: self._scored(latest, section) for section in self.sections}
            earlier.append({section: one.computed() for section, one in scored.items()})
            latest = DescribedClip(clip, grid_of(self.front_end), self._describe)
        return partial(self._score_as, earlier, latest)

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """Where the log-mel of a clip is unusual, (frames, mel bins), in squared deviations."""
        assert isinstance(self.front_end, TextureFrames)
        return self.section_models[section].normal.anomaly_map(self.front_end.log_mels(frames))

    def held_out_scores(self) -> Scores:
        return self._held_out.new_recording

    def known_recording_scores(self) -> Scores:
        return self._held_out.known_recording

    def add_normals(self, clips: Iterable[Iterable[Floats]], section: str, domain: Domain) -> int:
        views = [self._describe(clip) for frames in clips for clip in self._clips(frames)]
        self.section_models[section] = self._with_more(section, views, domain)
        return len(views)

    def scores_among_normals(
        self, clips: Iterable[Iterable[Floats]], section: str, domain: Domain
    ) -> list[float]:
        views = [[self._describe(clip) for clip in self._clips(frames)] for frames in clips]
        if len(views) < _FEW_RECORDINGS:  # too few to leave out as a whole: in stretches of time
            every = [vectors for own in views for vectors in own]
            length = -(-len(every) // _FEW_RECORDINGS)
            views = [every[at : at + length] for at in range(0, len(every), length)]
        scores = []
        for number, own in enumerate(views):
            others = [vectors for at, part in enumerate(views) if at != number for vectors in part]
            if others:
                model = self._with_more(section, others, domain)
                scores += [model.score(vectors) for vectors in own]
        return scores

    def graph(self) -> SystemGraph:
        from ssdpt.systems.texture.graph import ViewsGraph  # scoring itself needs no torch

        grid = grid_of(self.front_end)
        # The last of several clips may be a frame longer; a short one is repeated.
        longest = max(longest_clip(self._clip_frames) + 1, grid.frames, 2 * LEAST_FRAMES)
        return ViewsGraph(
            self.section_models,
            self.view_graphs(longest),
            self.window_scales,
            clip_frames=self._clip_frames,
            windows=grid if self.window_scales else None,
        )

    def view_graphs(self, longest: int) -> dict[str, nn.Module]:
        """What describes clips of up to `longest` frames in torch, for every view of the model."""
        from ssdpt.systems.texture.graph import HandMadeView
        from ssdpt.systems.texture.view_graphs import VIEW_GRAPHS

        assert isinstance(self.front_end, TextureFrames)
        names = self.config.part(TextureConfig).views
        if missing := [name for name in names if name not in VIEW_GRAPHS]:
            raise SsdptError(
                f"system {self.name} cannot be exported with the view {missing[0]}; fit it with "
                f"--set 'texture.views=[{', '.join(VIEW_GRAPHS)}]'"
            )
        return {name: HandMadeView(VIEW_GRAPHS[name](self.front_end, longest)) for name in names}

    def arrays(self) -> dict[str, np.ndarray]:
        # Numbers, not names: a section may be called anything.
        arrays = {
            f"section-{number}/{name}": value
            for number, model in enumerate(self.section_models.values())
            for name, value in model.arrays().items()
        }
        shared = self.shared_reference.arrays()
        return arrays | {f"shared_reference/{name}": value for name, value in shared.items()}

    def description(self) -> dict[str, Any]:
        models = self.section_models
        matrices = [view.matrix.size for model in models.values() for view in model.views.values()]
        networks = self.shared_reference.networks
        return {
            "section_models": {section: model.description() for section, model in models.items()},
            "shared_reference": self.shared_reference.description(),
            "window_scales": scales_to_json(self.window_scales),
            "parameters": sum(matrices) + (networks.parameters if networks else 0),
        }

    @classmethod
    def card_part(cls, description: dict[str, Any]) -> str:
        """How much each view counts in each section."""
        models = description["section_models"]
        names = list(next(iter(models.values())))
        rows = [
            f"| {section} | " + " | ".join(f"{views[name]['weight']:.2f}" for name in names) + " |"
            for section, views in models.items()
        ]
        return "\n".join(
            [
                "## Views",
                "How much each view of the sound counts. Other machines are known from "
                f"{description['shared_reference']['origin']}.",
                "",
                f"| section | {' | '.join(names)} |",
                f"| --- |{' --- |' * len(names)}",
                *rows,
            ]
        )

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        models = {
            section: SectionModel.restore(
                arrays_under(arrays, f"section-{number}/"), description["section_models"][section]
            )
            for number, section in enumerate(sections)
        }
        sizes = _sizes(config)
        for model in models.values():
            for name, view in model.views.items():
                if len(view.matrix) != sizes.get(name, len(view.matrix)):
                    raise ValueError("the views are of another front end")
        shared = SharedReference.restore(
            config, arrays_under(arrays, "shared_reference/"), description["shared_reference"]
        )
        return cls(config, models, shared, scales_from_json(description.get("window_scales", {})))

    @property
    def segment_frames(self) -> int:
        return LEAST_FRAMES

    def _clips(self, frames: Iterable[Floats]) -> Iterator[Floats]:
        """The clips (frames, values) of a recording."""
        return clips_of(frames, self._clip_frames)

    @property
    def _clip_frames(self) -> int:
        return round(self.config.audio.clip_seconds / self.hop_seconds)

    def _describe(self, clip: Floats) -> ViewVectors:
        """A clip (frames, values) in every view."""
        assert isinstance(self.front_end, TextureFrames)
        return self.views(clip, self.front_end, self.config, self.shared_reference)

    def _normal_windows(
        self, clips: FeatureView, vectors: Sequence[ViewVectors]
    ) -> dict[str, Scales]:
        """The scales of normal windows by section, from some of its clips and their views."""
        scales: dict[str, Scales] = {}
        for section, model in self.section_models.items():
            own = [at for at, item in enumerate(clips.recordings) if item.section == section]
            chosen = [own[at] for at in spread_evenly(len(own), MOST_CLIPS)]
            frames = (frames for _, frames in clips.only(chosen).clips())
            some = zip([vectors[at] for at in chosen], frames, strict=True)
            strata = self._held_out.new_recording.items()
            held_out = [score for key, values in strata if key[0] == section for score in values]
            grid = grid_of(self.front_end)
            scales[section] = normal_scales(model, some, held_out, grid, self._describe)
        return scales if all(scales.values()) else {}

    def _with_more(
        self, section: str, clips: Sequence[ViewVectors], domain: Domain
    ) -> SectionModel:
        """The model of a section with further normal clips."""
        reference_clips = self.config.part(TextureConfig).reference_clips
        return self.section_models[section].with_more(clips, domain, reference_clips)

    def _scored(self, clip: DescribedClip, section: str) -> ScoredClip:
        return clip.score_as(self.section_models[section], self.window_scales.get(section, {}))

    def _score_as(
        self, earlier: list[dict[str, ScoredClip]], latest: DescribedClip, section: str
    ) -> ClipScore:
        clips = [clip[section] for clip in earlier] + [self._scored(latest, section)]
        views = self.section_models[section].views
        return clip_by_clip(
            clips,
            {name: view.weight for name, view in views.items()},
            grid_of(self.front_end) if self.window_scales else None,
            self.hop_seconds,
        )


def weighted_views(
    vectors: Mapping[str, Mapping[Domain, Sequence[ViewVectors]]],
    shares: Mapping[str, float],
    spread: Mapping[str, np.ndarray],
    settings: TextureConfig,
) -> dict[str, dict[str, View]]:
    """The views of every section of one machine type, from its normal clips.

    `vectors` are by section and domain. The weight of a view is its share times the distance of
    siblings in it; the weights of a section sum to 1. `spread` (d, d), by view, is that of the
    shared reference.
    """
    if not shares:
        raise SsdptError(
            "no view is left: texture.views is empty and there are no networks, "
            "which need two machine IDs to be trained; name a view"
        )
    sections = sorted(vectors)
    by_siblings = settings.weights == "siblings"
    weighted: dict[str, dict[str, View]] = {}
    for section in sections:
        measured = {
            view: view_of(
                _of_view(vectors[section], view),
                [_of_view(vectors[other], view) for other in sections if other != section],
                spread.get(view),
                reference_clips=settings.reference_clips,
                neighbours=settings.neighbours if settings.density else 0,
                domains_apart=settings.domains == "apart",
                emphasised=settings.emphasis and view in settings.views,
            )
            for view in shares
        }
        raw = {
            view: shares[view] * (distance if by_siblings else 1.0)
            for view, (_, distance) in measured.items()
        }
        total = sum(raw.values())
        weighted[section] = {
            name: replace(view, weight=raw[name] / total) for name, (view, _) in measured.items()
        }
    return weighted


def _sizes(config: Config) -> dict[str, int]:
    """How many values each untrained view has."""
    front_end = TextureFrames(config.features, config.audio.sample_rate)
    silence = views_of(np.zeros((LEAST_FRAMES, front_end.bins), np.float32), front_end)
    return {view: len(values) for view, values in silence.items()}


def _of_view(by_domain: Mapping[Domain, Sequence[ViewVectors]], view: str) -> ByDomain:
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
