"""Segments are views into the frames: the right positions for any block size, and never copies."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ssdpt.features.segments import (
    Segments,
    gathered_segments,
    segment_starts,
    segments_of_clip,
    whole_segments,
)

counts = st.lists(st.integers(1, 40), min_size=1, max_size=6)
lengths = st.integers(1, 12)
hops = st.integers(1, 15)


def frames_of(count, first=0):
    """(count, 2): the first bin numbers the frames."""
    number = np.arange(first, first + count, dtype=np.float32)
    return np.stack([number, -number], axis=1)


def sliced(clip, length, hop):
    """Segments by plain slicing; a clip that is too short is repeated."""
    if len(clip) < length:
        clip = np.concatenate([clip] * length)[:length]
    return [clip[at : at + length] for at in range(0, len(clip) - length + 1, hop)]


@pytest.mark.parametrize(("hop", "segments"), [(1, 250), (8, 32)])
def test_the_papers_numbers_of_segments(hop, segments):
    """B for 313 frames (10 s) and P = 64: T − P + 1 at hop 1, whole segments only at hop 8."""
    assert len(segment_starts(313, 64, hop)) == segments


def test_a_short_clip_is_one_segment():
    assert segment_starts(10, 64, 8).tolist() == [0]


@settings(deadline=None)
@given(counts=counts, length=lengths, hop=hops)
def test_gathering_is_slicing(counts, length, hop):
    features = torch.from_numpy(frames_of(sum(counts)))
    frames = np.array(counts)
    first = np.concatenate([[0], np.cumsum(frames)[:-1]])
    segments = Segments.of_clips(first, frames, length, hop)
    expected, owner = [], []
    for index, (start, count) in enumerate(zip(first, counts, strict=True)):
        pieces = sliced(features.numpy()[start : start + count], length, hop)
        expected += pieces
        owner += [index] * len(pieces)
    assert len(segments) == len(expected)
    got = segments.gather(features, torch.arange(len(segments)))
    np.testing.assert_array_equal(got.numpy(), np.array(expected))
    assert segments.clip.tolist() == owner


@settings(deadline=None)
@given(count=st.integers(1, 60), length=lengths, hop=hops)
def test_gathering_by_position_is_slicing_too(count, length, hop):
    clip = frames_of(count)
    got = gathered_segments(torch.from_numpy(clip), length, hop)
    np.testing.assert_array_equal(got.numpy(), np.array(sliced(clip, length, hop)))


@settings(deadline=None)
@given(
    count=st.integers(1, 60),
    cuts=st.lists(st.integers(0, 60), max_size=6),
    length=lengths,
    hop=hops,
    most=st.integers(1, 7),
)
def test_segments_do_not_depend_on_the_blocks(count, cuts, length, hop, most):
    clip = frames_of(count)
    blocks = np.split(clip, sorted(min(cut, count) for cut in cuts))
    batches = list(whole_segments(blocks, length, hop, most))
    np.testing.assert_array_equal(torch.cat(batches).numpy(), np.array(sliced(clip, length, hop)))
    assert all(len(batch) <= most for batch in batches)


def test_batches_are_full():
    batches = list(whole_segments([frames_of(500)], 10, 1, 32))
    assert [len(batch) for batch in batches] == [32] * 15 + [11]


def test_segments_of_a_clip_share_its_memory():
    clip = torch.from_numpy(frames_of(50))
    segments = segments_of_clip(clip, 10, 3)
    assert segments.shape == (14, 10, 2)
    assert segments.data_ptr() == clip.data_ptr()
    clip[0] = 99.0
    assert segments[0, 0, 0] == 99.0


def test_gathering_copies_a_batch_and_not_the_source():
    features = torch.zeros(1000, 4)
    segments = Segments.of_clips(np.array([0]), np.array([1000]), 64, 1)
    before = features.data_ptr()
    batch = segments.gather(features, torch.tensor([0, 5]))
    assert batch.shape == (2, 64, 4)
    assert features.data_ptr() == before
    held = sum(tensor.numel() for tensor in (segments.offset, segments.start, segments.frames))
    assert held == 3 * len(segments)  # three numbers a segment, whatever its length


def test_positions_can_be_moved_to_another_device():
    segments = Segments.of_clips(np.array([0]), np.array([100]), 10, 10)
    moved = segments.to(torch.device("meta"))
    for name in ("offset", "start", "frames", "clip"):
        assert getattr(moved, name).device.type == "meta"
        assert getattr(moved, name).shape == getattr(segments, name).shape
    same = segments.to(torch.device("cpu"))
    assert torch.equal(same.start, segments.start)
    assert moved.length == same.length == 10
