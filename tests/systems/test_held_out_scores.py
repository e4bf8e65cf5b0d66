"""Thresholds of hand-made views: how clips of the fit score as if they had been left out."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from ssdpt.common.progress import SILENT
from ssdpt.config.tree import load_config
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.systems.texture import TextureConfig, held_out, system
from ssdpt.types import Recording

SIZE = 40
CONFIG = load_config("best", {"system": "texture", "texture.views": ["spectrum"]})


def clips(section, count, seed, domain="source"):
    """Clips of one machine ID whose view has some directions that vary much more than others."""
    random = np.random.default_rng(seed)
    values = random.standard_normal((count, SIZE)) * np.geomspace(5, 0.2, SIZE)
    return [
        (Recording(Path(f"{section}-{domain}-{n}.wav"), "fan", section, domain), {"spectrum": rows})
        for n, rows in enumerate((values + 10 * int(section))[:, None])
    ]


def fitted(rows):
    shared = SharedReference.of_clips(rows, None, CONFIG)
    settings = CONFIG.part(TextureConfig)
    measure = partial(system.section_views, shares={"spectrum": 1.0}, settings=settings)
    views = measure(held_out.by_section(rows), spread=shared.spread)
    return views, held_out.held_out_scores(rows, measure, shared, CONFIG.seed, SILENT)


def test_scores_of_left_out_clips_are_those_of_new_ones():
    """Nine in ten of them lie below a score that nine in ten new clips lie below as well."""
    sections = ("00", "01", "02")
    rows = [item for n, section in enumerate(sections) for item in clips(section, 80, n)]
    views, scores = fitted(rows)
    above = []
    for section in sections:
        limit = np.quantile(scores.known_recording[section, "source"], 0.9)
        new = [views["spectrum"] for _, views in clips(section, 1000, 100)]
        above.append((views[section]["spectrum"].z_scores(new) > limit).mean())
    assert 0.06 < np.mean(above) < 0.16


def test_the_only_clip_of_a_domain_sets_no_threshold():
    rows = clips("00", 60, 0) + clips("01", 60, 1) + clips("00", 1, 2, "target")
    _, scores = fitted(rows)
    assert set(scores.new_recording) == {("00", "source"), ("01", "source")}
    assert set(scores.known_recording) == {("00", "source"), ("01", "source")}


def test_a_spread_without_some_clips_is_that_of_the_rest():
    rows = clips("00", 300, 0) + clips("01", 300, 1)
    shared = SharedReference.of_clips(rows, None, CONFIG)
    scatter = held_out._removed_scatter(range(30), rows, ["spectrum"])
    rest = SharedReference.of_clips(rows[30:], None, CONFIG)
    spread = shared.without(scatter)["spectrum"]
    np.testing.assert_allclose(np.diag(spread), np.diag(rest.spread["spectrum"]), rtol=0.05)


def test_a_clip_is_scored_without_the_others_of_its_recording():
    """Recordings that differ as a whole: their clips look near only to their own neighbours."""
    random = np.random.default_rng(3)
    rows = []
    for day in range(6):
        for section in ("00", "01"):
            offset = 8 * random.standard_normal(SIZE)
            for n in range(10):
                name = Path(f"2026-03-{day + 1:02d}_12-00-{n:02d}.wav")
                vector = offset + random.standard_normal(SIZE)
                rows.append((Recording(name, "fan", section), {"spectrum": vector[None]}))
    _, scores = fitted(rows)
    known, new = (
        np.array(item["00", "source"]) for item in (scores.known_recording, scores.new_recording)
    )
    assert len(known) == len(new) == 60
    assert np.median(new) > np.quantile(known, 0.95)
