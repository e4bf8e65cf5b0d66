"""How often people are told: messages of many machines, pauses, and the most in an hour."""

from __future__ import annotations

from notifications import TIME, ended, heads, mail_url, mails, step, subjects, tell, text_of
from sample_messages import changed

from receivers import MailSink, an_event


def test_ten_machines_make_one_message(notify, clock):
    with MailSink() as sink:
        output = notify(mail_url(sink), group_within=30.0)
        for number in range(10):
            level = "alarm" if number < 6 else "alert"
            tell(output, an_event(f"fan-{number}", level=level, message=f"number {number}"))
            clock.now += 2.0
        assert sink.mails == []
        assert output.status.queued == 10
        clock.now = TIME + 30.0
        step(output)
        assert output.status.queued == 0
    (mail,) = mails(sink)
    assert mail["Subject"] == "6 alarms, 4 alerts: Fan 0, Fan 1, Fan 2 and 7 more"
    assert [f"Fan {number}: number {number}" in text_of(mail) for number in range(10)] == [
        True
    ] * 10


def test_a_machine_that_is_told_of_rests_unless_it_gets_worse(notify, clock):
    with MailSink() as sink:
        output = notify(mail_url(sink), cooldown=600.0)
        tell(output, first := an_event(level="alert"))
        clock.now += 60
        tell(output, ended(first), an_event("fan-1", level="alert"))
        assert heads(sink) == ["Alert", "Alert"]  # the fan's
        tell(output, second := an_event(level="alarm"))
        assert heads(sink) == ["Alert", "Alert", "Alarm"]
        clock.now += 599
        tell(output, ended(second))
        assert len(sink.mails) == 3
        clock.now += 1
        step(output)
    assert subjects(sink)[3] == "2 over: Pump 3"


def test_too_many_messages_become_one(notify, clock):
    with MailSink() as sink:
        output = notify(mail_url(sink), max_per_hour=3)
        for number in range(7):
            tell(output, an_event(f"fan-{number}", level="alert"))
        assert len(sink.mails) == 3
        clock.now += 3600
        step(output)
        assert subjects(sink)[3] == "4 alerts: Fan 3, Fan 4, Fan 5 and 1 more"
        tell(output, an_event("fan-8", level="alert"))
        assert len(sink.mails) == 5


def test_an_alarm_does_not_wait_for_the_next_hour(notify, clock):
    """Ten messages that something is over must not keep a new fault of another machine back."""
    over = [an_event(f"fan-{number}", level="alert") for number in range(3)]
    with MailSink() as sink:
        output = notify(mail_url(sink), max_per_hour=2)
        tell(output, *over)
        for event in over:
            tell(output, ended(event))
        assert heads(sink) == ["3 alerts", "Over"]  # the second message of the hour
        clock.now += 60
        tell(output, alarm := an_event(level="alarm"), an_event("fan-4", level="alert"))
        assert subjects(sink)[2:] == ["Alarm: Pump 3: a bearing rattles"]
        tell(output, ended(alarm))
        assert output.status.queued == 4
        clock.now += 3600
        step(output)
    assert subjects(sink)[3:] == ["1 alert, 3 over: Fan 4, Fan 1, Fan 2 and 1 more"]


def test_an_alert_that_becomes_an_alarm_is_told_in_a_full_hour(notify, clock):
    with MailSink() as sink:
        output = notify(mail_url(sink), max_per_hour=1, remind_after=10)
        tell(output, an_event("fan-1", level="alert"))
        tell(output, event := an_event(level="alert"))
        tell(output, changed(event, level="alarm"))
        clock.now += 600
        step(output)
    assert heads(sink) == ["Alert", "Alarm", "Reminder"]
