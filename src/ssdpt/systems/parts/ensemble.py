"""Several systems of one kind, fitted one after the other; their z-scores are averaged.

The rule is that of `ssdpt.scoring.fusion`. All members have the same seed: they differ by their
settings, and each is what it would be alone. The timeline is the first member's: the z-scores of
the others, whose segments may be longer or further apart, are interpolated onto its segments.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, ClassVar, Self

import numpy as np
import torch

from ssdpt.common.arrays import Arrays
from ssdpt.common.files import write_text
from ssdpt.common.progress import Reporter
from ssdpt.config.tree import Config
from ssdpt.features.cache import FeatureView
from ssdpt.features.front_end import FrontEnd
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.scoring.fusion import Scale, fuse, onto_timeline, spread_evenly
from ssdpt.scoring.section_score import SectionScore
from ssdpt.systems.base import FitContext, System
from ssdpt.systems.parts.network import FALLBACK, TWO_SECTIONS
from ssdpt.training.log import LOG_FILE
from ssdpt.types import Floats, Recording, Timeline

_TOGETHER = 16  # clips that are scored at once to find a scale
_IN_MEMORY = 1 << 26  # bytes of blocks that can be gone through only once; more go to a file
_SCALES = "scales"

Scales = Mapping[str, Scale]  # by section


class EnsembleSystem(System):
    """What all ensembles share; a subclass says what its members are."""

    needs: ClassVar[tuple[str, ...]] = (TWO_SECTIONS,)
    fallback: ClassVar[str | None] = FALLBACK
    has_network: ClassVar[bool] = True
    member: ClassVar[type[System]]

    def __init__(self, config: Config, members: Sequence[System], scales: Sequence[Scales]) -> None:
        super().__init__(config, members[0].sections)
        self.members = tuple(members)
        self.scales = tuple(scales)  # of each member

    @classmethod
    @abstractmethod
    def member_configs(cls, config: Config) -> list[Config]:
        """The settings of every member."""

    @classmethod
    def front_end_of(cls, config: Config) -> FrontEnd:
        return cls.member.front_end_of(cls.member_configs(config)[0])

    @classmethod
    def parameter_count(cls, config: Config, sections: int) -> int:
        return sum(
            cls.member.parameter_count(member, sections) for member in cls.member_configs(config)
        )

    @classmethod
    def refusal(cls, recordings: Sequence[Recording], config: Config) -> str | None:
        return cls.member.refusal(recordings, cls.member_configs(config)[0])

    @classmethod
    def fit(cls, clips: FeatureView, config: Config, context: FitContext) -> Self:
        configs = cls.member_configs(config)
        count = len(configs)
        members, scales = [], []
        for number, member_config in enumerate(configs, start=1):
            name = f"member {number} of {count}"
            member_context = replace(
                context,
                work=context.work / _name(number),
                identity=f"{context.identity}/{_name(number)}",
                name=name if context.name == "training" else f"{context.name}, {name}",
                models=context.models * count,
                # Of several members none is the system yet.
                after_epoch=context.after_epoch if count == 1 else None,
            )
            member = cls.member.fit(clips, member_config, member_context)
            members.append(member)
            scales.append(
                _scales(member, clips, f"scale of {member_context.name}", context.reporter)
            )
        _write_log(context.work, count)
        return cls(config, members, scales)

    def score(self, frames: Iterable[Floats], section: str) -> ClipScore:
        if iter(frames) is not frames:
            return self.score_sections(lambda: frames)(section)
        with _kept(frames, self.front_end.bins) as again:
            return self.score_sections(again)(section)

    def score_sections(self, frames: Callable[[], Iterable[Floats]]) -> SectionScore:
        """One pass of every member gives the scores as all sections."""
        return partial(self._fused, [member.score_sections(frames) for member in self.members])

    def score_many(self, clips: Sequence[Floats]) -> list[SectionScore]:
        by_member = [member.score_many(clips) for member in self.members]
        return [partial(self._fused, of_clip) for of_clip in zip(*by_member, strict=True)]

    def to(self, device: torch.device) -> None:
        for member in self.members:
            member.to(device)

    def arrays(self) -> dict[str, np.ndarray]:
        """Those of the members, and the scales: (members, sections, mean and sd)."""
        arrays = {
            f"{_name(number)}/{name}": array
            for number, member in enumerate(self.members, start=1)
            for name, array in member.arrays().items()
        }
        arrays[_SCALES] = np.array(
            [
                [(scales[section].mean, scales[section].sd) for section in self.sections]
                for scales in self.scales
            ]
        )
        return arrays

    def description(self) -> dict[str, Any]:
        members = [member.description() for member in self.members]
        return {"members": members, "parameters": sum(item["parameters"] for item in members)}

    @classmethod
    def restore(
        cls, config: Config, sections: tuple[str, ...], arrays: Arrays, description: dict[str, Any]
    ) -> Self:
        configs = cls.member_configs(config)
        scales = np.asarray(arrays[_SCALES])
        if scales.shape != (len(configs), len(sections), 2):
            raise ValueError("the scales are of other members or sections")
        of_member: dict[str, dict[str, np.ndarray]] = {}
        for name, array in arrays.items():
            if name != _SCALES:
                member, _, member_array = name.partition("/")
                of_member.setdefault(member, {})[member_array] = array
        names = [_name(number) for number in range(1, len(configs) + 1)]
        if set(of_member) != set(names):
            raise ValueError("the arrays are of other members")
        members = [
            cls.member.restore(member_config, sections, of_member[name], described)
            for member_config, name, described in zip(
                configs, names, description["members"], strict=True
            )
        ]
        return cls(
            config,
            members,
            [
                {
                    section: Scale(float(mean), float(sd))
                    for section, (mean, sd) in zip(sections, rows, strict=True)
                }
                for rows in scales
            ],
        )

    @property
    def segment_frames(self) -> int:
        """Of the member with the longest segments: a shorter clip is repeated for it at least."""
        return max(member.segment_frames for member in self.members)

    @property
    def on_gpu(self) -> bool:
        return self.members[0].on_gpu

    def _fused(self, members: Sequence[SectionScore], section: str) -> ClipScore:
        scores = [score_as(section) for score_as in members]
        scales = [scales[section] for scales in self.scales]
        names = [_name(number) for number in range(1, len(scores) + 1)]
        line = scores[0].timeline
        along = {
            name: onto_timeline(scale.z_scores(score.timeline.value), score.timeline, line)
            for name, scale, score in zip(names, scales, scores, strict=True)
        }
        values = np.array([[score.value] for score in scores])  # (members, 1 clip)
        return ClipScore(
            value=float(fuse(values, scales)[0]),
            parts={
                name: float(scale.z_scores(row)[0])
                for name, scale, row in zip(names, scales, values, strict=True)
            },
            timeline=Timeline(
                start=line.start,
                duration=line.duration,
                value=np.stack(list(along.values())).mean(axis=0),
                parts=along,
            ),
        )


def _name(number: int) -> str:
    return f"member-{number}"


def _scales(member: System, clips: FeatureView, name: str, reporter: Reporter) -> Scales:
    """How a fitted member scores the normal clips it was fitted on, by section."""
    recordings = clips.recordings
    chosen = {}
    for section in member.sections:
        indices = [n for n, item in enumerate(recordings) if item.section == section]
        chosen[section] = [indices[n] for n in spread_evenly(len(indices))]
    scales = {}
    with reporter.task(name, total=sum(map(len, chosen.values()))) as task:
        for section, indices in chosen.items():
            scores: list[float] = []
            for first in range(0, len(indices), _TOGETHER):
                part = clips.only(indices[first : first + _TOGETHER])
                scored = member.score_many([frames for _, frames in part.clips()])
                scores += [score_as(section).value for score_as in scored]
                task.advance(len(scored))
            scales[section] = Scale.of(np.array(scores))
    return scales


def _write_log(work: Path, count: int) -> None:
    """One log of all members: their lines, with the member's number."""
    lines = [
        json.dumps({"member": number, **json.loads(line)})
        for number in range(1, count + 1)
        for line in (work / _name(number) / LOG_FILE).read_text("utf-8").splitlines()
    ]
    write_text(work / LOG_FILE, "".join(f"{line}\n" for line in lines))


@contextmanager
def _kept(blocks: Iterable[Floats], bins: int) -> Iterator[Callable[[], Iterator[Floats]]]:
    """Blocks that can be gone through only once, for several members: in a file if they are many.

    Members could not score at the same time without a thread each.
    """
    with SpooledTemporaryFile(_IN_MEMORY) as file:
        lengths = []
        for block in blocks:
            lengths.append(file.write(np.ascontiguousarray(block, np.float32).tobytes()))

        def again() -> Iterator[Floats]:
            file.seek(0)
            for length in lengths:
                # Writable, as torch wants an array to be.
                yield np.frombuffer(bytearray(file.read(length)), np.float32).reshape(-1, bins)

        yield again
