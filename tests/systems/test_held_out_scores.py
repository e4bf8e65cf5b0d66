"""Thresholds of hand-made views: how clips of the fit score as if they had been left out."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from ssdpt.config.tree import load_config
from ssdpt.systems.base import FitContext
from ssdpt.systems.parts.shared_reference import SharedReference
from ssdpt.systems.texture import TextureConfig, system
from ssdpt.types import Recording

SIZE = 40
CONFIG = load_config("best", {"system": "texture", "texture.views": ["spectrum"]})


def clips(section, count, seed, domain="source"):
    """Clips of one machine ID whose view has some directions that vary much more than others."""
    random = np.random.default_rng(seed)
    values = random.standard_normal((count, SIZE)) * np.geomspace(5, 0.2, SIZE)
    return [
        (Recording(Path(f"{section}-{domain}-{n}.wav"), "fan", section, domain), {"spectrum": row})
        for n, row in enumerate(values + 10 * int(section))
    ]


def fitted(rows, tmp_path):
    shared = SharedReference.of_clips(rows, None, CONFIG)
    settings = CONFIG.part(TextureConfig)
    measure = partial(system.weighted_views, shares={"spectrum": 1.0}, settings=settings)
    views = measure(system._by_section(rows), spread=shared.spread)
    context = FitContext(tmp_path, "")
    return views, system._held_out_scores(rows, measure, shared, CONFIG, context)


def test_scores_of_left_out_clips_are_those_of_new_ones(tmp_path):
    """Nine in ten of them lie below a score that nine in ten new clips lie below as well."""
    sections = ("00", "01", "02")
    rows = [item for n, section in enumerate(sections) for item in clips(section, 80, n)]
    views, scores = fitted(rows, tmp_path)
    above = []
    for section in sections:
        limit = np.quantile(scores[section, "source"], 0.9)
        new = np.array([row["spectrum"] for _, row in clips(section, 1000, 100)])
        above.append((views[section]["spectrum"].z_scores(new) > limit).mean())
    assert 0.06 < np.mean(above) < 0.16


def test_the_only_clip_of_a_domain_sets_no_threshold(tmp_path):
    rows = clips("00", 60, 0) + clips("01", 60, 1) + clips("00", 1, 2, "target")
    _, scores = fitted(rows, tmp_path)
    assert set(scores) == {("00", "source"), ("01", "source")}


def test_a_spread_without_some_clips_is_that_of_the_rest():
    rows = clips("00", 300, 0) + clips("01", 300, 1)
    shared = SharedReference.of_clips(rows, None, CONFIG)
    gone = system._deviations(rows, ["spectrum"])["spectrum"][:100]
    rest = SharedReference.of_clips(rows[100:], None, CONFIG)
    spread = shared.without({"spectrum": gone})["spectrum"]
    np.testing.assert_allclose(np.diag(spread), np.diag(rest.spread["spectrum"]), rtol=0.1)
