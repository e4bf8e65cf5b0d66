"""MQTT against real brokers that come and go."""

from __future__ import annotations

import itertools
import json
import logging
import math
import re
import signal
import subprocess
import sys

import jinja2
import pytest
from cable import PUBACK, PUBLISH, Cable
from sample_messages import named, reading, state_changed

from free_ports import free_port
from receivers import Broker, Subscriber, an_event, certificate
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import (
    STATES,
    EventChanged,
    MachineRemoved,
)
from ssdpt.monitor.outputs import open_output
from ssdpt.monitor.outputs.base import TryAgain
from ssdpt.monitor.outputs.mqtt_output import MqttOutput, MqttSettings
from waiting import wait_until

needs_mosquitto = pytest.mark.needs_mosquitto
PASSWORD = "correct horse battery"
EVENTS = "plant/pump-3/event"


@pytest.fixture
def broker(tmp_path):
    with Broker(tmp_path) as broker:
        yield broker


@pytest.fixture
def connect(request):
    """A started output that reconnects without waiting long."""

    def make(port, names=None, **more):
        settings = MqttSettings(host="127.0.0.1", port=port, prefix="plant", **more)
        output = MqttOutput(settings, named(names or {}), pauses=lambda: itertools.repeat(0.05))
        output.start()
        request.addfinalizer(lambda: output.close(0.2))
        return output

    return make


def publish_events(output, count):
    messages = [EventChanged(event=an_event()) for _ in range(count)]
    for message in messages:
        output.publish(message)
    return [message.delivery for message in messages]


def delivered(subscriber):
    return [event["delivery"] for event in subscriber.contents(EVENTS)]


@needs_mosquitto
def test_messages_arrive_on_their_topics_at_the_usual_broker():
    prefix = f"ssdpt-test/{an_event().id}-{free_port()}"
    settings = MqttSettings(prefix=prefix, discovery=False)
    with Subscriber(1883, f"{prefix}/#", keep=False) as subscriber:
        output = open_output(settings)
        output.publish(state_changed("fan", "alert", 5.0, 2.5))
        output.publish(
            reading("fan", 6.0, "alert", -30.0, score=3.0, smoothed=math.nan, p_value=0.01)
        )
        message = EventChanged(event=an_event("fan"))
        output.publish(message)
        wait_until(lambda: subscriber.contents(f"{prefix}/fan/event"))
        assert output.status.healthy
        output.close()
        wait_until(lambda: subscriber.last(f"{prefix}/status") == b"offline")
        assert subscriber.payloads(f"{prefix}/status") == [b"online", b"offline"]
        assert subscriber.contents(f"{prefix}/fan/state") == [
            {"machine": "fan", "state": "alert", "at": 5.0, "smoothed": 2.5}
        ]
        assert subscriber.contents(f"{prefix}/fan/score") == [
            {
                **{"machine": "fan", "time": 6.0, "state": "alert", "level_dbfs": -30.0},
                **{"score": 3.0, "smoothed": None, "p_value": 0.01, "bands_db": []},
            }
        ]
        assert subscriber.contents(f"{prefix}/fan/event")[0]["id"] == message.event.id
        assert output.status.sent == 3
        for topic in (f"{prefix}/fan/state", f"{prefix}/status"):
            subscriber._client.publish(topic, b"", qos=1, retain=True).wait_for_publish(60)


@needs_mosquitto
def test_events_of_a_time_without_broker_arrive_in_order_and_once(broker, connect):
    with Subscriber(broker.port, EVENTS) as subscriber:
        output = connect(broker.port)
        wanted = publish_events(output, 5)
        wait_until(lambda: len(delivered(subscriber)) == 5)
        for _ in range(2):
            broker.stop()
            # noticed although nothing was sent, and earlier than by the keep-alive of 30 s
            wait_until(lambda: not output.status.healthy, timeout=20)
            wanted += publish_events(output, 20)
            assert output.status.queued == 20
            broker.start()
            wait_until(lambda: output.status.queued == 0)
            wait_until(lambda last=wanted[-1]: last in delivered(subscriber))
        assert delivered(subscriber) == wanted
        assert output.status.healthy


@needs_mosquitto
def test_a_broker_that_goes_away_in_the_middle_loses_nothing(broker, connect):
    """A change may come twice if the broker died before it could say that it has it."""
    with Subscriber(broker.port, EVENTS) as subscriber:
        output = connect(broker.port)
        wanted = publish_events(output, 300)
        wait_until(lambda: len(delivered(subscriber)) > 10)
        broker.stop()
        assert output.status.queued > 0
        broker.start()
        wait_until(lambda: output.status.queued == 0 and wanted[-1] in delivered(subscriber))
        assert list(dict.fromkeys(delivered(subscriber))) == wanted
        assert len(delivered(subscriber)) <= len(wanted) + 1


@needs_mosquitto
def test_an_event_that_never_reached_the_broker_is_sent_again(broker, connect):
    with Cable(broker.port, EVENTS) as cable, Subscriber(broker.port, EVENTS) as subscriber:
        output = connect(cable.port)
        wanted = publish_events(output, 2)
        wait_until(lambda: len(delivered(subscriber)) == 2)
        cable.cut_at(PUBLISH)
        wanted += publish_events(output, 3)
        wait_until(lambda: len(delivered(subscriber)) >= 5)
        wait_until(lambda: output.status.queued == 0)
        assert cable.cuts == 1
        assert delivered(subscriber) == wanted
        output.close(1)


@needs_mosquitto
def test_an_event_that_was_not_acknowledged_comes_again_under_the_same_name(broker, connect):
    with Cable(broker.port, EVENTS) as cable, Subscriber(broker.port, EVENTS) as subscriber:
        output = connect(cable.port)
        cable.cut_at(PUBACK)
        first, second, third = publish_events(output, 3)
        wait_until(lambda: third in delivered(subscriber))
        assert cable.cuts == 1
        # Nobody can know whether it had arrived; its name lets receivers drop the second one.
        assert delivered(subscriber) == [first, first, second, third]
        wait_until(lambda: output.status.sent == 3)  # the last one is acknowledged a little later
        output.close(1)


@needs_mosquitto
def test_the_state_is_there_for_a_late_subscriber_and_a_forgetful_broker(tmp_path, connect):
    with Broker(tmp_path, "allow_anonymous true", "persistence false") as broker:
        output = connect(broker.port)
        output.publish(state_changed("fan", "normal", 1.0, 0.5))
        output.publish(state_changed("fan", "alarm", 2.0, 9.5))
        wait_until(lambda: output.status.sent == 2)
        for _ in range(2):
            with Subscriber(broker.port, "plant/#", "homeassistant/#") as late:
                wait_until(lambda: len(late.messages) == 7)  # five of them announce the machine
                assert all(retained for _, _, retained in late.messages)
                assert json.loads(late.last("plant/fan/state"))["state"] == "alarm"
                assert late.last("plant/status") == b"online"
            broker.stop()
            wait_until(lambda: not output.status.healthy)
            broker.start()  # it remembers nothing
            wait_until(lambda: output.status.healthy)


@needs_mosquitto
def test_the_broker_says_offline_when_the_process_is_killed(broker):
    code = (
        "import sys, time\n"
        "from ssdpt.monitor.outputs import open_output\n"
        "from ssdpt.monitor.outputs.mqtt_output import MqttSettings\n"
        "open_output(MqttSettings(host='127.0.0.1', port=int(sys.argv[1]), prefix='plant'))\n"
        "time.sleep(60)\n"
    )
    with Subscriber(broker.port, "plant/status") as subscriber:
        process = subprocess.Popen([sys.executable, "-c", code, str(broker.port)])
        try:
            wait_until(lambda: subscriber.last("plant/status") == b"online")
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        wait_until(lambda: subscriber.last("plant/status") == b"offline")
    with Subscriber(broker.port, "plant/status") as late:
        wait_until(lambda: late.messages == [("plant/status", b"offline", True)])


@needs_mosquitto
def test_a_last_will_that_comes_late_is_contradicted(broker, connect):
    """A broker can take a minute to give up a computer that lost power, and it may be back."""
    with Subscriber(broker.port, "plant/status") as subscriber:
        connect(broker.port)
        wait_until(lambda: subscriber.last("plant/status") == b"online")
        subscriber.say("plant/status", b"offline")
        wait_until(
            lambda: subscriber.payloads("plant/status") == [b"online", b"offline", b"online"]
        )


@needs_mosquitto
def test_machines_are_announced_as_home_assistant_expects(broker, connect):
    with Subscriber(broker.port, "homeassistant/#", "plant/#") as subscriber:
        output = connect(broker.port, {"pump-3": "Pump 3"})
        output.publish(state_changed("pump-3", "alarm", 1.0, 2.0))
        output.publish(reading("pump-3", 2.0, "alarm", -31.5, score=4.0, smoothed=3.5))
        publish_events(output, 1)
        wait_until(lambda: delivered(subscriber))
        payloads = {topic: payload for topic, payload, _ in list(subscriber.messages)}
        configs = {t: json.loads(p) for t, p in payloads.items() if t.startswith("homeassistant/")}
        shown = {}
        for topic, config in configs.items():
            match = re.fullmatch(
                r"homeassistant/(sensor|binary_sensor|event)/[a-zA-Z0-9_-]+/([a-zA-Z0-9_-]+)/config",
                topic,
            )
            assert config["availability_topic"] == "plant/status"
            assert payloads["plant/status"].decode() == config["payload_available"]
            assert config["device"]["name"] == "Pump 3"
            assert config["device"]["identifiers"] == ["plant_pump-3"]
            payload = payloads[config["state_topic"]]
            template = jinja2.Template(config["value_template"])
            shown[match[1], match[2]] = template.render(value_json=json.loads(payload))
            if config.get("device_class") == "enum":
                assert set(config["options"]) == set(STATES)
        assert len({config["unique_id"] for config in configs.values()}) == len(configs) == 5
        event = json.loads(shown.pop(("event", "event")))
        assert (
            event["event_type"]
            in configs["homeassistant/event/plant_pump-3/event/config"]["event_types"]
        )
        assert event["message"] == "a bearing rattles"
        assert shown == {
            ("sensor", "state"): "alarm",
            ("binary_sensor", "problem"): "ON",
            ("sensor", "score"): "3.5",
            ("sensor", "level"): "-31.5",
        }


@needs_mosquitto
def test_a_removed_machine_leaves_nothing_behind(broker, connect):
    output = connect(broker.port, {"fan": "Fan", "pump-3": "Pump 3"})
    output.publish(state_changed("fan", "normal", 1.0))
    output.publish(state_changed("pump-3", "normal", 1.0))
    output.publish(MachineRemoved(machine="fan"))
    wait_until(lambda: output.status.sent == 3)
    with Subscriber(broker.port, "homeassistant/#", "plant/#") as late:
        wait_until(
            lambda: len(late.messages) == 7
        )  # status, and of the pump its state and five entities
        assert not [topic for topic, _, _ in late.messages if "fan" in topic]


def device_names(port):
    """What a Home Assistant that starts now would call each machine."""
    with Subscriber(port, "homeassistant/#", keep=False) as late:
        late.say("homeassistant/end", b"{}")
        wait_until(lambda: late.payloads("homeassistant/end"))  # comes after all that is retained
        kept = {topic: payload for topic, payload, _ in late.messages if payload}
    del kept["homeassistant/end"]
    names_by_device = {}
    for topic, payload in kept.items():
        names = names_by_device.setdefault(topic.split("/")[2], set())
        names.add(json.loads(payload)["device"]["name"])
    return names_by_device


@needs_mosquitto
def test_other_names_are_announced_without_any_other_message(broker, connect):
    output = connect(broker.port, {"fan": "Fan", "pump-3": "Pump 3"})
    with Subscriber(broker.port, "homeassistant/sensor/+/state/config") as subscriber:
        wait_until(lambda: len(subscriber.messages) == 2)
        output.update(named({"fan": "Fan", "pump-3": "Coolant pump", "mixer": "Mixer"}))
        wait_until(lambda: len(subscriber.messages) == 4)
        subscriber.say("homeassistant/sensor/end/state/config", b"{}")
        wait_until(lambda: len(subscriber.messages) == 5)
        device_names_sent = [
            json.loads(payload).get("device", {}).get("name")
            for _, payload, _ in subscriber.messages
        ]
        assert device_names_sent[2:4] == ["Mixer", "Coolant pump"]  # the fan is as it was
    wait_until(
        lambda: (
            device_names(broker.port)
            == {"plant_fan": {"Fan"}, "plant_pump-3": {"Coolant pump"}, "plant_mixer": {"Mixer"}}
        )
    )
    broker.stop()
    wait_until(lambda: not output.status.healthy)
    output.update(named({"fan": "Roof fan"}))  # nobody receives it now
    broker.start()
    wait_until(lambda: device_names(broker.port)["plant_fan"] == {"Roof fan"})


@needs_mosquitto
@pytest.mark.parametrize("away", [False, True])
def test_a_machine_that_is_added_again_has_its_name(broker, connect, away):
    output = connect(broker.port, {"fan": "Fan", "pump-3": "Pump 3"})
    output.publish(state_changed("fan", "normal", 1.0))
    wait_until(lambda: output.status.sent == 1)
    if away:
        broker.stop()
        wait_until(lambda: not output.status.healthy)
    output.publish(MachineRemoved(machine="fan"))
    output.update(named({"pump-3": "Pump 3"}))
    if not away:
        wait_until(lambda: device_names(broker.port) == {"plant_pump-3": {"Pump 3"}})
    output.update(named({"fan": "New fan", "pump-3": "Pump 3"}))
    if away:
        broker.start()
    wait_until(lambda: output.status.sent == 2)
    wait_until(
        lambda: device_names(broker.port) == {"plant_fan": {"New fan"}, "plant_pump-3": {"Pump 3"}}
    )


@needs_mosquitto
def test_a_word_on_an_event_does_not_bring_a_removed_machine_back(broker, connect):
    output = connect(broker.port, {"fan": "Fan", "pump-3": "Pump 3"})
    output.update(named({"fan": "Fan"}))
    output.publish(MachineRemoved(machine="pump-3"))
    publish_events(output, 1)  # of the pump
    wait_until(lambda: output.status.sent == 2)
    assert device_names(broker.port) == {"plant_fan": {"Fan"}}


@needs_mosquitto
def test_without_discovery_nothing_is_announced(broker, connect):
    output = connect(broker.port, {"fan": "Fan"}, discovery=False)
    output.publish(state_changed("fan", "normal", 1.0))
    wait_until(lambda: output.status.sent == 1)
    with Subscriber(broker.port, "homeassistant/#", "plant/#") as late:
        wait_until(lambda: len(late.messages) == 2)
        assert {topic for topic, _, _ in late.messages} == {"plant/status", "plant/fan/state"}


@needs_mosquitto
def test_a_password_opens_the_broker_and_is_never_shown(tmp_path, connect, caplog):
    users = tmp_path / "users"
    subprocess.run(["mosquitto_passwd", "-c", "-b", str(users), "ann", PASSWORD], check=True)
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text(PASSWORD + "\n")
    wrong.write_text("Tr0ub4dor\n")
    caplog.set_level(logging.DEBUG)
    with Broker(tmp_path, "allow_anonymous false", f"password_file {users}") as broker:
        good = connect(broker.port, user="ann", password_file=right)
        publish_events(good, 1)
        wait_until(lambda: good.status.sent == 1)
        bad = connect(broker.port, user="ann", password_file=wrong)
        publish_events(bad, 1)
        wait_until(lambda: not bad.status.healthy)
        assert re.search("authori|password", bad.status.message)
        assert bad.status.queued == 1
    shown = caplog.text + good.status.message + bad.status.message + good.name + repr(bad.status)
    assert PASSWORD not in shown
    assert "Tr0ub4dor" not in shown


@needs_mosquitto
@pytest.mark.filterwarnings("ignore:.*unclosed <ssl.SSLSocket")  # paho's, of a failed handshake
def test_a_broker_is_believed_only_with_a_certificate_that_we_trust(tmp_path, connect):
    key, cert = certificate(tmp_path)
    with Broker(tmp_path, "allow_anonymous true", f"certfile {cert}", f"keyfile {key}") as broker:
        good = connect(broker.port, tls=True, ca_file=cert)
        publish_events(good, 3)
        wait_until(lambda: good.status.sent == 3)
        stranger = connect(broker.port, tls=True)
        wait_until(lambda: not stranger.status.healthy)
        assert "certificate" in stranger.status.message
        good.close(60)
        assert good.status.message == "closed"


def test_nobody_waits_for_a_broker_that_is_not_there(connect):
    output = connect(free_port())
    for number in range(3000):
        output.publish(reading("fan", float(number), "normal", -30.0))
    publish_events(output, 5)
    wait_until(lambda: not output.status.healthy)
    status = output.status
    assert "no connection" in status.message
    assert status.queued == 1000
    assert status.dropped == 2005
    output.close(0.2)
    wait_until(lambda: not output._thread.is_alive())
    assert "1000 messages unsent" in output.status.message


def test_an_output_without_anything_to_say_closes_at_once(connect):
    output = connect(free_port())
    output.close(60)
    assert not output._thread.is_alive()
    assert output.status.message == "closed"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"password_file": "there"}, "needs user"),
        ({"user": "ann", "password_file": "missing"}, "cannot be read"),
        ({"tls": True, "ca_file": "missing"}, "certificate cannot be read"),
        ({"tls": True, "ca_file": "there"}, "certificate cannot be read"),
        ({"ca_file": "there"}, "set tls: true"),
    ],
)
def test_what_waiting_cannot_heal_is_reported_at_once(tmp_path, settings, sentence):
    (tmp_path / "there").write_text(PASSWORD)
    whole = {k: tmp_path / v if k.endswith("file") else v for k, v in settings.items()}
    with pytest.raises(SsdptError, match=sentence) as caught:
        open_output(MqttSettings(**whole))
    assert PASSWORD not in str(caught.value)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "aiomqtt", None)
    with pytest.raises(SsdptError, match=r"pip install 'ssdpt\[serve\]'"):
        open_output(MqttSettings())


@needs_mosquitto
def test_a_broker_is_tried_without_a_word(broker):
    settings = MqttSettings(host="127.0.0.1", port=broker.port, prefix="plant")
    with Subscriber(broker.port, "#") as subscriber:
        assert MqttOutput(settings, named({"fan": "Fan"})).probe(5.0) == "reachable (nothing sent)"
        subscriber.say("end", b"")
        wait_until(lambda: subscriber.payloads("end"))
        assert not [
            topic for topic, _, _ in subscriber.messages if topic.startswith(("plant", "home"))
        ]
    broker.stop()
    with pytest.raises(TryAgain, match="no connection"):
        MqttOutput(settings).probe(5.0)


@needs_mosquitto
def test_a_broker_that_refuses_the_password_is_reported_without_it(tmp_path):
    users, wrong = tmp_path / "users", tmp_path / "wrong"
    subprocess.run(["mosquitto_passwd", "-c", "-b", str(users), "ann", PASSWORD], check=True)
    wrong.write_text("Tr0ub4dor")
    with Broker(tmp_path, "allow_anonymous false", f"password_file {users}") as broker:
        settings = MqttSettings(host="127.0.0.1", port=broker.port, user="ann", password_file=wrong)
        with pytest.raises(TryAgain, match=r"no connection \(.*(?i:authori|password)") as error:
            MqttOutput(settings).probe(5.0)
    assert "Tr0ub4dor" not in str(error.value)


@needs_mosquitto
def test_a_test_message_does_not_disturb_the_connection(broker, connect):
    output = connect(broker.port)
    wait_until(lambda: output.status.message == "connected")
    with Subscriber(broker.port, "plant/test", "plant/status") as subscriber:
        assert output.test(5.0) == "the broker has acknowledged a message to plant/test"
        wait_until(lambda: subscriber.last("plant/test") == b"test")
        assert subscriber.payloads("plant/status") == [b"online"]
    broker.stop()
    with pytest.raises(TryAgain, match="no connection"):
        output.test(5.0)
