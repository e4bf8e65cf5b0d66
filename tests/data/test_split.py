"""Splits depend on the recordings and the seed, and on nothing else."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdpt.data.split import folds, held_out, training_split
from ssdpt.errors import SsdptError
from ssdpt.types import Domain, Label, Recording, Split


def clips(
    count: int,
    machine: str = "pump",
    section: str = "00",
    domain: Domain = "source",
    split: Split = "",
    label: Label = "normal",
    root: str = "/data",
) -> list[Recording]:
    return [
        Recording(
            Path(root, machine, f"{section}_{domain}_{split}_{label}_{index:04d}.wav"),
            machine,
            section,
            domain,
            split,
            label,
        )
        for index in range(count)
    ]


RECORDINGS = st.lists(
    st.builds(
        Recording,
        path=st.integers(0, 10**6).map(lambda number: Path(f"/data/{number}.wav")),
        machine=st.sampled_from(["fan", "pump"]),
        section=st.sampled_from(["00", "01"]),
        domain=st.sampled_from(get_args(Domain)),
        split=st.sampled_from(get_args(Split)),
        label=st.sampled_from(get_args(Label)),
    ),
    max_size=40,
    unique_by=lambda recording: recording.path,
)


@given(RECORDINGS, st.integers(0, 2**32), st.floats(0, 0.99))
def test_training_split_rules(recordings: list[Recording], seed: int, share: float) -> None:
    train, test = training_split(recordings, seed, share)
    assert not set(train) & set(test)
    assert set(train) | set(test) == {r for r in recordings if r.split != "supplemental"}
    assert all(r.split != "test" for r in train)
    for machine in ("fan", "pump"):
        marked = [r for r in recordings if r.machine == machine and r.split == "train"]
        mine = [r for r in train if r.machine == machine]
        if marked:
            assert set(mine) == set(marked)
        else:
            assert all(r.label != "anomaly" for r in mine)
            free = {
                r.section
                for r in recordings
                if r.machine == machine and r.split == "" and r.label != "anomaly"
            }
            assert {r.section for r in mine} == free


@given(RECORDINGS, st.integers(0, 100), st.randoms(use_true_random=False))
def test_order_of_the_input_does_not_matter(
    recordings: list[Recording], seed: int, shuffler: random.Random
) -> None:
    mixed = list(recordings)
    shuffler.shuffle(mixed)
    assert training_split(mixed, seed) == training_split(recordings, seed)
    assert held_out(mixed, 0.1, 10, seed) == held_out(recordings, 0.1, 10, seed)
    named = [
        {frozenset(source[i] for i in fold) for fold in folds(source, 3, seed)}
        for source in (mixed, recordings)
    ]
    assert named[0] == named[1]


def test_place_does_not_matter_and_the_seed_does() -> None:
    here, there = clips(50), clips(50, root="/mnt/zoo")
    names = [[r.path.name for r in training_split(data, 7)[1]] for data in (here, there)]
    assert names[0] == names[1]
    assert [r.path.name for r in training_split(here, 8)[1]] != names[0]


def test_shares_of_each_section() -> None:
    recordings = clips(50) + clips(10, section="01") + clips(1, section="02")
    recordings += clips(5, label="anomaly")
    train, test = training_split(recordings, 1)
    assert Counter(r.section for r in train) == {"00": 40, "01": 8, "02": 1}
    assert Counter((r.section, r.label) for r in test) == {
        ("00", "normal"): 10,
        ("01", "normal"): 2,
        ("00", "anomaly"): 5,
    }


def test_another_machine_leaves_the_draw_alone() -> None:
    alone = training_split(clips(30), 3)[1]
    together = training_split(clips(30) + clips(30, machine="fan"), 3)[1]
    assert [r for r in together if r.machine == "pump"] == alone


def test_layouts_own_split_is_kept() -> None:
    train = clips(5, split="train") + clips(1, split="train", label="anomaly")
    test = clips(5, split="test") + clips(5, split="test", label="anomaly")
    extra = clips(3, split="supplemental")
    result = training_split(train + test + extra, 0)
    assert (set(result[0]), set(result[1])) == (set(train), set(test))


def test_bad_share() -> None:
    with pytest.raises(SsdptError, match="test share"):
        training_split(clips(3), 0, 1.0)


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=4),
    st.floats(0, 0.5),
    st.integers(0, 20),
)
def test_held_out_rules(sizes: list[int], share: float, minimum: int) -> None:
    recordings = [r for n, size in enumerate(sizes) for r in clips(size, section=f"{n:02d}")]
    fit, held = held_out(recordings, share, minimum, 0)
    assert sorted(map(str, fit + held)) == sorted(map(str, recordings))
    assert {r.section for r in fit} == {r.section for r in recordings}
    available = len(recordings) - len(sizes)
    assert len(held) >= min(available, minimum)
    assert len(held) >= min(available, share * len(recordings))
    assert len(held) <= max(minimum, share * len(recordings) + 1)


def test_held_out_takes_both_domains() -> None:
    recordings = clips(99) + clips(10, domain="target")
    _, held = held_out(recordings, 0.1, 10, 0)
    assert Counter(r.domain for r in held) == {"source": 10, "target": 1}
    assert held_out([], 0.1, 10, 0) == ([], [])


@given(RECORDINGS, st.integers(1, 7), st.integers(0, 100))
def test_folds_rules(recordings: list[Recording], count: int, seed: int) -> None:
    parts = folds(recordings, count, seed)
    assert len(parts) == count
    assert sorted(index for part in parts for index in part) == list(range(len(recordings)))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    for key in {(r.machine, r.section, r.domain) for r in recordings}:
        shares = [
            sum(
                (recordings[i].machine, recordings[i].section, recordings[i].domain) == key
                for i in p
            )
            for p in parts
        ]
        assert max(shares) - min(shares) <= 1


def test_folds_keep_repeated_recordings_apart() -> None:
    parts = folds(clips(2) * 2, 2, 0)
    assert sorted(parts[0] + parts[1]) == [0, 1, 2, 3]


def test_bad_fold_count() -> None:
    with pytest.raises(SsdptError, match="folds"):
        folds(clips(3), 0, 0)
