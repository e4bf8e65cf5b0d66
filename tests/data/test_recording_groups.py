"""Which clips count as one recording, and how they are left out together."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdpt.data.recording_groups import RecordingGroups
from ssdpt.types import Recording


def named(*names, **changes):
    return [Recording(Path(name), "fan", "00", **changes) for name in names]


def test_times_in_names_that_lie_half_an_hour_apart_are_other_recordings():
    groups = RecordingGroups.of(
        named(
            "2026-03-01_10-00-00.wav",
            "2026-03-01_10-20-00.wav",
            "2026-03-01_10-45-00.wav",  # 25 minutes after the one before: the same recording
            "2026-03-01_12-00-00.wav",
            "2026-03-02_10-00-00.wav",
        )
    )
    assert groups.basis == "time"
    assert groups.groups == (0, 0, 0, 1, 2)
    assert groups.at_other_times


def test_the_order_of_the_files_does_not_matter_for_times():
    names = ["2026-03-02_10-00-00.wav", "2026-03-01_10-00-00.wav", "2026-03-02_10-05-00.wav"]
    groups = RecordingGroups.of(named(*names))
    assert groups.groups == (0, 1, 0)


def test_a_date_in_the_folder_is_a_time():
    groups = RecordingGroups.of(named("2026-03-01/a.wav", "2026-03-01/b.wav", "2026-03-02/a.wav"))
    assert (groups.basis, groups.groups) == ("time", (0, 0, 1))


def test_a_date_that_all_share_tells_nothing_apart():
    fast, slow = ((("speed", value),) for value in ("1", "2"))
    recordings = [
        *named("data 2026-03-01/a.wav", "data 2026-03-01/b.wav", attributes=fast),
        *named("data 2026-03-01/c.wav", attributes=slow),
    ]
    assert RecordingGroups.of(recordings).basis == "order"


def test_files_that_were_cut_are_a_recording_each():
    recordings = [item for item in named("long.wav", "longer.wav") for _ in range(4)]
    groups = RecordingGroups.of(recordings)
    assert (groups.basis, groups.groups) == ("file", (0,) * 4 + (1,) * 4)
    assert sorted(map(len, groups.parts())) == [4, 4]


def test_conditions_are_no_evidence_of_other_recordings():
    recordings = [
        Recording(Path(f"{n}.wav"), "fan", "00", attributes=(("speed", str(n % 3)),))
        for n in range(9)
    ]
    groups = RecordingGroups.of(recordings)
    assert (groups.basis, len(groups)) == ("order", 1)
    assert not groups.at_other_times
    assert groups.parts() == [[0, 1], [2, 3], [4, 5], [6, 7], [8]]


def test_nothing_known_is_one_recording_left_out_in_stretches():
    groups = RecordingGroups.of(named(*(f"clip_{n}.wav" for n in range(12))))
    assert (groups.basis, len(groups)) == ("order", 1)
    # By number: clip_2 comes before clip_10.
    assert groups.parts() == [[0, 1, 2], [3, 4, 5], [6, 7], [8, 9], [10, 11]]


def test_sections_and_domains_are_never_one_recording():
    recordings = [
        *named("a.wav", "b.wav"),
        *named("c.wav", "d.wav", domain="target"),
        Recording(Path("e.wav"), "fan", "01"),
    ]
    groups = RecordingGroups.of(recordings)
    assert groups.groups == (0, 0, 1, 1, 2)
    assert groups.numbers() == {
        ("00", "source"): [0, 0],
        ("00", "target"): [1, 1],
        ("01", "source"): [2],
    }
    assert groups.numbers([3, 0]) == {("00", "target"): [1], ("00", "source"): [0]}


@pytest.mark.parametrize("count", [3, 40, 100])
def test_every_clip_is_left_out_once(count):
    recordings = [
        Recording(Path(f"2026-{1 + n // 56:02d}-{1 + n // 2 % 28:02d} {n}.wav"), "fan", "00")
        for n in range(2 * count)
    ]
    parts = RecordingGroups.of(recordings).parts()
    assert sorted(at for part in parts for at in part) == list(range(2 * count))
    assert len(parts) == min(count, 40)
