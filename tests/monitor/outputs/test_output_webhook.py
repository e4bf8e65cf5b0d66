"""Webhooks against a real web server."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import threading

import pytest
from sample_messages import changed, reading

from free_ports import free_port
from receivers import WebReceiver, an_event
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import EventChanged
from ssdpt.monitor.outputs import open_output
from ssdpt.monitor.outputs.base import TryAgain
from ssdpt.monitor.outputs.webhook_output import WebhookOutput, WebhookSettings
from waiting import wait_until

KEY = "a very secret key"


@pytest.fixture
def hook(request):
    """A started webhook output; its pauses are kept instead of waited for."""

    def make(url, **more):
        output = WebhookOutput(WebhookSettings(url=url, **more), sleep=pauses.append)
        output.pauses = pauses
        output.start()
        request.addfinalizer(lambda: output.close(2))
        return output

    pauses = []
    return make


def sent(output, count):
    wait_until(lambda: output.status.sent + output.status.failed >= count)


def test_the_receiver_can_verify_the_signature(hook, tmp_path):
    (tmp_path / "key").write_text(KEY + "\n")
    message = EventChanged(event=an_event(message="größer"))
    with WebReceiver() as web:
        output = hook(web.url + "/hook?x=1", secret_file=tmp_path / "key")
        output.publish(message)
        sent(output, 1)
        _, headers, body, path = web.posts[0]
    right = hmac.new(KEY.encode(), body, hashlib.sha256).hexdigest()
    assert headers["X-Ssdpt-Signature"] == f"sha256={right}"
    assert headers["X-Ssdpt-Delivery"] == message.delivery
    assert headers["Content-Type"] == "application/json"
    assert path == "/hook?x=1"
    shown = json.loads(body)
    assert shown["delivery"] == message.delivery
    assert shown["message"] == "größer"


def test_without_a_key_there_is_no_signature(hook):
    with WebReceiver() as web:
        output = hook(web.url)
        output.publish(EventChanged(event=an_event()))
        sent(output, 1)
        assert "X-Ssdpt-Signature" not in web.posts[0][1]


def test_a_busy_receiver_is_asked_again_later_and_order_is_kept(hook):
    messages = [EventChanged(event=an_event()) for _ in range(5)]
    with WebReceiver(503, 500, 429, 200, 502) as web:
        output = hook(web.url)
        for message in messages:
            output.publish(message)
        sent(output, 5)
        assert [taken["delivery"] for taken in web.taken] == [m.delivery for m in messages]
        # Every attempt of one change has the same name.
        assert len({headers["X-Ssdpt-Delivery"] for _, headers, _, _ in web.posts[:4]}) == 1
    assert len(output.pauses) == 4
    assert output.status.failed == 0
    assert output.status.queued == 0


def test_a_refused_message_is_given_up_and_the_next_is_sent(hook, caplog):
    messages = [EventChanged(event=an_event()) for _ in range(3)]
    with WebReceiver(200, 400, 200) as web, caplog.at_level(logging.WARNING):
        output = hook(web.url)
        for message in messages:
            output.publish(message)
        sent(output, 3)
        deliveries = [taken["delivery"] for taken in web.taken]
    assert deliveries == [messages[0].delivery, messages[2].delivery]
    assert (output.status.sent, output.status.failed) == (2, 1)
    assert output.pauses == []
    assert "answers 400" in caplog.text


def test_a_redirection_is_not_followed(hook):
    with WebReceiver() as elsewhere, WebReceiver(302, headers=[("Location", elsewhere.url)]) as web:
        output = hook(web.url)
        output.publish(EventChanged(event=an_event()))
        sent(output, 1)
        assert output.status.failed == 1
        assert "redirection" in output.status.message
        assert elsewhere.posts == []


def test_a_receiver_may_say_when_to_come_back(hook):
    with WebReceiver(503, headers=[("Retry-After", "7")]) as web:
        output = hook(web.url)
        output.publish(EventChanged(event=an_event()))
        sent(output, 1)
    assert output.pauses == [7.0]


def test_a_receiver_that_always_fails_at_one_message_does_not_hold_up_all_others(hook):
    messages = [EventChanged(event=an_event()) for _ in range(2)]
    with WebReceiver(*[503] * 25, headers=[("Retry-After", "3600")]) as web:
        output = hook(web.url)
        for message in messages:
            output.publish(message)
        sent(output, 2)
        assert [taken["delivery"] for taken in web.taken] == [messages[1].delivery]
    assert sum(output.pauses) == pytest.approx(86400)
    assert output.status.failed == 1


def test_a_receiver_that_is_away_gets_everything_when_it_is_back():
    port = free_port()
    back = threading.Event()
    output = WebhookOutput(
        WebhookSettings(url=f"http://127.0.0.1:{port}/token-in-path"),
        sleep=lambda _: back.wait(60),
    )
    output.start()
    messages = [EventChanged(event=an_event()) for _ in range(4)]
    for message in messages:
        output.publish(message)
    wait_until(lambda: not output.status.healthy)
    status = output.status
    assert status.queued == 4
    assert "cannot be reached" in status.message
    assert "token-in-path" not in status.message + output.name
    with WebReceiver(port=port) as web:
        back.set()
        sent(output, 4)
        assert [taken["delivery"] for taken in web.taken] == [m.delivery for m in messages]
    output.close()
    assert output.status.healthy


def test_closing_sends_what_waits_at_once_and_gives_up_in_time():
    output = WebhookOutput(WebhookSettings(url=f"http://127.0.0.1:{free_port()}"))
    output.start()
    output.publish(EventChanged(event=an_event()))
    wait_until(lambda: not output.status.healthy)
    output.close(0.1)
    wait_until(lambda: not output._thread.is_alive())
    assert "1 message unsent" in output.status.message
    output.publish(EventChanged(event=an_event()))  # never raises
    assert output.status.queued == 1


def test_closing_tries_once_more_at_once_and_does_not_hammer():
    with WebReceiver(503, headers=[("Retry-After", "3600")]) as web:
        output = WebhookOutput(WebhookSettings(url=web.url))
        output.start()
        output.publish(EventChanged(event=an_event()))
        wait_until(lambda: not output.status.healthy)
        output.close(60)  # does not sit out the hour
        assert len(web.taken) == 1
    with WebReceiver(*[503] * 1000, headers=[("Retry-After", "3600")]) as web:
        output = WebhookOutput(WebhookSettings(url=web.url))
        output.start()
        output.publish(EventChanged(event=an_event()))
        wait_until(lambda: not output.status.healthy)
        output.close(2.0)
        assert len(web.posts) == 2


def test_readings_pass_by(hook):
    output = hook("http://127.0.0.1:9")
    output.publish(reading("fan", 0.0, "normal", -30.0))
    assert output.status.queued == 0


def test_a_message_that_cannot_be_written_does_not_stop_the_others(hook, caplog):
    with WebReceiver() as web:
        output = hook(web.url)
        output.publish(EventChanged(event=changed(an_event(), message=object())))
        output.publish(EventChanged(event=an_event()))
        sent(output, 2)
        assert len(web.taken) == 1
    assert "could not be created" in caplog.text


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read"),
        (b"", "is empty"),
        (b"\xff\xfe", "not a text"),
        (b"a\nb", "one line"),
    ],
)
def test_a_bad_key_file_is_reported_without_its_content(tmp_path, content, sentence):
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SsdptError, match=sentence) as caught:
        open_output(WebhookSettings(url="https://example.org", secret_file=path))
    assert str(path) in str(caught.value)
    assert caught.value.__cause__ is None


def test_secrets_in_the_address_are_not_shown():
    output = WebhookOutput(WebhookSettings(url="https://example.org/services/T0/s3cr3t?k=s3cr3t"))
    assert output.name == "webhook https://example.org"
    with pytest.raises(SsdptError, match="are not sent") as caught:
        WebhookOutput(WebhookSettings(url="https://ann:s3cr3t@example.org/"))
    assert "s3cr3t" not in str(caught.value)
    with pytest.raises(SsdptError, match="has no host"):
        WebhookOutput(WebhookSettings(url="https:///path"))


def test_it_is_reached_without_posting_anything():
    with WebReceiver() as web:
        answer = WebhookOutput(WebhookSettings(url=web.url + "/hook")).probe(60.0)
        assert answer == "reachable (nothing sent)"
        assert web.posts == []


def test_why_it_cannot_be_reached_is_reported():
    gone = WebhookOutput(WebhookSettings(url=f"http://127.0.0.1:{free_port()}/hook?token={KEY}"))
    with pytest.raises(TryAgain, match=r"cannot be reached .*refused") as error:
        gone.probe(60.0)
    assert KEY not in str(error.value)
    with WebReceiver() as web:  # speaks no TLS
        plain = WebhookOutput(WebhookSettings(url=web.url.replace("http:", "https:")))
        with pytest.raises(TryAgain, match=r"cannot be reached .*SSL"):
            plain.probe(60.0)


def test_one_ticket_for_each_alarm(hook):
    """An event changes many times a minute; a ticket system wants to hear of it once."""
    alert = an_event(level="alert", may_continue=True)
    alarm = alert.model_copy(update={"level": "alarm", "peak": 9.0})
    louder = alarm.model_copy(update={"peak": 12.0})
    paused = louder.model_copy(update={"ended": 1.7e9 + 60})
    over = paused.model_copy(update={"may_continue": False})
    with WebReceiver() as web:
        tickets, closing = hook(web.url, stages=["alarm"]), hook(web.url, stages=["ended"])
        for event in (alert, alarm, louder, paused, over):
            tickets.publish(EventChanged(event=event))
        sent(tickets, 1)
        assert [(post["level"], post["peak"]) for post in web.taken] == [("alarm", 9.0)]
        for event in (alert, alarm, louder, paused, over):
            closing.publish(EventChanged(event=event))
        sent(closing, 1)
        assert [post["may_continue"] for post in web.taken[1:]] == [False]
        assert tickets.status.queued == closing.status.queued == 0


def test_an_alarm_of_before_the_restart_is_no_new_ticket(hook):
    event = an_event()
    with WebReceiver() as web:
        output = hook(web.url, stages=["alarm"])
        output.resume([event])
        output.publish(EventChanged(event=event.model_copy(update={"peak": 12.0})))
        output.publish(EventChanged(event=(fresh := an_event())))
        sent(output, 1)
        assert [post["id"] for post in web.taken] == [fresh.id]
