"""Figures: what they show, and that the same results give the same bytes."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from paper_fakes import CONFIG, fake_results
from ssdpt.config.tree import load_config
from ssdpt.experiments.claims.claims import SMOKE
from ssdpt.experiments.paper.beta import rescored
from ssdpt.experiments.paper.variants import EXPERIMENTS
from ssdpt.experiments.report import figures
from ssdpt.experiments.report.mask_examples import mask_examples, masks

TWO = ("fan", "valve")


@pytest.fixture(scope="module")
def results():
    return fake_results(EXPERIMENTS, machines=TWO, clips=2, sections=("00",), seeds=2)


@pytest.fixture(scope="module")
def beta(results):
    return rescored(results, load_config("paper"), "mean")


@pytest.fixture(scope="module")
def clip():
    return np.random.default_rng(0).normal(-40, 5, (313, 128)).astype(np.float32)


@pytest.fixture(scope="module")
def pictures(results, beta, clip):
    return {
        picture.name: picture
        for picture in (
            figures.system_bars(results, "h_auc"),
            figures.system_bars(results, "h_pauc"),
            figures.masking_bars(results),
            figures.patch_bars(results),
            figures.block_bars(results),
            figures.beta_curves(beta),
            figures.beta_boxes(beta),
            mask_examples(clip, CONFIG),
        )
    }


def texts(picture):
    root = ElementTree.fromstring(picture.svg)
    return ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]


def test_every_figure_has_its_names(pictures):
    assert set(pictures) == {
        *("machines-h-auc", "machines-h-pauc", "masking", "patches", "blocks"),
        *("beta-curves", "beta-boxes", "masks"),
    }
    assert {*TWO, "All", "SSDPT", "MNv2-LOF", "the paper", "chance"} <= set(
        texts(pictures["machines-h-auc"])
    )
    assert "the paper" not in texts(pictures["masking"])
    assert {"NM", "TM", "FM", "SpecAugment", "PM"} <= set(texts(pictures["masking"]))
    assert {"1*5²", "3*10²", "5*15²"} <= set(texts(pictures["patches"]))
    assert {"M = 3, P = 256", "the paper"} <= set(texts(pictures["blocks"]))
    assert "suggested by the paper" in texts(pictures["beta-curves"])
    assert set(TWO) <= set(texts(pictures["beta-boxes"]))
    assert {"no masking (NM)", "patches (PM)", "seconds", "mel bin", "4 kHz", "hidden"} <= set(
        texts(pictures["masks"])
    )


def test_files_are_written(pictures, tmp_path):
    for picture in pictures.values():
        picture.save(tmp_path)
        with Image.open(io.BytesIO((tmp_path / f"{picture.name}.png").read_bytes())) as image:
            assert image.width > 1000
        assert (tmp_path / f"{picture.name}.svg").read_text("utf-8") == picture.svg
    assert len(list(tmp_path.iterdir())) == 2 * len(pictures)


def test_the_same_results_give_the_same_bytes(results, pictures):
    again = figures.masking_bars(results)
    assert again.svg == pictures["masking"].svg
    assert again.png == pictures["masking"].png
    assert "<dc:date>" not in again.svg


def test_inline_svgs_use_the_pages_colours_and_unique_ids(pictures):
    seen = set()
    for picture in pictures.values():
        inline = picture.inline
        assert inline.startswith('<svg role="img" aria-label="')
        assert "var(--ink)" in inline
        assert "#16202a" not in inline
        assert "metadata" not in inline
        ids = set(re.findall(r' id="([^"]+)"', inline))
        assert not ids & seen
        seen |= ids


def test_the_papers_mean_is_shown_beside_the_same_machine_types_only(results):
    chosen = ("ssdpt", "SSDPT", figures.BLUE, "")
    few = figures._series(results, "h_auc", "arithmetic", *chosen)
    assert few.paper == [0.730, 0.752, None]
    every = figures._series(
        fake_results(("beta",), clips=1, seeds=1), "h_auc", "arithmetic", *chosen
    )
    assert every.paper[-1] == 0.722


def test_one_seed_missing_bars_and_a_smoke_run():
    alone = fake_results(
        ("masking",), machines=("fan",), clips=2, seeds=1, quick=True, without=("mask-TM",)
    )
    picture = figures.masking_bars(alone)
    assert "–" in texts(picture)
    assert f"Masking methods by machine type ({SMOKE})" in texts(picture)


def test_masks_are_those_of_the_configuration():
    hidden = masks(CONFIG, 64, 128, 3)
    assert list(hidden) == ["NM", "TM", "FM", "SpecAugment", "PM"]
    assert not hidden["NM"].any()
    assert set(hidden["TM"].sum(axis=0)) <= {4, 5, 6, 7, 8}  # frames; stripes may overlap
    assert set(hidden["FM"].sum(axis=1)) <= {4, 5, 6, 7, 8}
    assert 25 <= hidden["PM"].sum() <= 75
    many = load_config("paper", {"ssdpt.mask.patches": 30})
    assert masks(many, 64, 128, 3)["PM"].sum() > 75
    np.testing.assert_array_equal(masks(CONFIG, 64, 128, 3)["PM"], hidden["PM"])


def test_a_short_clip_is_shown_whole(clip):
    assert "30 frames" in mask_examples(clip[:30], CONFIG).caption


def test_matplotlibs_settings_are_restored(results):
    import matplotlib

    before = dict(matplotlib.rcParams)
    figures.masking_bars(results)
    assert dict(matplotlib.rcParams) == before
