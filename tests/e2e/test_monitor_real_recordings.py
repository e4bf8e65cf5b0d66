"""Real recordings replayed live, seen in a browser: a drone that breaks, a bearing that fails.

They are not part of the project: SSDPT_TEST_RECORDINGS names the folder that has them.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import httpx
import pytest
import soundfile
from monitor_service import SLOW, ConfiguredService, card, panel
from playwright.sync_api import expect

pytestmark = [pytest.mark.needs_browser, pytest.mark.needs_recordings]

SPEED = 10.0  # of the service's clock
LEARNED = ("ccw_f8-6", "ccw_square-11", "cw_f8-4", "cw_square-24")  # about five minutes
LATEST_ALERT = 15.0 + 5.0  # seconds of replayed time, and what busy cores may skip of them
NO_PICTURE_YET = r"404.*/spectrogram"


def recordings():
    folder = os.environ.get("SSDPT_TEST_RECORDINGS")
    assert folder, "set SSDPT_TEST_RECORDINGS to the folder that holds uav_propeller and femto"
    return Path(folder)


class Playlist:
    """Flights that are played one after the other, and when each begins."""

    def __init__(self, folder, flights):
        folder.mkdir()
        self.begins, begin = [], 0.0
        for number, flight in enumerate(flights):
            (folder / f"{number:02d}.flac").symlink_to(flight)
            self.begins.append(begin)
            begin += soundfile.info(flight).duration


@pytest.fixture
def drone(command, tmp_path):
    """Five minutes of normal flights, then a fault that comes, goes and comes back."""
    flights = recordings() / "uav_propeller"
    normal = [flights / "normal" / f"{name}.flac" for name in LEARNED]
    broken = flights / "1_broken" / "0001-ccw_square-5.flac"
    left_out = flights / "normal" / "cw_f8-11.flac"
    playlist = Playlist(
        tmp_path / "flights", [*normal, normal[0], left_out, broken, left_out, broken, left_out]
    )
    machine = {
        **{"id": "drone", "name": "Quadcopter"},
        "source": {"kind": "replay", "path": str(tmp_path / "flights"), "speed": SPEED},
    }
    config = {"name": "Field", "speed": SPEED, "machines": [machine]}
    with ConfiguredService(command, tmp_path, config) as service:
        service.wait_for_state("drone", "starting")
        service.post("v1/machines/drone/learn", json={"minutes": 5})
        service.wait_for_state("drone", "normal")
        service.playlist = playlist
        yield service


def first_second(service, machine):
    """Time of the first reading."""
    now = time.time()
    trend = service.get(
        f"v1/machines/{machine}/trend?begin={now - 1000}&end={now + 3000}&points=4000"
    )
    return trend["time"][0]


def normal_sample(service):
    return httpx.get(f"{service.address}v1/machines/drone/normal.flac", timeout=60).content


def test_a_fault_that_comes_and_goes_is_one_event_within_seconds(drone, open_page):
    status = drone.machine("drone")
    assert status["thresholds"]["provisional"]
    page = open_page(drone)
    page.watch.expect(NO_PICTURE_YET)
    expect(card(page, "Quadcopter", "(Alert|Alarm)")).to_be_visible(timeout=SLOW)
    (event,) = drone.events("drone")  # and none during the left-out normal flight before
    broken = first_second(drone, "drone") + drone.playlist.begins[6]
    assert -1 < event["began"] - broken <= LATEST_ALERT
    assert drone.machine("drone")["change_points"]
    # The references stay what they were during the fault.
    sample = normal_sample(drone)
    spectrum = drone.get("v1/machines/drone/spectrum")["mean"]
    drone.wait_until(
        lambda: len(drone.events("drone")[0]["episodes"]) == 2, "it comes again", timeout=300
    )
    assert drone.machine("drone")["baseline"] == status["baseline"]
    assert normal_sample(drone) == sample
    assert drone.get("v1/machines/drone/spectrum")["mean"] == spectrum
    (event,) = drone.events("drone")
    assert len(event["episodes"]) == 2
    assert event["findings"]
    assert event["baseline_learned_at"] == status["baseline"]["learned_at"]
    page.goto(f"{drone.address}#/event/{event['id']}")
    expect(page.get_by_text(re.compile("baseline of", re.IGNORECASE)).first).to_be_visible()
    expect(page.get_by_text(re.compile("2 times")).first).to_be_visible()


@pytest.fixture
def bearing(command, tmp_path):
    """The life of a bearing, a snapshot every ten seconds, replayed fast."""
    speed = 400.0
    machine = {
        **{"id": "bearing", "name": "Test bearing"},
        "source": {
            **{"kind": "replay", "path": str(recordings() / "femto" / "Bearing3_2.flac")},
            **{"speed": speed, "snapshot": 0.1, "every": 10},
        },
        "sensor": {"unit": "g", "full_scale": 50, "snapshots": True},
    }
    config = {"name": "Test bench", "speed": speed, "machines": [machine]}
    with ConfiguredService(command, tmp_path, config) as service:
        service.post("v1/machines/bearing/learn", json={"minutes": 50})
        yield service


def test_the_life_of_a_bearing_is_replayed_to_its_alarm(bearing, open_page):
    page = open_page(bearing)
    page.watch.expect(NO_PICTURE_YET)
    expect(card(page, "Test bearing", "Alarm")).to_be_visible(timeout=SLOW)
    assert "Unusual vibration" in bearing.events("bearing")[0]["message"]
    assert bearing.machine("bearing")["sensor"]["at_intervals"]
    page.goto(f"{bearing.address}#/machine/bearing")
    expect(panel(page, "Trend").or_(panel(page, "Score")).first).to_be_visible()
    event = bearing.wait_until(
        lambda: next((one for one in bearing.events("bearing") if one["has_audio"]), None),
        "the event is recorded",
    )
    # Sample and band of its baseline are beside it.
    page.goto(f"{bearing.address}#/event/{event['id']}")
    spectrum = panel(page, "Spectrum of the event")
    expect(spectrum.get_by_text(re.compile("baseline of", re.IGNORECASE)).first).to_be_visible()
    expect(spectrum.get_by_text(re.compile("louder than normal")).first).to_be_attached()
    sample = panel(page, "Compare with a normal sample")
    expect(sample.get_by_label(re.compile("Spectrogram of a normal sample"))).to_be_visible()
