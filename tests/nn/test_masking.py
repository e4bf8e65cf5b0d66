"""Masks and mixup: number, size, position and random seed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ssdpt.nn.masking import draw_boxes, draw_mixup, mix, visible
from ssdpt.nn.settings import MaskConfig

SHAPE = (8, 64, 128)


def dice(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(seed=0, shape=SHAPE, **settings):
    batch, frames, bins = shape
    boxes = draw_boxes(MaskConfig(**settings), 1, batch, frames, bins, dice(seed))
    return visible(boxes[0], frames, bins)


def test_nm_hides_nothing():
    assert drawn(kind="none") is None
    assert drawn(patches=0) is None
    assert drawn(kind="time", stripes=0) is None


def test_tm_hides_whole_frames():
    hidden = drawn(kind="time") == 0
    rows = hidden.any(2)
    assert torch.equal(rows[:, :, None].expand_as(hidden), hidden)
    assert all(4 <= count <= 8 for count in rows.sum(1).tolist())  # two of four may overlap


def test_fm_hides_whole_bins():
    hidden = drawn(kind="frequency") == 0
    columns = hidden.any(1)
    assert torch.equal(columns[:, None, :].expand_as(hidden), hidden)
    assert all(4 <= count <= 8 for count in columns.sum(1).tolist())


def test_specaugment_hides_both():
    hidden = drawn(kind="specaugment") == 0
    frames, bins = hidden.all(2), hidden.all(1)
    assert torch.equal(frames[:, :, None] | bins[:, None, :], hidden)
    assert (frames.sum(1) >= 4).all()
    assert (bins.sum(1) >= 4).all()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    patches=st.integers(1, 4),
    size=st.integers(1, 9),
    frames=st.integers(9, 30),
    bins=st.integers(9, 30),
)
def test_pm_hides_k_squares_of_r(seed, patches, size, frames, bins):
    mask = drawn(seed, (4, frames, bins), patches=patches, patch_size=size)
    for segment in mask:
        hidden = (segment == 0).numpy()
        assert hidden.sum() <= patches * size**2
        assert hidden.sum() >= size**2
        assert made_of_squares(hidden, size)
    assert set(mask.unique().tolist()) <= {0.0, 1.0}


def made_of_squares(hidden, size):
    """Whether every hidden point lies in a whole hidden square."""
    windows = np.lib.stride_tricks.sliding_window_view(hidden, (size, size)).all((2, 3))
    union = np.zeros_like(hidden)
    for top, left in np.argwhere(windows):
        union[top : top + size, left : left + size] = True
    return bool((union == hidden).all())


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), stripes=st.integers(1, 3), width=st.integers(1, 6))
def test_stripes_count_and_width(seed, stripes, width):
    mask = drawn(seed, (4, 20, 20), kind="time", stripes=stripes, stripe_width=width)
    for segment in mask:
        hidden = int((segment[:, 0] == 0).sum())
        assert width <= hidden <= stripes * width


def test_one_square_is_exactly_r_by_r_and_anywhere():
    mask = drawn(patches=1, patch_size=5, shape=(4000, 16, 16))
    assert (mask.flatten(1) == 0).sum(1).unique().tolist() == [25]
    assert (mask == 0).any(0).all()  # every position is hidden at some time


def test_each_segment_has_its_own_mask():
    mask = drawn()
    assert not torch.equal(mask[0], mask[1])


def test_a_mask_wider_than_the_segment_hides_all_of_it():
    assert (drawn(kind="time", stripes=1, stripe_width=99) == 0).all()


def test_the_seed_decides():
    assert torch.equal(drawn(3), drawn(3))
    assert not torch.equal(drawn(3), drawn(4))


@pytest.mark.parametrize("concentration", [0.2, 1.0, 4.0])
def test_mixup_draws_from_its_beta(concentration):
    shares, _ = draw_mixup(concentration, 800, 4, dice())
    assert stats.kstest(shares, stats.beta(concentration, concentration).cdf).pvalue > 1e-3


def test_mixup_partners_are_a_permutation_and_seeded():
    share, partner = draw_mixup(1.0, 3, 50, dice(1))
    assert share.shape == (3,)  # one λ for a whole batch
    assert all(sorted(row) == list(range(50)) for row in partner.tolist())
    assert not torch.equal(partner[0], partner[1])
    again = draw_mixup(1.0, 3, 50, dice(1))
    assert torch.equal(share, again[0])
    assert torch.equal(partner, again[1])


def test_without_mixup_features_are_unchanged():
    (share,), (partner,) = draw_mixup(0.0, 1, 4, dice())
    features = torch.randn(4, 2, 2)
    assert torch.equal(mix(features, share, partner), features)


def test_mixing_is_the_weighted_sum():
    features = torch.randn(3, 2, 2)
    mixed = mix(features, torch.tensor(0.3), torch.tensor([2, 0, 1]))
    torch.testing.assert_close(mixed, 0.3 * features + 0.7 * features[[2, 0, 1]])
