"""The variants of an ablation."""

from __future__ import annotations

import pytest

from ssdpt.config.tree import load_config, with_overrides
from ssdpt.errors import SsdptError
from ssdpt.experiments.ablation.variants import CHANGES, FULL, PUBLISHED, ablation_variants


def test_every_change_is_a_change_of_the_shipped_recipe():
    recipe = load_config("best")
    variants = ablation_variants(recipe, published=True)
    assert [variant.name for variant in variants] == [change.name for change in CHANGES]
    changed = {
        with_overrides(recipe, dict(variant.settings)).model_dump_json() for variant in variants
    }
    assert len(changed) == len(CHANGES)


def test_a_recipe_without_networks_has_no_network_variants():
    variants = {v.name for v in ablation_variants(load_config("best", {"system": "texture"}))}
    assert variants == {
        change.name for change in CHANGES if not change.networks and change.name != PUBLISHED
    }


def test_components_are_removed_from_the_given_recipe():
    recipe = load_config("best", {"texture.views": ["envelope", "spectrum"]})
    variants = {variant.name: variant for variant in ablation_variants(recipe)}
    assert variants["without-spectrum"].settings == {"texture.views": ["envelope"]}
    assert "without-roughness" not in variants


def test_changes_without_effect_are_left_out():
    recipe = load_config("best", {"texture.density": False})
    assert "no-density" not in {variant.name for variant in ablation_variants(recipe)}


def test_variants_can_be_selected_by_name():
    variants = ablation_variants(load_config("best"), ["no-density", PUBLISHED])
    assert [variant.name for variant in variants] == [FULL, "no-density", PUBLISHED]


def test_invalid_variants_are_errors():
    with pytest.raises(SsdptError, match="no variant is called 'nothing'; there are full, "):
        ablation_variants(load_config("best"), ["nothing"])
    with pytest.raises(SsdptError, match=r"variant one-network: this recipe \(system texture\)"):
        ablation_variants(load_config("best", {"system": "texture"}), ["one-network"])
