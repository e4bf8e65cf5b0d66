"""Sound texture: hand-made views of a clip, each with the distance to the nearest normal sound.

Nothing is trained. A clip is described second by second: its spectrum, roughness, modulation and
envelope spectrum, and the rhythm of the whole. That is compared with normal clips of its machine
ID, in a space where the ordinary differences between seconds of one machine count alike; the views'
scores, each on the scale of normal clips, are averaged.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ssdpt.common.arrays import Arrays, arrays_under
from ssdpt.common.threads import SINGLE_BLAS_THREAD
from ssdpt.config.encoder import EncoderConfig
from ssdpt.config.tree import Config
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureView
from ssdpt.features.encoded_texture import ENCODER_VIEW, texture_frames
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.texture import TextureFrames
from ssdpt.features.views import (
    AVERAGED,
    LEAST_FRAMES,
    UNTRAINED,
    clips_of,
    longest_clip,
    views_of,
)
from ssdpt.scoring.aggregate import ClipScore, aggregate
from ssdpt.scoring.calibrate import Scores
from ssdpt.scoring.normal_map import NormalSound
from ssdpt.scoring.section_model import ByDomain, ClipViews, SectionModel, View, view_of
from ssdpt.scoring.section_score import SectionScore
from ssdpt.systems.base import FitContext, System
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.systems.texture import TextureConfig
from ssdpt.systems.texture.held_out import HeldOutScores, by_section, held_out_scores
from ssdpt.types import Domain, Floats, Recording

if TYPE_CHECKING:
    from torch import nn

    from ssdpt.systems.parts.graph import SystemGraph

_FEW_RECORDINGS = 5  # fewer are left out in parts to see how the others score
_DOMAINS: tuple[Domain, ...] = ("source", "target")
_SHARES = {"rhythm": 0.5}  # it is one noisy row a clip; other views count 1


class Texture(System):
    """One `SectionModel` for every machine ID."""

    name: ClassVar[str] = "texture"
    origin: ClassVar[str] = "Hand-made views and nearest normal clips (not in the paper)"
    adapts: ClassVar[bool] = True
    embeds: ClassVar[bool] = True
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
    ) -> None:
        super().__init__(config, tuple(section_models))
        self.section_models = dict(section_models)
        self.shared_reference = shared_reference
        self._held_out = HeldOutScores({}, {})  # of the clips it was fitted on

    @classmethod
    def front_end_of(cls, config: Config) -> FrontEnd:
        return texture_frames(config)

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        """Of the whitening; the normal clips themselves are kept as well."""
        views = {*config.part(TextureConfig).views, ENCODER_VIEW}
        return sections * sum(size**2 for view, size in _sizes(config).items() if view in views)

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        shared = context.shared_reference or SharedReference.learn([clips], config, context)
        front_end = texture_frames(config)
        shares = cls.shares(config, shared)
        described: list[tuple[Recording, ClipViews]] = []
        with context.reporter.task(context.name, total=len(clips)) as task:
            for recording, frames in clips.clips():
                views = shared.computed.take(frames)
                views = views or cls.views(frames, front_end, config, shared)
                described.append((recording, {view: views[view] for view in shares}))
                task.advance()
        measure = partial(section_views, shares=shares, settings=config.part(TextureConfig))
        with SINGLE_BLAS_THREAD:
            sections = measure(by_section(described), spread=shared.spread)
            held_out = held_out_scores(described, measure, shared, config.seed, context.reporter)
        system = cls(
            config,
            {
                section: SectionModel(views, _normal(clips, section, front_end))
                for section, views in sections.items()
            },
            shared,
        )
        system._held_out = held_out
        return system

    @classmethod
    def views(
        cls, frames: Floats, front_end: TextureFrames, config: Config, shared: SharedReference
    ) -> ClipViews:
        """A clip, (frames, values), in every view."""
        settings = config.part(TextureConfig)
        unused = set(UNTRAINED) - set(settings.views)
        views = views_of(frames, front_end, settings.seconds)
        return {view: rows for view, rows in views.items() if view not in unused}

    @classmethod
    def shares(cls, config: Config, shared: SharedReference) -> dict[str, float]:
        """The views there are, and how much each counts."""
        shares: dict[str, float] = {
            view: _SHARES.get(view, 1.0) for view in config.part(TextureConfig).views
        }
        encoder = config.part(EncoderConfig)
        return shares | {ENCODER_VIEW: encoder.weight} if encoder.file else shares

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        return self.score_sections(lambda: frames)(section)

    def score_sections(self, frames: Callable[[], Iterable[Floats]]) -> SectionScore:
        """The views of a clip are computed once for all sections."""
        return partial(self._score_as, list(self._clip_views(frames())))

    def anomaly_map(self, frames: Floats, section: str) -> Floats:
        """Where the log-mel of a clip is unusual, (frames, mel bins), in squared deviations."""
        assert isinstance(self.front_end, TextureFrames)
        return self.section_models[section].normal.anomaly_map(self.front_end.log_mels(frames))

    def embeddings(self, frames: Iterable[Floats], section: str) -> dict[str, Floats]:
        """Whitened as the section's own; one row for every second, or for the whole clip."""
        clips = [views for _, views in self._clip_views(frames)]
        embeddings = {}
        with SINGLE_BLAS_THREAD:
            for name, view in self.section_models[section].views.items():
                points = view.points([views[name] for views in clips])
                rows = np.concatenate([np.zeros((0, len(view.matrix))), *points])
                embeddings[name] = rows.astype(np.float32)
        return embeddings

    def held_out_scores(self) -> Scores:
        return self._held_out.new_recording

    def known_recording_scores(self) -> Scores:
        return self._held_out.known_recording

    def add_normals(self, clips: Iterable[Iterable[Floats]], section: str, domain: Domain) -> int:
        views = [views for frames in clips for _, views in self._clip_views(frames)]
        self.section_models[section] = self._with_more(section, views, domain)
        return len(views)

    def scores_among_normals(
        self, clips: Iterable[Iterable[Floats]], section: str, domain: Domain
    ) -> list[float]:
        parts = [[views for _, views in self._clip_views(frames)] for frames in clips]
        if len(parts) < _FEW_RECORDINGS:  # too few to leave out as a whole: in stretches of time
            every = [views for part in parts for views in part]
            length = -(-len(every) // _FEW_RECORDINGS)
            parts = [every[at : at + length] for at in range(0, len(every), length)]
        scores = []
        for number, left_out in enumerate(parts):
            others = [views for at, part in enumerate(parts) if at != number for views in part]
            if others:
                model = self._with_more(section, others, domain)
                scores += [model.score(views) for views in left_out]
        return scores

    def graph(self) -> SystemGraph:
        from ssdpt.systems.texture.graph import ViewsGraph  # scoring itself needs no torch
        from ssdpt.systems.texture.view_graphs import Rows

        assert isinstance(self.front_end, TextureFrames)
        if 2 * self.front_end.margin >= LEAST_FRAMES:
            raise SsdptError(
                f"system {self.name} cannot be exported with these features: a frame is too long "
                "for its spectrum of half a second; fit with a smaller features.hop_length"
            )
        rows = Rows(self.front_end, self.config.part(TextureConfig).seconds)
        graphs = self.view_graphs(max(longest_clip(self._clip_frames), 2 * LEAST_FRAMES))
        return ViewsGraph(self.section_models, graphs, rows, clip_frames=self._clip_frames)

    def view_graphs(self, longest: int) -> dict[str, nn.Module]:
        """What describes clips of up to `longest` frames in torch, for every view of the model."""
        from ssdpt.systems.texture.view_graphs import view_graphs

        assert isinstance(self.front_end, TextureFrames)
        settings = self.config.part(TextureConfig)
        graphs = view_graphs(self.front_end, settings.seconds, longest)
        return {name: graphs[name] for name in settings.views}

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
        views = set(cls.shares(config, shared))
        if any(set(model.views) != views for model in models.values()):
            raise ValueError("the views of a section are not those of the settings")
        return cls(config, models, shared)

    @property
    def segment_frames(self) -> int:
        return LEAST_FRAMES

    @property
    def _clip_frames(self) -> int:
        return round(self.config.audio.clip_seconds / self.hop_seconds)

    def _clip_views(self, frames: Iterable[Floats]) -> Iterator[tuple[int, ClipViews]]:
        """The clips of a recording: how many frames each has, and its views."""
        assert isinstance(self.front_end, TextureFrames)
        for clip in clips_of(frames, self._clip_frames):
            yield len(clip), self.views(clip, self.front_end, self.config, self.shared_reference)

    def _with_more(self, section: str, clips: Sequence[ClipViews], domain: Domain) -> SectionModel:
        """The model of a section with further normal clips."""
        reference_clips = self.config.part(TextureConfig).reference_clips
        return self.section_models[section].with_more(clips, domain, reference_clips)

    def _score_as(self, clips: list[tuple[int, ClipViews]], section: str) -> ClipScore:
        model = self.section_models[section]
        scores = {name: array("f") for name in model.views}
        for _, views in clips:
            with SINGLE_BLAS_THREAD:
                over_time = model.z_over_time(views)
            rows = max(map(len, over_time.values()))
            for name, values in over_time.items():
                # A view of the whole clip says the same of each of its seconds.
                scores[name].extend(values if len(values) == rows else np.full(rows, values.mean()))
        frames = sum(count for count, _ in clips)
        seconds = frames * self.hop_seconds / len(next(iter(scores.values())))
        return aggregate(
            {name: np.array(values, np.float32) for name, values in scores.items()},
            {name: view.weight for name, view in model.views.items()},
            hop_seconds=seconds,
            segment_seconds=seconds,
        )


def section_views(
    clips: Mapping[str, Mapping[Domain, Sequence[ClipViews]]],
    shares: Mapping[str, float],
    spread: Mapping[str, np.ndarray],
    settings: TextureConfig,
) -> dict[str, dict[str, View]]:
    """The views of every section of one machine type, from its normal clips.

    `clips` are by section and domain. Weights are the shares, scaled to sum to 1. `spread` (d, d),
    by view, is that of the shared reference.
    """
    if not shares:
        raise SsdptError(
            "no view is left: texture.views is empty and there are no networks, "
            "which need two machine IDs to be trained; name a view"
        )
    total = sum(shares.values())
    return {
        section: {
            name: replace(
                view_of(
                    _of_view(by_domain, name),
                    spread.get(name),
                    averaged=name in AVERAGED and settings.seconds is not None,
                    reference_clips=settings.reference_clips,
                    neighbours=settings.neighbours if settings.density else 0,
                    domains_apart=settings.domains == "apart",
                ),
                weight=share / total,
            )
            for name, share in shares.items()
        }
        for section, by_domain in sorted(clips.items())
    }


def _sizes(config: Config) -> dict[str, int]:
    """How many values each view has that no network of ours makes."""
    return _sizes_of(texture_frames(config))


@lru_cache(maxsize=8)
def _sizes_of(front_end: TextureFrames) -> dict[str, int]:
    silence = views_of(np.zeros((LEAST_FRAMES, front_end.bins), np.float32), front_end)
    return {view: rows.shape[1] for view, rows in silence.items()}


def _of_view(by_domain: Mapping[Domain, Sequence[ClipViews]], view: str) -> ByDomain:
    """The clips, (rows, d) each, of one machine ID in one view, by domain."""
    return {
        domain: [views[view] for views in by_domain[domain]]
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
