"""The service: sound that is kept on demand and heard live, with and without voices."""

from __future__ import annotations

import io

import numpy as np
import pytest
import soundfile
import yaml
from monitors import SPEED, learn, pump

from ssdpt.bench.speech import SPEAKERS, speech
from ssdpt.data.audio import flac_bytes
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture import arrivals
from ssdpt.monitor.config import (
    MachineSettings,
    MonitorConfig,
    RetentionSettings,
    read_monitor_config,
)
from ssdpt.monitor.service import voice_filter
from ssdpt.monitor.service.trials import UnknownTrial
from ssdpt.monitor.sources.pushed_source import PushedSettings
from ssdpt.monitor.sources.simulated_source import SimulatedSettings
from waiting import wait_until

RATE = 16000
PUSHED = MachineSettings(id="mic-1", source=PushedSettings())


class Talkative:
    """Takes everything for a voice."""

    def run(self, frame, state):
        return 1.0, state


def push(monitor, samples):
    monitor.api.push("mic-1", samples, RATE, 1)
    captured = monitor.machines["mic-1"].capture.recent
    wait_until(lambda: len(captured.between(0, captured.end)[0]) >= len(samples))


def hum(seconds):
    t = np.arange(round(seconds * RATE)) / RATE
    noise = np.random.default_rng(3).standard_normal(len(t))
    return (0.1 * np.sin(2 * np.pi * 120 * t) + 0.02 * noise).astype(np.float32)


def test_the_last_minutes_are_kept_and_there_after_a_restart(opened):
    config = MonitorConfig(machines=(PUSHED,))
    monitor = opened(config)
    with pytest.raises(SsdptError, match="no sound has arrived yet"):
        monitor.api.keep_sound("mic-1", 10, "ada")
    sound = hum(90)
    push(monitor, sound)
    kept = monitor.api.keep_sound("mic-1", 1, "ada", "knocks")
    assert (kept.end - kept.begin, kept.who, kept.note) == (pytest.approx(60), "ada", "knocks")
    assert monitor.api.keep_sound("mic-1", 10, "ada").end - kept.end == pytest.approx(0)
    opened.close()
    again = opened(config)
    known, path = again.store.recording("mic-1", kept.id)
    assert known == kept
    samples, rate = soundfile.read(path)
    assert rate == RATE
    np.testing.assert_allclose(samples, sound[-60 * RATE :], atol=1e-4)


@pytest.mark.parametrize(
    ("retention", "sentence"),
    [
        (RetentionSettings(keep_audio=False), "keeps no sound"),
        (RetentionSettings(recent_minutes=0), "set retention.recent_minutes"),
    ],
)
def test_nothing_is_kept_where_nothing_is_to_be_kept(opened, retention, sentence):
    monitor = opened(MonitorConfig(machines=(PUSHED,), retention=retention))
    monitor.api.push("mic-1", hum(1), RATE, 1)
    with pytest.raises(SsdptError, match=sentence):
        monitor.api.keep_sound("mic-1", 10, "ada")
    assert monitor.machines["mic-1"].capture.recent.seconds < 0.001
    assert monitor.api.status().recent_minutes == 0


def test_a_stream_is_heard_live_in_short_pieces(opened):
    fan = MachineSettings(id="fan-1", source=SimulatedSettings(machine="fan"))
    monitor = opened(MonitorConfig(machines=(fan, PUSHED)))
    wait_until(lambda: monitor.api.machine_status("fan-1").last_sound)
    assert monitor.api.machine_status("fan-1").listening == "possible"
    sound = monitor.api.live_sound("fan-1")
    assert sound.take() == []
    piece = wait_until(sound.take)[0]
    assert len(piece.samples) / 2 / piece.rate <= 0.25
    assert -0.5 < piece.age < 2.0
    assert not piece.has_voices
    status = monitor.api.machine_status("mic-1")
    assert (status.listening, status.data_age, status.stale_after) == ("at_intervals", None, None)
    with pytest.raises(SsdptError, match="arrives in recordings, not as a stream"):
        monitor.api.live_sound("mic-1")


@pytest.mark.parametrize(
    ("changes", "listening"),
    [({"live_listening": False}, "switched_off"), ({"speed": SPEED}, "other_speed")],
)
def test_where_nobody_can_listen_the_status_says_why(opened, changes, listening):
    monitor = opened(MonitorConfig(machines=(pump(),), **{"speed": SPEED, **changes}))
    assert monitor.api.machine_status("pump-1").listening == listening
    with pytest.raises(SsdptError, match="Pump 1 cannot be listened to live: "):
        monitor.api.live_sound("pump-1")


def test_a_source_on_trial_is_heard_before_the_machine_exists(opened):
    monitor = opened(MonitorConfig())
    saw = MachineSettings(id="saw", source=SimulatedSettings(machine="valve"))
    trial = monitor.api.open_trial(saw)
    assert trial.listening == "possible"
    sound = monitor.api.trial_sound(trial.id)
    assert sound.machine == "saw"
    assert sound.take() == []
    piece = wait_until(sound.take)[0]
    assert len(piece.samples) / 2 / piece.rate <= 0.25
    assert -0.5 < piece.age < 2.0
    monitor.api.close_trial(trial.id)
    with pytest.raises(UnknownTrial):
        sound.take()


def test_what_is_pushed_to_a_trial_is_heard_where_it_is_a_stream(opened, monkeypatch):
    monkeypatch.setattr(arrivals, "_STEADY", 0.2)
    monitor = opened(MonitorConfig())
    trial = monitor.api.open_trial(PUSHED)
    assert trial.listening == "at_intervals"
    with pytest.raises(SsdptError, match=r"mic-1 cannot be listened to live: .* not as a stream"):
        monitor.api.trial_sound(trial.id)

    def is_stream():
        monitor.api.push("mic-1", hum(0.1), RATE, 1)
        return monitor.api.trial(trial.id, 0.0).listening == "possible"

    wait_until(is_stream)
    sound = monitor.api.trial_sound(trial.id)
    assert sound.take() == []
    monitor.api.push("mic-1", hum(0.1), RATE, 1)
    assert wait_until(sound.take)[0].rate == RATE


@pytest.mark.parametrize(
    ("changes", "sensor", "listening"),
    [
        ({"live_listening": False}, {}, "switched_off"),
        ({"speed": SPEED}, {}, "other_speed"),
        ({}, {"snapshots": True}, "snapshots"),
    ],
)
def test_where_nobody_can_listen_to_a_trial_it_says_why(opened, changes, sensor, listening):
    monitor = opened(MonitorConfig(**changes))
    source = PushedSettings() if sensor else SimulatedSettings(machine="fan")
    trial = monitor.api.open_trial(MachineSettings(id="saw", source=source, sensor=sensor))
    assert trial.listening == listening
    with pytest.raises(SsdptError, match="saw cannot be listened to live: "):
        monitor.api.trial_sound(trial.id)


def test_voices_are_cut_out_of_a_source_on_trial(opened, monkeypatch):
    monkeypatch.setattr(voice_filter, "VoiceNetwork", Talkative)
    monitor = opened(MonitorConfig(retention=RetentionSettings(drop_speech=True)))
    saw = MachineSettings(id="saw", source=SimulatedSettings(machine="valve"))
    sound = monitor.api.trial_sound(monitor.api.open_trial(saw).id)
    pieces = wait_until(sound.take)
    assert all(piece.has_voices and not any(piece.samples) for piece in pieces)


@pytest.mark.parametrize("drop_speech", [False, True])
def test_a_normal_sample_of_before_is_played_without_voices(opened, monkeypatch, drop_speech):
    """It was stored by a run of the service that kept voices."""
    monkeypatch.setattr(voice_filter, "VoiceNetwork", Talkative)
    retention = RetentionSettings(drop_speech=drop_speech)
    monitor = opened(MonitorConfig(machines=(PUSHED,), retention=retention))
    monitor.store.keep_sample("mic-1", flac_bytes(hum(4), RATE), ".flac")
    samples, rate = soundfile.read(io.BytesIO(monitor.api.normal_sample("mic-1")))
    assert (len(samples), rate) == (4 * RATE, RATE)
    if drop_speech:
        assert not samples.any()
    else:
        np.testing.assert_allclose(samples, hum(4), atol=1e-4)


def test_voices_are_cut_out_of_an_event_and_the_verdict_stays(opened, monkeypatch):
    monkeypatch.setattr(voice_filter, "VoiceNetwork", Talkative)
    retention = RetentionSettings(drop_speech=True)
    monitor = opened(
        MonitorConfig(machines=(pump(fault_after=20.0),), speed=SPEED, retention=retention)
    )
    assert monitor.api.status().drops_speech
    learn(monitor)
    assert monitor.store.get_value("pump-1", "voice_threshold") == 0.6
    event = wait_until(
        lambda: next((e for e in monitor.store.events() if e.audio_begin is not None), None)
    )
    samples, rate = soundfile.read(monitor.store.attachment(event.id, "audio"))
    assert not samples.any()
    assert event.voice_seconds == pytest.approx(len(samples) / rate, abs=0.1)
    assert event.findings  # of the full sound
    assert np.max(monitor.api.event_spectrogram(event.id).columns) > 0
    normal = monitor.api.normal_sample("pump-1")
    assert len(normal) < 10_000  # silence takes next to nothing


@pytest.mark.needs_speech
def test_speech_is_not_kept(opened):
    retention = RetentionSettings(drop_speech=True)
    monitor = opened(MonitorConfig(machines=(PUSHED,), retention=retention))
    spoken = speech(SPEAKERS[0])
    sound = hum(2 + len(spoken) / RATE + 2)
    sound[2 * RATE : 2 * RATE + len(spoken)] += spoken * (0.1 / np.sqrt(np.square(spoken).mean()))
    push(monitor, sound)
    kept = monitor.api.keep_sound("mic-1", 10, "ada")
    samples, _ = soundfile.read(monitor.store.recording("mic-1", kept.id)[1])
    during = samples[2 * RATE : 2 * RATE + len(spoken)]
    assert (during == 0).mean() >= 0.8
    assert kept.voice_seconds == pytest.approx((samples == 0).sum() / RATE, abs=0.1)
    assert (samples[:RATE] != 0).mean() > 0.9


def test_without_the_detector_the_service_does_not_start(opened, monkeypatch, tmp_path):
    def missing():
        raise SsdptError("install ssdpt[voice]")

    monkeypatch.setattr(voice_filter, "VoiceNetwork", missing)
    dropping = MonitorConfig(machines=(PUSHED,), retention=RetentionSettings(drop_speech=True))
    with pytest.raises(SsdptError, match="install"):
        opened(dropping)


def test_a_file_that_needs_the_detector_is_not_taken_without_it(opened, monkeypatch, tmp_path):
    def missing():
        raise SsdptError("install ssdpt[voice]")

    monkeypatch.setattr(voice_filter, "VoiceNetwork", missing)
    path = tmp_path / "monitor.yaml"
    machines = [{"id": "mic-1", "source": {"kind": "pushed"}}]
    path.write_text(yaml.safe_dump({"machines": machines}))
    monitor = opened(read_monitor_config(path), path)
    path.write_text(yaml.safe_dump({"machines": machines, "retention": {"drop_speech": True}}))
    with pytest.raises(SsdptError, match="install"):
        monitor.reload()
    assert not monitor.config.retention.drop_speech
