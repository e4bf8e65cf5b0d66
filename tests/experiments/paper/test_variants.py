"""Variants: the rows of the tables, and what they share."""

from __future__ import annotations

import pytest

from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError
from ssdpt.experiments.paper.cells import Cell
from ssdpt.experiments.paper.variants import EXPERIMENTS, TABLE_ONE, variants

CONFIG = load_config("paper")


def key(variant):
    return Cell(load_config("paper", dict(variant.settings)), ("fan",), "f").key


def test_all_settings_are_valid_and_all_members_exist():
    by_name = variants(CONFIG, EXPERIMENTS)
    for variant in by_name.values():
        assert load_config("paper", dict(variant.settings))
        assert set(variant.members) <= set(by_name)
    assert set(TABLE_ONE) <= set(by_name)


def test_the_default_is_trained_once():
    """SSDPT is a row of Table I, of Table II, of both masking figures and an ensemble's member."""
    by_name = variants(CONFIG, EXPERIMENTS)
    same = ("ssdpt", "blocks-3-64", "mask-PM", "patch-3x5", "ssdpt-3-64-patch")
    assert len({key(by_name[name]) for name in same}) == 1


def test_three_scores_of_one_mobilenet():
    by_name = variants(CONFIG, ["main"])
    names = ("mnv2", "mnv2-log-odds", "mnv2-dcase")
    assert len({key(by_name[name]) for name in names}) == 1
    assert len({by_name[name].part for name in names}) == 3


def test_numbers_of_cells():
    trained = [v for v in variants(CONFIG, EXPERIMENTS).values() if not v.members]
    # ae, mnv2, mnv2-lof, 4 WaveNets, 2 without auxiliary task, gmm; SSDPT: the default, 4 other
    # shapes, 4 other masks, 8 other patches.
    assert len({key(variant) for variant in trained}) == 10 + 17


def test_without_auxiliary_task_masks_are_off_or_on():
    by_name = variants(CONFIG, ["main"])
    masked = load_config("paper", dict(by_name["ssdpt-noaux-masked"].settings))
    assert (masked.ssdpt.alpha, masked.ssdpt.beta, masked.ssdpt.mask.kind) == (0, 0, "patch")
    assert masked.ssdpt.mixup == CONFIG.ssdpt.mixup
    assert by_name["ssdpt-noaux"].settings == {"system": "ssdpt-noaux"}


def test_an_unknown_experiment_is_an_error():
    with pytest.raises(SsdptError, match="'tables'; there are main, masking, patches"):
        variants(CONFIG, ["main", "tables"])
