"""The variants of an ablation."""

from __future__ import annotations

import pytest

from ssdpt.config.tree import load_config, with_overrides
from ssdpt.errors import SsdptError
from ssdpt.experiments.ablation.variants import (
    CHANGES,
    FULL,
    PUBLISHED,
    ablation_variants,
    parse_candidate,
)


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


def test_candidates_are_parsed():
    text = "two: complexity=-2, texture.views=[spectrum, envelope] texture.density=false;"
    candidate = parse_candidate(text)
    assert (candidate.name, candidate.complexity) == ("two", -2)
    assert candidate.settings == {
        "texture.views": ["spectrum", "envelope"],
        "texture.density": False,
    }
    variants = ablation_variants(load_config("best"), [FULL], candidates=[candidate])
    assert [(variant.name, variant.complexity) for variant in variants] == [(FULL, 0), ("two", -2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("texture.density=false", "is not of the form"),
        ("two words: texture.density=false", "a name is one word"),
        ("x: texture.density", "is not of the form"),
        ("x: complexity=few, texture.density=false", "complexity is a whole number"),
        ("no-density: texture.density=false", "there is a variant of this name"),
        ("x: texture.density=true", "it is the full recipe"),
        ("x: texture.densities=true", "densities"),
    ],
)
def test_invalid_candidates_are_errors(text, message):
    with pytest.raises(SsdptError, match=message):
        ablation_variants(load_config("best"), candidates=[parse_candidate(text)])
