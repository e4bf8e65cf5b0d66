"""The views of a clip are computed once, however many steps of a fit use them."""

from __future__ import annotations

import pytest

from ssdpt import Detector
from ssdpt.config.tree import load_config
from ssdpt.data.layouts import read_layout
from ssdpt.features import views
from ssdpt.fleet.fleet import fit_fleet
from ssdpt.systems.multiview.system import MultiView
from ssdpt.systems.parts import shared_reference
from ssdpt.systems.parts.embedding_networks import EmbeddingNetworks
from ssdpt.systems.texture import system as texture
from ssdpt.systems.texture.windows import grid_of


@pytest.fixture
def computed(monkeypatch):
    """How often the hand-made views and the networks' embeddings are computed."""
    calls = {"views": 0, "embeddings": 0}
    embed = EmbeddingNetworks.embed

    def counted_views(frames, front_end):
        # Shorter: silence, to see sizes, and windows for the score over time.
        calls["views"] += len(frames) > grid_of(front_end).frames
        return views.views_of(frames, front_end)

    def counted_embed(self, mels):
        calls["embeddings"] += len(mels) > 62
        return embed(self, mels)

    monkeypatch.setattr(shared_reference, "views_of", counted_views)
    monkeypatch.setattr(texture, "views_of", counted_views)
    monkeypatch.setattr(EmbeddingNetworks, "embed", counted_embed)
    # As if the few clips of the tests were enough to learn a spread from.
    monkeypatch.setattr(shared_reference, "_FEWEST_CLIPS", 1)
    return calls


def test_a_fit_of_one_machine(computed, fan):
    detector = Detector.fit(fan, config=load_config("tiny", {"system": "texture"}))
    assert detector.system.shared_reference.origin.endswith("clips of the machines being fitted")
    assert computed == {"views": detector.stored.description["clips"], "embeddings": 0}
    assert not detector.system.shared_reference.computed


@pytest.mark.parametrize("system", ["texture", "multiview"])
def test_a_fit_of_several_machines(computed, simulated, tmp_path, system):
    config = load_config("tiny", {"system": system, "device": "cpu"})
    fleet = fit_fleet(read_layout(simulated), config, tmp_path / "models")
    clips = sum(detector.stored.description["clips"] for detector in fleet.values())
    embeddings = clips if system == MultiView.name else 0
    assert computed == {"views": clips, "embeddings": embeddings}
    for detector in fleet.values():
        assert not detector.system.shared_reference.computed


def test_what_is_kept_is_bounded(monkeypatch, fan):
    """With no place for any views they are computed again, and the scores are the same."""
    clip = sorted((fan / "source_test").glob("*.wav"))[0]
    config = load_config("tiny", {"system": "texture"})
    monkeypatch.setattr(shared_reference, "_FEWEST_CLIPS", 1)
    kept = Detector.fit(fan, config=config).score(clip).value
    monkeypatch.setattr(shared_reference, "_MOST_KEPT", 0)
    assert Detector.fit(fan, config=config).score(clip).value == kept


def test_a_fit_uses_some_views_only(monkeypatch, fan):
    monkeypatch.setattr(shared_reference, "_FEWEST_CLIPS", 1)
    config = load_config("tiny", {"system": "texture", "texture.views": ["spectrum"]})
    detector = Detector.fit(fan, config=config)
    assert set(detector.system.section_models["00"].views) == {"spectrum"}
