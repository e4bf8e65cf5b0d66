"""A watched folder: only new files, only whole ones, oldest first, each once."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from hand_clock import NOON, HandClock, ends_meet, joined

from sounds import hum, write_clip
from ssdpt.data import audio
from ssdpt.errors import SsdptError
from ssdpt.monitor.sources import folder_source, open_source
from ssdpt.monitor.sources.folder_source import FolderSettings

RATE = 16_000


class Watch:
    """A folder watched from 0 s on; `script` says what happens in it, by the second."""

    def __init__(self, folder, script, seconds=8.0, **settings):
        self.clock = HandClock()
        self.source = open_source(FolderSettings(path=folder, **settings), RATE, self.clock)
        self.status = {}  # by the second
        stop = threading.Event()
        left = sorted(script.items())

        def happen():
            self.status[self.clock.now] = self.source.status
            while left and left[0][0] <= self.clock.now:
                left.pop(0)[1]()
            if self.clock.now >= seconds:
                stop.set()

        self.clock.on_wait = happen
        self.chunks = list(self.source.chunks(stop))


def put(path, at, seconds=1.0, seed=0, **options):
    """Write a recording that ended at the second `at` of the watch."""

    def write():
        write_clip(path, hum(seconds, seed=seed), **options)
        os.utime(path, (NOON + at, NOON + at))

    return write


def test_only_new_files_are_read_once_and_with_their_time(tmp_path):
    put(tmp_path / "old.wav", -5, seed=1)()
    watch = Watch(tmp_path, {2.0: put(tmp_path / "new.wav", 2, seconds=1.6, seed=2)})
    np.testing.assert_allclose(joined(watch.chunks), hum(1.6, seed=2), atol=1e-4)
    assert watch.chunks[0].time == pytest.approx(NOON + 0.4)
    assert ends_meet(watch.chunks, RATE)
    assert watch.status[8.0].connected
    assert not watch.source.status.connected


def test_the_oldest_comes_first_and_what_is_missing_in_between_is_reported(tmp_path):
    def both():
        put(tmp_path / "a.wav", 4.9, seed=1)()
        put(tmp_path / "z.wav", 1, seed=2)()

    watch = Watch(tmp_path, {5.0: both}, seconds=10)
    expected = np.concatenate([hum(1.0, seed=2), hum(1.0, seed=1)])
    np.testing.assert_allclose(joined(watch.chunks), expected, atol=1e-4)
    assert [chunk.gap for chunk in watch.chunks if chunk.gap] == [pytest.approx(2.9)]
    assert watch.source.status.gaps == 1


def test_recordings_that_follow_each_other_have_no_gap(tmp_path):
    script = {
        at: put(tmp_path / f"{at}.wav", at + off, seed=n)
        for n, (at, off) in enumerate([(2.0, 0.1), (3.0, -0.4), (4.0, 0.5), (5.0, 0.0)])
    }
    watch = Watch(tmp_path, script)
    assert len(joined(watch.chunks)) == 4 * RATE
    assert ends_meet(watch.chunks, RATE)
    assert watch.source.status.gaps == 0


def test_files_copied_at_one_go_are_set_end_to_end_up_to_now(tmp_path):
    def copy():
        for n in range(5):
            put(tmp_path / f"{n}.wav", 3.0, seconds=2.0, seed=n)()

    watch = Watch(tmp_path, {3.0: copy})
    assert ends_meet(watch.chunks, RATE)
    assert watch.chunks[0].time == pytest.approx(NOON - 7.0)


def test_a_file_still_being_written_is_left_alone(tmp_path):
    path = tmp_path / "slow.wav"
    write_clip(tmp_path / "whole" / "slow.wav", hum(2.0))
    content = (tmp_path / "whole" / "slow.wav").read_bytes()

    def written(share, at):
        def write():
            path.write_bytes(content[: round(share * len(content))])
            os.utime(path, (NOON + at, NOON + at))

        return write

    # It pauses from 2 to 6, longer than a file must be steady.
    script = {at: written(share, at) for at, share in ((1.0, 0.2), (2.0, 0.5), (6.0, 1.0))}
    watch = Watch(tmp_path, script, seconds=10)
    np.testing.assert_allclose(joined(watch.chunks), hum(2.0), atol=1e-4)
    assert "skipped" not in watch.status[10.0].message


def test_a_broken_file_is_reported_once_and_skipped(tmp_path):
    def broken():
        (tmp_path / "a.wav").write_bytes(b"RIFF" + bytes(50))
        os.utime(tmp_path / "a.wav", (NOON + 1, NOON + 1))

    script = {1.0: broken, 2.0: put(tmp_path / "b.wav", 2)}
    watch = Watch(tmp_path, script, seconds=30)
    assert len(joined(watch.chunks)) == RATE
    assert "1 skipped, the last" in watch.status[30.0].message
    assert "a.wav" in watch.status[30.0].message
    assert "skipped" not in watch.status[9.0].message


def test_a_channel_that_a_file_does_not_have_is_reported(tmp_path):
    watch = Watch(tmp_path, {1.0: put(tmp_path / "a.wav", 1)}, channel=2)
    assert watch.chunks == []
    assert "there is no channel 2" in watch.status[8.0].message


def test_hidden_and_foreign_files_are_left_alone(tmp_path):
    script = {
        1.0: put(tmp_path / ".part.wav", 1),
        1.5: lambda: (tmp_path / "log.txt").write_text("x"),
    }
    watch = Watch(tmp_path, script)
    assert watch.chunks == []
    assert "skipped" not in watch.status[8.0].message


def test_silence_is_sound(tmp_path):
    def silent():
        write_clip(tmp_path / "a.wav", np.zeros(RATE, np.float32))

    assert len(joined(Watch(tmp_path, {1.0: silent}).chunks)) == RATE


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "last.wav"
    script = {1.0: put(path, 1, seed=1), 4.0: put(path, 4, seconds=1.5, seed=2)}
    watch = Watch(tmp_path, script)
    assert len(joined(watch.chunks)) == 2.5 * RATE


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path):
    folder = tmp_path / "share"

    def mounted():
        put(folder / "old.wav", -100)()
        put(folder / "new.wav", 3)()

    watch = Watch(folder, {3.0: mounted})
    assert not watch.status[2.0].connected
    assert "cannot be listed" in watch.status[2.0].message
    assert watch.status[8.0].connected
    assert watch.chunks[0].time == pytest.approx(NOON + 2)
    assert len(joined(watch.chunks)) == RATE


def test_more_sound_than_time_does_not_run_away_into_the_future(tmp_path):
    script = {
        at: put(tmp_path / f"{at}.wav", at, seconds=30.0) for at in (1.0, 3.0, 5.0, 7.0, 9.0, 11.0)
    }
    watch = Watch(tmp_path, script, seconds=15)
    assert len(joined(watch.chunks)) == 6 * 30 * RATE
    assert max(chunk.time for chunk in watch.chunks) < NOON + 11 + 90


def test_a_file_that_is_gone_again_is_forgotten(tmp_path):
    path = tmp_path / "a.wav"
    watch = Watch(tmp_path, {1.0: put(path, 1), 1.5: path.unlink, 3.0: put(path, 3, seed=1)})
    assert len(joined(watch.chunks)) == RATE
    assert "skipped" not in watch.status[8.0].message


def test_a_file_from_the_future_ended_now(tmp_path):
    watch = Watch(tmp_path, {1.0: put(tmp_path / "a.wav", 5000)})
    assert NOON < watch.chunks[0].time < NOON + 3


def test_a_file_instead_of_a_folder_is_refused(tmp_path):
    path = write_clip(tmp_path / "a.wav", hum(1.0))
    with pytest.raises(SsdptError, match="is a file"):
        Watch(path, {})


@pytest.fixture
def decoded(monkeypatch):
    """The names of files in the order in which they are decoded."""
    names = []
    stream = audio.stream

    def counted(path, *arguments, **options):
        names.append(path.name)
        return stream(path, *arguments, **options)

    monkeypatch.setattr(audio, "stream", counted)
    return names


def test_a_file_is_decoded_once(tmp_path, decoded):
    script = {at: put(tmp_path / f"{at}.wav", at, seed=round(at)) for at in (1.0, 2.0)}
    assert len(joined(Watch(tmp_path, script).chunks)) == 2 * RATE
    assert decoded == ["1.0.wav", "2.0.wav"]


def test_a_very_long_recording_is_not_held_in_memory(tmp_path, decoded, monkeypatch):
    monkeypatch.setattr(folder_source, "_MAX_HELD", 1.5)
    script = {1.0: put(tmp_path / "a.wav", 1), 2.0: put(tmp_path / "b.wav", 2, seconds=2.0)}
    watch = Watch(tmp_path, script)
    expected = np.concatenate([hum(1.0), hum(2.0)])
    np.testing.assert_allclose(joined(watch.chunks), expected, atol=1e-4)
    assert decoded == ["a.wav", "b.wav", "b.wav"]  # checked first, then read


@pytest.mark.parametrize("longest", [0.5, 600.0])
def test_nothing_of_a_file_that_is_broken_at_its_end_is_used(tmp_path, monkeypatch, longest):
    monkeypatch.setattr(folder_source, "_MAX_HELD", longest)

    def broken():
        samples = hum(1.0)
        samples[-1] = np.nan
        write_clip(tmp_path / "a.wav", samples, subtype="FLOAT")
        os.utime(tmp_path / "a.wav", (NOON + 1, NOON + 1))

    watch = Watch(tmp_path, {1.0: broken, 2.0: put(tmp_path / "b.wav", 2, seed=2)}, seconds=20)
    np.testing.assert_allclose(joined(watch.chunks), hum(1.0, seed=2), atol=1e-4)
    assert "1 skipped, the last" in watch.status[20.0].message
    assert "not numbers" in watch.status[20.0].message


def test_a_file_that_changes_while_it_is_decoded_is_read_again_whole(tmp_path, monkeypatch):
    path = tmp_path / "a.wav"
    stream = audio.stream
    writes = iter([put(path, 3, seconds=2.0, seed=2)])

    def interrupted(*arguments, **options):
        yield from stream(*arguments, **options)
        next(writes, lambda: None)()

    monkeypatch.setattr(audio, "stream", interrupted)
    watch = Watch(tmp_path, {1.0: put(path, 1, seed=1)})
    np.testing.assert_allclose(joined(watch.chunks), hum(2.0, seed=2), atol=1e-4)
