"""The list of what is taken out of the recipe."""

from __future__ import annotations

import pytest

from ssdpt.config.tree import load_config, with_overrides
from ssdpt.errors import SsdptError
from ssdpt.experiments.ablation.variants import CHANGES, FULL, PUBLISHED, ablation_variants


def test_every_change_is_a_change_of_the_shipped_recipe():
    recipe = load_config("best")
    found = ablation_variants(recipe, published=True)
    assert [variant.name for variant in found] == [change.name for change in CHANGES]
    changed = {
        with_overrides(recipe, dict(variant.settings)).model_dump_json() for variant in found
    }
    assert len(changed) == len(CHANGES)


def test_without_networks_there_are_none_to_remove():
    found = {v.name for v in ablation_variants(load_config("best", {"system": "texture"}))}
    assert found == {
        change.name for change in CHANGES if not change.networks and change.name != PUBLISHED
    }


def test_removing_starts_from_the_recipe_at_hand():
    recipe = load_config("best", {"texture.views": ["envelope", "spectrum"]})
    found = {variant.name: variant for variant in ablation_variants(recipe)}
    assert found["without-spectrum"].settings == {"texture.views": ["envelope"]}
    assert "without-roughness" not in found


def test_what_is_so_already_is_left_out():
    recipe = load_config("best", {"texture.density": False})
    assert "no-density" not in {variant.name for variant in ablation_variants(recipe)}


def test_some_by_name_beside_the_full_recipe():
    found = ablation_variants(load_config("best"), ["no-density", PUBLISHED])
    assert [variant.name for variant in found] == [FULL, "no-density", PUBLISHED]


def test_refusals():
    with pytest.raises(SsdptError, match="no variant is called 'nothing'; there are full, "):
        ablation_variants(load_config("best"), ["nothing"])
    with pytest.raises(SsdptError, match=r"variant one-network: this recipe \(system texture\)"):
        ablation_variants(load_config("best", {"system": "texture"}), ["one-network"])
