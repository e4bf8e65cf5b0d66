"""Mails against a real mail server."""

from __future__ import annotations

import email
import email.policy
import logging

import pytest
from sample_messages import acknowledgement, changed

from receivers import MailSink, an_event, certificate
from ssdpt.alarms.findings import Finding
from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Comment, Episode, EventChanged
from ssdpt.monitor.outputs import open_output
from ssdpt.monitor.outputs.base import TryAgain
from ssdpt.monitor.outputs.mail_output import MailOutput, MailSettings
from waiting import wait_until

PASSWORD = "correct horse battery"
TO = ("ann@example.org", "bob@example.org")


class Clock:
    """Time that passes only while someone sleeps."""

    def __init__(self):
        self.now = 1.7e9
        self.pauses = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def post(request, clock):
    """An output to a sink that has not started yet: what is published first waits."""

    def make(sink, names=None, **more):
        settings = {"host": "127.0.0.1", "sender": "ssdpt@example.org", "to": TO, "tls": "none"}
        output = MailOutput(
            MailSettings(port=sink.port, **{**settings, **more}),
            names,
            sleep=clock.sleep,
            clock=clock,
        )
        request.addfinalizer(lambda: output.close(2))
        return output

    return make


def finish(output):
    """Wait until the queue is empty; the counts of the status follow a moment later."""
    output.start()
    wait_until(lambda: output.status.queued == 0)


def mails(sink):
    return [email.message_from_string(text, policy=email.policy.default) for _, text in sink.mails]


def subjects(sink):
    return [mail["Subject"] for mail in mails(sink)]


def ended(event, **more):
    return changed(event, ended=event.began + 90, **more)


def test_a_mail_tells_what_where_and_when(post):
    event = an_event(message="eine Lager rattert", peak=12.345, threshold=4.0)
    message = EventChanged(event=event)
    with MailSink() as sink:
        output = post(sink, {"pump-3": "Pumpe drüben"})
        output.publish(message)
        output.publish(EventChanged(event=ended(event)))
        finish(output)
    first, second = mails(sink)
    assert first["Subject"] == "ALARM: Pumpe drüben: eine Lager rattert"
    assert second["Subject"].startswith("Over (alarm): Pumpe drüben")
    assert sink.mails[0][0] == list(TO)
    assert first["From"] == "ssdpt@example.org"
    assert first["Message-ID"] == f"<{message.delivery}@ssdpt.invalid>"
    assert first["References"] == second["References"]
    assert first["Date"].datetime.timestamp() == 1.7e9
    text = first.get_content()
    assert "Began: 2023-11-14 22:13:20 UTC" in text
    assert "Highest score: 12.3 (threshold 4)" in text
    assert "Ended: 2023-11-14 22:14:50 UTC" in second.get_content()


def test_the_subject_names_the_cause_and_the_text_all_that_has_changed(post):
    findings = (
        Finding(code="tone", hz=130.2, db=30.4, new=True),
        Finding(code="level", db=6.0),
    )
    event = an_event(message="Unusual sound: …", findings=findings)
    with MailSink() as sink:
        output = post(sink, {"pump-3": "Pump 3"})
        output.publish(EventChanged(event=event))
        finish(output)
    (mail,) = mails(sink)
    assert mail["Subject"] == "ALARM: Pump 3: new tone at 130 Hz, 30 dB above normal"
    text = mail.get_content()
    assert "- new tone at 130 Hz, 30 dB above normal\n- 6 dB louder than normal\n" in text


def test_mails_use_the_names_of_now(post):
    with MailSink() as sink:
        output = post(sink, {"pump-3": "Pump 3", "fan": "Fan"})
        output.rename({"pump-3": "Coolant pump", "mixer": "Mixer"})  # the fan is gone
        for machine in ("pump-3", "mixer", "fan", "unnamed"):
            output.publish(EventChanged(event=an_event(machine)))
        finish(output)
        output.rename({"mixer": "Big mixer"})
        output.publish(EventChanged(event=an_event("mixer")))
        wait_until(lambda: output.status.queued == 0)
    assert [subject.split(": ")[1] for subject in subjects(sink)] == [
        *("Coolant pump", "Mixer", "Fan", "unnamed", "Big mixer"),
    ]


def test_names_and_sentences_cannot_write_headers(post):
    with MailSink() as sink:
        output = post(sink, {"pump-3": "Pump\r\nBcc: eve@example.org"})
        output.publish(EventChanged(event=an_event(message="loud\nX-Extra: yes")))
        finish(output)
    mail = mails(sink)[0]
    assert mail["Bcc"] is None
    assert mail["X-Extra"] is None
    assert "Bcc: eve@example.org" in mail["Subject"]


def test_only_beginning_and_end_are_mailed(post):
    event = an_event()
    acknowledged = changed(event, acknowledged=acknowledgement())
    over = ended(acknowledged)
    labelled = changed(
        over, comments=(Comment(who="ann", at=1.7e9, text="a screw"),), label="fault"
    )
    with MailSink() as sink:
        output = post(sink)
        for state in (event, event, acknowledged, over, over, labelled):
            output.publish(EventChanged(event=state))
        finish(output)
    assert [subject.split(":")[0] for subject in subjects(sink)] == ["ALARM", "Over (alarm)"]


@pytest.mark.parametrize(("level", "count"), [("alarm", 1), ("alert", 2)])
def test_events_below_the_wanted_level_are_not_mailed(post, level, count):
    with MailSink() as sink:
        output = post(sink, level=level)
        output.publish(EventChanged(event=an_event(level="alert")))
        output.publish(EventChanged(event=an_event()))
        finish(output)
    assert len(sink.mails) == count


def test_an_alert_that_becomes_an_alarm_is_mailed_even_when_it_was_acknowledged(post):
    event = an_event(level="alert")
    acknowledged = changed(event, acknowledged=acknowledgement())
    with MailSink() as sink:
        output = post(sink)
        for state in (event, acknowledged, changed(acknowledged, level="alarm")):
            output.publish(EventChanged(event=state))
        finish(output)
    assert [subject.split(":")[0] for subject in subjects(sink)] == ["ALARM"]


def test_an_event_that_comes_and_goes_is_mailed_once_and_again_when_it_gets_worse(post):
    event = an_event(level="alert")
    episodes = tuple(Episode(began=1.7e9 + n, level="alert") for n in range(3))
    with MailSink() as sink:
        output = post(sink, level="alert")
        for _ in range(3):
            output.publish(EventChanged(event=event))
            output.publish(EventChanged(event=ended(event, may_continue=True)))
        worse = changed(event, level="alarm", episodes=episodes)
        for state in (worse, ended(worse, may_continue=True), worse, ended(worse)):
            output.publish(EventChanged(event=state))
        finish(output)
    heads = [subject.split(":")[0] for subject in subjects(sink)]
    assert heads == ["ALERT", "ALARM", "Over (alarm)"]
    assert "Came and went: 3 times" in mails(sink)[-1].get_content()


def test_a_comment_to_an_event_of_last_week_is_no_news_but_its_end_is(post):
    acknowledged_event = an_event(acknowledged=acknowledgement())
    with MailSink() as sink:
        output = post(sink)
        output.publish(EventChanged(event=acknowledged_event))
        output.publish(EventChanged(event=ended(an_event(label="fault"))))
        output.publish(EventChanged(event=ended(acknowledged_event)))
        finish(output)
    assert [subject.split(":")[0] for subject in subjects(sink)] == ["Over (alarm)"]


def test_too_many_mails_become_one(post, clock):
    events = [an_event(machine=f"fan-{number}") for number in range(7)]
    with MailSink() as sink:
        output = post(sink, max_per_hour=3)
        for event in events:
            output.publish(EventChanged(event=event))
        finish(output)
        assert clock.pauses == [3600.0]
        assert len(sink.mails) == 4
        assert subjects(sink)[3] == "4 messages from 4 machine(s)"
        text = mails(sink)[3].get_content()
        assert [event.id in text for event in events] == [False] * 3 + [True] * 4
        wait_until(lambda: output.status.sent == 7)
        # The hour is over: mails go out one by one again.
        output.publish(EventChanged(event=an_event()))
        output.publish(EventChanged(event=an_event()))
        wait_until(lambda: len(sink.mails) == 6)
        assert clock.pauses == [3600.0]


def test_closing_does_not_keep_a_summary_back(post):
    with MailSink() as sink:
        output = post(sink, max_per_hour=1)
        output._sleep = output._sleep_unless_closed
        for _ in range(4):
            output.publish(EventChanged(event=an_event()))
        output.start()
        wait_until(lambda: "within an hour" in output.status.message)
        output.close(60)
    assert subjects(sink)[1] == "3 messages from 1 machine(s)"
    assert output.status.queued == 0


def test_a_mail_that_is_put_off_comes_later_and_in_order(post, clock):
    events = [an_event(message=f"number {number}") for number in range(3)]
    with MailSink(data=["451 later", "451 later"]) as sink:
        output = post(sink)
        for event in events:
            output.publish(EventChanged(event=event))
        finish(output)
    assert [subject[-1] for subject in subjects(sink)] == ["0", "1", "2"]
    assert len(clock.pauses) == 2
    assert output.status.failed == 0


def test_a_mail_that_is_refused_is_given_up(post, clock):
    with MailSink(data=["554 no"]) as sink:
        output = post(sink)
        output.publish(EventChanged(event=an_event(message="first")))
        output.publish(EventChanged(event=an_event(message="second")))
        finish(output)
    assert [subject.split()[-1] for subject in subjects(sink)] == ["second"]
    wait_until(lambda: output.status.failed == 1)
    assert clock.pauses == []


def test_an_address_that_is_put_off_gets_its_mail_later_and_the_other_none_twice(post):
    with MailSink(rcpt=[None, "450 busy"]) as sink:
        output = post(sink)
        output.publish(EventChanged(event=an_event()))
        finish(output)
    assert [recipients for recipients, _ in sink.mails] == [[TO[0]], [TO[1]]]


def test_an_address_that_is_wrong_does_not_keep_the_mail_from_others(post, caplog):
    with MailSink(rcpt=["550 nobody"]) as sink, caplog.at_level(logging.WARNING):
        output = post(sink)
        output.publish(EventChanged(event=an_event()))
        finish(output)
    assert [recipients for recipients, _ in sink.mails] == [[TO[1]]]
    assert TO[0] in caplog.text
    wait_until(lambda: output.status.sent == 1)
    with MailSink(rcpt=["550 nobody", "550 nobody"]) as sink:
        output = post(sink)
        output.publish(EventChanged(event=an_event()))
        finish(output)
    wait_until(lambda: output.status.failed == 1)
    assert sink.mails == []


def test_a_rude_goodbye_does_not_send_the_mail_twice(post):
    with MailSink(quit=["500 what"]) as sink:
        output = post(sink)
        output.publish(EventChanged(event=an_event()))
        finish(output)
    assert len(sink.mails) == 1
    wait_until(lambda: output.status.sent == 1)


@pytest.mark.full  # needs the command openssl
def test_a_password_goes_only_through_an_encrypted_line(post, tmp_path, monkeypatch, clock):
    (tmp_path / "password").write_text(PASSWORD + "\n")
    secured = {"tls": "starttls", "user": "ann", "password_file": tmp_path / "password"}
    pair = certificate(tmp_path)
    with MailSink("ann", PASSWORD, pair) as sink:
        output = post(sink, **secured)
        output.publish(EventChanged(event=an_event()))
        output._sleep = lambda _: monkeypatch.setenv("SSL_CERT_FILE", str(pair[1]))
        finish(output)  # first with a stranger's certificate, then with one that is trusted
        wait_until(lambda: output.status.sent == 1)
        assert sink.secured == [True]
    with MailSink("ann", PASSWORD) as plain:  # somebody in between has taken STARTTLS away
        output = post(plain, **secured)
        output._sleep = output._sleep_unless_closed
        output.publish(EventChanged(event=an_event()))
        output.start()
        wait_until(lambda: "does not support" in output.status.message)
        output.close(0.1)
        assert plain.mails == []


def test_a_wrong_password_is_reported_without_it(post, tmp_path, caplog):
    """Not even where the server repeats it."""
    (tmp_path / "password").write_text("Tr0ub4dor")
    caplog.set_level(logging.DEBUG)
    with MailSink("ann", PASSWORD) as sink:
        output = post(sink, user="ann", password_file=tmp_path / "password")
        output._sleep = output._sleep_unless_closed
        output.publish(EventChanged(event=an_event()))
        output.start()
        wait_until(lambda: "rejects user or password" in output.status.message)
        output.close(0.1)
    assert "Tr0ub4dor" not in caplog.text + output.status.message


def test_user_and_password_need_each_other(tmp_path):
    (tmp_path / "password").write_text(PASSWORD)
    settings = {"host": "127.0.0.1", "sender": "a@example.org", "to": TO}
    for half in ({"user": "ann"}, {"password_file": tmp_path / "password"}):
        with pytest.raises(SsdptError, match="set both user and password_file"):
            open_output(MailSettings(**settings, **half))


def test_the_login_is_tried_without_a_mail(post, tmp_path):
    (tmp_path / "right").write_text(PASSWORD)
    (tmp_path / "wrong").write_text("Tr0ub4dor")
    with MailSink("ann", PASSWORD) as sink:
        assert post(sink).probe(5.0) == "reachable (nothing sent)"
        login = post(sink, user="ann", password_file=tmp_path / "right")
        assert login.probe(5.0) == "signed in (nothing sent)"
        wrong = post(sink, user="ann", password_file=tmp_path / "wrong")
        with pytest.raises(TryAgain, match="rejects user or password"):
            wrong.probe(5.0)
        with pytest.raises(TryAgain, match="does not support"):
            post(sink, tls="starttls").probe(5.0)
        assert sink.mails == []
    with pytest.raises(TryAgain, match="cannot be reached"):
        login.probe(5.0)
